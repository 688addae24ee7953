import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.pipelines.hot_answer import COLUMNS, write_log


@pytest.mark.parametrize(("few", "questions"), [(True, 1_000), (False, 1_500)])
def test_hot_and_spread_logs_differ_in_who_shares_an_answer_and_in_nothing_else(tmp_path, few, questions):
    times = pa.array(range(1_500), pa.int64()).cast(pa.timestamp("us", tz="UTC"))
    log = pa.table([[f"how is {n}" for n in range(1_500)], [f"so {n}" for n in range(1_500)], times], names=COLUMNS)
    asked = [log.schema.field(name).with_nullable(name == "timestamp") for name in COLUMNS]
    pq.write_table(log.cast(pa.schema(asked)), tmp_path / "simulated.parquet")
    made = {}
    for hot in (True, False):
        write_log(str(tmp_path / "simulated.parquet"), str(tmp_path / "log.parquet"), few=few, hot=hot)
        made[hot] = pq.read_table(tmp_path / "log.parquet")
    for name in ("question", "timestamp"):
        assert made[True][name].equals(made[False][name])
    added = {hot: table.slice(1_500) for hot, table in made.items()}
    assert all(table.slice(0, 1_500).equals(log) for table in made.values())
    assert {hot: len(added[hot]["answer"].unique()) for hot in added} == {True: 1, False: questions // 5}
    assert len(added[True]["question"].unique()) == questions
