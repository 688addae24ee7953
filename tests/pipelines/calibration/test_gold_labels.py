import collections
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipelines.calibration.gold_labels import read_gold
from pipelines.reading.sources import expand
from schemas.errors import QprError
from schemas.text import fold, key

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["pay my bill", "Pay my bill?", "who is it", "it is who", "?!", None]),
        st.sampled_from(["at nine", "At  nine", "no", "", None]),
        st.sampled_from([None, "7"]),
        st.sampled_from([1, 2, None]),
    ),
    min_size=1,
    max_size=25,
)


def write(folder, rows):
    path = folder / "logs.jsonl"
    names = ("question", "answer", "answer_id", "fact")
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    return expand([str(path)])


def naive(rows):
    """Return the gold value of most rows of each question and answer."""
    found = {}
    for question, answer, answer_id, gold in rows:
        if gold is None or not question or not answer or question == "?!":
            continue
        place = (key(question), answer_id or fold(answer))
        found.setdefault(place, collections.Counter())[str(gold)] += 1
    return {place: {g for g, n in golds.items() if n == max(golds.values())} for place, golds in found.items()}


@given(ROWS)
@example([("pay", "at nine", None, 1), ("pay", "at nine", "7", 1), *[("pay", "", "7", 2)] * 2])
@example([("pay", "", "7", 1)])
def test_the_gold_cluster_of_a_question_is_that_of_most_of_its_rows(tmp_path_factory, rows):
    expected = naive(rows)
    sources = write(tmp_path_factory.mktemp("gold"), rows)
    if not any(None not in (q, a, g) for q, a, _, g in rows):
        with pytest.raises(QprError, match=r"no row has a question, an answer and a value|there is no column"):
            read_gold(sources, {"gold": "fact"})
        return
    gold = read_gold(sources, {"gold": "fact"})
    assert len(gold.members) == len(gold.cluster) == len(expected)
    ids = gold.members["answer_id"].to_pylist()
    by_question = sorted(zip(ids, map(key, gold.members["text"].to_pylist()), gold.cluster.tolist(), strict=True))
    assert sorted(k for _, k, _ in by_question) == sorted(k for k, _ in expected)
    certain = {place: next(iter(golds)) for place, golds in expected.items() if len(golds) == 1}
    if len(certain) == len(expected):
        partition = collections.Counter(number for *_, number in by_question)
        assert sorted(partition.values()) == sorted(collections.Counter(certain.values()).values())


def test_a_log_without_the_column_is_refused_with_the_option_that_names_it(tmp_path):
    sources = write(tmp_path, [("who", "me", None, 1)])
    with pytest.raises(QprError, match="--gold-column"):
        read_gold(sources, {})


def test_a_gold_cell_of_white_space_is_unknown(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("question,answer,gold\npay,by card,\nhow to pay,by card,\nopen,at nine,  \nwho,me,7\n")
    gold = read_gold(expand([str(path)]), {})
    assert gold.members["text"].to_pylist() == ["who"]


def test_answers_that_are_named_as_ids_are_compared_as_texts(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("question,reply,answer_id,gold\npay,By card,1,7\nhow to pay,by  card,2,7\n")
    gold = read_gold(expand([str(path)]), {"answer": "reply", "answer_id": "reply"})
    assert len(set(gold.members["answer_id"].to_pylist())) == 1
