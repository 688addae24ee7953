import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.intermediate import MEMBERS
from pipelines.writing.rejects import reject_members
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.writer import Output
from schemas.tables import CLUSTERS, REJECTED
from schemas.text import question_id


@pytest.fixture
def make_dataset(tmp_path):
    """Return a function that publishes clusters (answer, probability, texts) and rejected questions (answer, text)."""

    def make(clusters, rejected=(), configuration=None):
        rows = []
        for number, (answer, probability, texts) in enumerate(clusters):
            ids, ordered = zip(*sorted((question_id(text), text) for text in texts), strict=True)
            scores = dict.fromkeys(("coherence", "adjusted_coherence", "idf_coherence"), 0.5)
            rows.append(
                {
                    "cluster_id": (-1) ** number * number,
                    "answer_hash": 1,
                    "answer": answer,
                    "split": "train",
                    "size": len(texts),
                    "events": 9,
                    **scores,
                    "linkage_probability": probability,
                    "question_ids": ids,
                    "texts": ordered,
                }
            )
        lost = []
        for answer, text, stage, reason in rejected:
            member = pa.Table.from_pylist([{"question_id": 1, "text": text, "answer": answer}], schema=MEMBERS)
            lost += reject_members(member, stage=stage, reason=reason).select(REJECTED.names).to_pylist()
        output = Output(str(tmp_path / "dataset"), "dataset", overwrite=True)
        files = []
        tables = {"clusters": (rows, CLUSTERS), "rejected": (lost, REJECTED)}
        for name, (listed, schema) in tables.items():
            sink = io.BytesIO()
            pq.write_table(pa.Table.from_pylist(listed, schema=schema), sink)
            files.append(output.write(f"{name}.parquet", sink.getvalue(), table=name, rows=len(listed)))
        output.publish(files, inputs=[], configuration=configuration or {}, counters={})
        return open_dataset(str(tmp_path / "dataset"))

    return make
