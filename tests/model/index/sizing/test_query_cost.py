import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from model.index.lexical import Lexical
from model.index.lexical_files import lexical_arrays
from model.index.sizing.query_cost import LEXICAL_MS, REST_MS, mode_ms, vectors_ms
from model.index.sizing.search_cost import search_ms
from model.search.opening import open_index

TEXTS = [f"common rare{n}" for n in range(90)]


@pytest.mark.parametrize(("factory", "probes", "compared"), [("Flat", 1, 90), ("IVF2,Flat", 2, 90)])
def test_words_cost_their_entries_in_addition_to_the_vectors(qpr, tmp_path, make_model, factory, probes, compared):
    make_model(tmp_path / "model")
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "q.parquet")
    given = ("--questions", tmp_path / "q.parquet", "--model", tmp_path / "model", "--output", tmp_path / "index")
    outcome = qpr("index", *given, "--shards", 2, "--factory", factory, "--probes", probes)
    assert outcome.code == 0, outcome.err
    index, asked = open_index(str(tmp_path / "index")), pa.array(TEXTS[:3])
    assert vectors_ms(index, asked) == search_ms(index, compared)
    rows = pa.table({"question_id": np.arange(90), "text": TEXTS})
    lexical = Lexical.of({name: array.tobytes() for name, array in lexical_arrays([rows]).items()})
    found = mode_ms(index, lexical, asked)
    assert found["dense"] == REST_MS + search_ms(index, compared)
    assert found["bm25"] == found["fusion"] == pytest.approx(found["dense"] + LEXICAL_MS + 91 * 10e-6)
