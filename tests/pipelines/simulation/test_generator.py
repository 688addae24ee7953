import datetime
import io

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pydantic
import pytest

from pipelines.simulation import generator
from pipelines.simulation.generator import LOG, simulate_log
from pipelines.simulation.generic_answers import GENERIC_POOL, UNANSWERED
from pipelines.simulation.settings import Noise, Simulation
from pipelines.simulation.world import world
from schemas.artifacts.writer import Output
from schemas.tables import CLUSTERS, QA_LOG

QUIET = Noise.model_validate({"none": ""})
CLEAN = {"noise": QUIET, "generic_share": 0.0, "unanswered_share": 0.0, "alias_share": 0.0}


def log(**options) -> pa.Table:
    return pa.concat_tables(simulate_log(Simulation(**options)))


def test_the_columns_are_those_of_a_log_and_the_gold_cluster():
    table = log(events=500)
    assert table.schema.names == [*QA_LOG.names, "gold_cluster"]
    assert len(table) == 500
    assert table["answer_id"].null_count == 500
    assert all(table[name].null_count == 0 for name in table.column_names if name != "answer_id")
    assert min(map(len, table["question"].to_pylist())) > 0


def test_confidence_and_locale_are_null_when_not_asked_for():
    table = log(events=50, confidence=False, locale=False)
    assert table["confidence"].null_count == table["locale"].null_count == 50


def test_equal_options_give_equal_rows_and_another_seed_others():
    assert log(events=3_000, seed=1).equals(log(events=3_000, seed=1))
    assert not log(events=3_000, seed=1).equals(log(events=3_000, seed=2))


def test_a_long_log_comes_in_tables_of_bounded_size_with_different_rows(monkeypatch):
    monkeypatch.setattr(generator, "EVENTS_A_TABLE", 400)
    tables = list(simulate_log(Simulation(events=1_000)))
    assert [len(t) for t in tables] == [400, 400, 200]
    assert tables[0]["question"].to_pylist() != tables[1]["question"].to_pylist()


def test_without_noise_a_question_is_about_one_fact_and_a_fact_has_one_answer():
    table = log(events=20_000, **CLEAN)
    for key, value in (("question", "gold_cluster"), ("gold_cluster", "answer")):
        assert (
            pc.max(table.group_by(key).aggregate([(value, "count_distinct")])[f"{value}_count_distinct"]).as_py() == 1
        )
    assert pc.max(table["gold_cluster"]).as_py() < len(world())
    facts_of_answer = table.group_by("answer").aggregate([("gold_cluster", "count_distinct")])
    assert pc.max(facts_of_answer["gold_cluster_count_distinct"]).as_py() > 1  # the euro of several countries, say


def test_noise_makes_more_questions_of_the_same_facts():
    clean, noisy = (log(events=20_000, **{**CLEAN, "noise": noise}) for noise in (QUIET, Noise()))
    assert clean["gold_cluster"].equals(noisy["gold_cluster"])
    assert pc.count_distinct(noisy["question"]).as_py() > 1.5 * pc.count_distinct(clean["question"]).as_py()


def test_generic_answers_mix_unrelated_facts_by_the_share_asked_for():
    table = log(events=40_000, facts=10_000, zipf=0.0, **{**CLEAN, "generic_share": 0.2})
    generic = pc.is_in(table["answer"], GENERIC_POOL)
    assert pc.mean(generic).as_py() == pytest.approx(0.2, abs=0.02)  # 5 * sqrt(.2 * .8 / 10000)
    yes = table.filter(pc.equal(table["answer"], "Yes"))
    assert pc.count_distinct(yes["gold_cluster"]).as_py() > 10


def test_unanswered_events_are_a_share_of_all_whatever_was_asked():
    table = log(events=20_000, **{**CLEAN, "unanswered_share": 0.3})
    assert pc.mean(pc.equal(table["answer"], UNANSWERED)).as_py() == pytest.approx(0.3, abs=0.02)


