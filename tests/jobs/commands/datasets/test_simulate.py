import datetime
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipelines.simulation.generator import simulate_log
from pipelines.simulation.settings import Simulation
from schemas.text import hash64
from tests.support.commands import run


def test_it_writes_a_log_and_states_what_it_holds(tmp_path, capsys):
    path = str(tmp_path / "log.parquet")
    assert run("simulate", "--output", path, "--events", "300", "--facts", "20", "--zipf", "0", "--json") == 0
    told = capsys.readouterr()
    table = pq.read_table(path)
    golds = len(set(table["gold_cluster"].to_pylist()))
    assert json.loads(told.out) == {"output": path, "seed": 0, "events": 300, "facts": golds, "warnings": []}
    assert len(table) == 300
    assert golds == 20  # each of 20 is missed with probability 0.95 ** 300 = 2e-7
    assert "qpr clusters" in told.err


def test_without_json_it_prints_a_table(tmp_path, capsys):
    assert run("simulate", "--output", str(tmp_path / "log.csv"), "--events", "1200") == 0
    assert "1,200" in capsys.readouterr().out


def test_a_path_in_a_suggested_command_can_be_pasted(tmp_path, capsys):
    path = str(tmp_path / "my log.csv")
    assert run("simulate", "--output", path, "--events", "100") == 0
    assert f"qpr clusters '{path}'" in capsys.readouterr().err


def test_every_option_reaches_the_generator(tmp_path):
    path = str(tmp_path / "log.parquet")
    shares = ["--generic-share", "0.5", "--unanswered-share", "0.2", "--alias-share", "0.9", "--zipf", "0.3"]
    period = ["--start", "2022-02-02", "--days", "1", "--no-confidence", "--no-locale"]
    draws = ["--events", "200", "--seed", "4", "--facts", "30", "--noise", "none", "--noise", "doubled=0.5"]
    assert run("simulate", "--output", path, *shares, *period, *draws) == 0
    simulation = Simulation(
        events=200,
        seed=4,
        facts=30,
        zipf=0.3,
        generic_share=0.5,
        unanswered_share=0.2,
        alias_share=0.9,
        noise={"none": "", "doubled": 0.5},
        start=datetime.date(2022, 2, 2),
        days=1,
        confidence=False,
        locale=False,
    )
    assert pq.read_table(path).equals(pa.concat_tables(simulate_log(simulation)))
    for option in Simulation.model_fields:  # so that each value above is seen to matter
        assert option == "from_dataset" or getattr(simulation, option) != getattr(Simulation(), option)


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        (["--events", "0"], 2, "events"),
        (["--noise", "typos=0.1"], 2, "truncated"),
        (["--noise", "none=0.1"], 2, "truncated"),
        (["--noise", "swapped=often"], 2, "--noise swapped=often: "),
        (["--noise", "swapped"], 2, "--noise swapped: has no value"),
        (["--noise", "swapped=2"], 2, "must be at most 1"),
        (["--start", "2023-02-29"], 2, "--start 2023-02-29: "),
        (["--days", "1000000000"], 2, "--days 1000000000: the log would go on after the year 9999"),
        (["--from-dataset", "memory://nothing-there"], 1, "does not exist"),
        (["--from-dataset", "dataset", "--alias-share", "0.5"], 2, "--alias-share has no use with --from-dataset"),
    ],
)
def test_mistakes_are_explained_in_a_line_and_write_nothing(tmp_path, capsys, extra, code, message):
    assert run("simulate", "--output", str(tmp_path / "log.csv"), *extra) == code
    told = capsys.readouterr()
    assert message in told.err
    assert "Traceback" not in told.err
    assert told.out == ""
    assert list(tmp_path.iterdir()) == []


def test_an_existing_output_is_refused_and_an_unknown_format_is_wrong_usage(tmp_path, capsys):
    path = tmp_path / "log.csv"
    path.write_text("old")
    assert run("simulate", "--output", str(path), "--events", "10") == 1
    assert "--overwrite" in capsys.readouterr().err
    assert run("simulate", "--output", str(path), "--events", "10", "--overwrite") == 0
    assert run("simulate", "--output", str(tmp_path / "log.xlsx"), "--events", "10") == 2


@pytest.mark.parametrize(("ending", "kind"), [("jsonl", str), ("parquet", int)])
def test_the_id_of_a_datasets_cluster_is_a_string_in_json_which_rounds_numbers(tmp_path, make_dataset, ending, kind):
    dataset, path = str(tmp_path / "dataset"), tmp_path / f"log.{ending}"
    make_dataset(dataset, [["pay my bill", "bill"], ["open", "hours"]])
    assert run("simulate", "--output", str(path), "--events", "50", "--facts", "2", "--from-dataset", dataset) == 0
    rows = map(json.loads, path.read_text().splitlines()) if ending == "jsonl" else pq.read_table(path).to_pylist()
    assert {row["gold_cluster"] for row in rows} == {kind(hash64("c0")), kind(hash64("c1"))}