def test_aliases_are_used_by_the_share_asked_for():
    never, half, always = (log(events=5_000, **{**CLEAN, "alias_share": share}) for share in (0.0, 0.5, 1.0))
    same = [pc.equal(plain["question"], always["question"]) for plain in (never, half)]
    aliased = 1 - pc.mean(same[0]).as_py()  # the share of questions whose entity has another name
    assert 0.1 < aliased < 0.9
    assert 1 - pc.mean(same[1]).as_py() == pytest.approx(aliased / 2, abs=0.03)


def test_popularity_follows_zipf_and_the_number_of_facts_is_bounded():
    table = log(events=40_000, facts=4, zipf=1.0)
    counts = sorted((c["counts"] for c in pc.value_counts(table["gold_cluster"]).to_pylist()), reverse=True)
    expected = [40_000 * (1 / rank) / (25 / 12) for rank in (1, 2, 3, 4)]  # 1 + 1/2 + 1/3 + 1/4 = 25/12
    assert counts == pytest.approx(expected, rel=0.04)
    assert pc.count_distinct(log(events=100, facts=1)["gold_cluster"]).as_py() == 1


def test_time_runs_forward_from_the_first_day_to_the_last():
    stamps = log(events=2_000, start=datetime.date(2023, 3, 1), days=2)["timestamp"].to_pylist()
    assert stamps == sorted(stamps)
    assert stamps[0].date() == datetime.date(2023, 3, 1)
    assert stamps[-1].date() == datetime.date(2023, 3, 2)


def test_a_user_keeps_a_locale():
    table = log(events=3_000)
    assert (
        pc.max(table.group_by("user_id").aggregate([("locale", "count_distinct")])["locale_count_distinct"]).as_py()
        == 1
    )
    assert 1 < pc.count_distinct(table["user_id"]).as_py() <= 3_000 / 20
    assert pc.count_distinct(table["locale"]).as_py() == 4


def test_facts_and_wordings_come_from_a_dataset():
    rows = [
        {"cluster_id": i, "answer_hash": i, "answer": answer, "split": "train", "size": 2, "events": 2}
        | {"coherence": 0.5, "adjusted_coherence": 0.5, "idf_coherence": 0.5, "question_ids": [1, 2], "texts": texts}
        for i, answer, texts in ((11, "Paris", ["capital of france", "france capital"]), (12, None, ["pay it", "bill"]))
    ]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=CLUSTERS), sink)
    output = Output("memory://simulated-from", "dataset", overwrite=True)
    file = output.write("clusters-0.parquet", sink.getvalue(), table="clusters", rows=2)
    output.publish([file], inputs=[], configuration={}, counters={})
    clean = {"from_dataset": "memory://simulated-from", "noise": QUIET, "unanswered_share": 0.0}
    table = log(events=200, generic_share=0.0, **clean)
    texts = {row["cluster_id"]: set(row["texts"]) for row in rows}
    asked = {(r["gold_cluster"], r["question"]) for r in table.to_pylist()}
    assert asked == {(i, text) for i in texts for text in texts[i]}
    assert {r["answer"] for r in table.to_pylist() if r["gold_cluster"] == 11} == {"Paris"}
    mixed = log(events=200, generic_share=1.0, **clean)
    assert pc.all(pc.is_in(mixed["answer"], GENERIC_POOL)).as_py()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("events", 0),
        ("facts", 0),
        ("days", 0),
        ("seed", -1),
        ("zipf", -1.0),
        ("generic_share", 1.1),
        ("unanswered_share", -0.1),
        ("alias_share", 2.0),
    ],
)
def test_an_option_out_of_range_is_refused(option, value):
    with pytest.raises(pydantic.ValidationError, match=f"\\n{option}\\n"):
        Simulation(**{option: value})


def test_the_schema_is_a_log_with_one_more_column():
    assert LOG.remove(len(LOG) - 1).equals(QA_LOG)
