import itertools
import json
import shutil

import numpy as np
import pytest

from jobs.nightly.folding import fold_days
from jobs.nightly.warehouse import days_of
from pipelines.engine.runner import parse_options
from pipelines.graphs.settings import ClustersConfig
from pipelines.privacy.users import UserKey
from schemas.artifacts import storage
from schemas.artifacts.dataset import open_dataset
from schemas.artifacts.manifest import read_manifest
from schemas.errors import QprError, UnusableInputError
from tests.jobs.nightly.conftest import rows_of

KEY = UserKey(b"the-secret-key-of-the-environment")
CONFIG = ClustersConfig(shards=2, assembly={"salt": "another"}, privacy={"min_users": 5})
RARE = {"question": "how do i feed the Zibeline", "answer": "In the yard"}
USERS = ("--min-users", 5, "--shards", 2)


def fold(warehouse, *, last, window=365, key=KEY):
    terms = {"earlier": None, "options": parse_options([]), "max_reject_ratio": 0.1, "user_key": key}
    dataset = fold_days(warehouse, days_of(warehouse, last, window), CONFIG, **terms)
    return open_dataset(storage.join(warehouse, dataset.path))


def texts(dataset):
    return set(dataset.table("questions")["text"].to_pylist())


def ingest(qpr, warehouse, first, last):
    outcome = qpr("ingest", "--warehouse", warehouse, "--from", first, "--to", last, *USERS, "--json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["days"]


def content(warehouse):
    """Return the bytes of the daily tables, and of what they hold after decompression."""
    folder = storage.local_path(storage.join(warehouse, "daily"))
    import pathlib

    import pyarrow.parquet as pq

    paths = [path for path in pathlib.Path(folder).rglob("*") if path.is_file()]
    tables = [str(pq.read_table(path).to_pylist()) for path in paths if path.suffix == ".parquet"]
    return " ".join([*tables, *(path.read_bytes().decode("latin-1") for path in paths)]).lower()


@pytest.fixture
def user_key(monkeypatch):
    monkeypatch.setenv("QPR_USER_KEY", KEY.secret.decode())


@pytest.fixture
def warehouse(user_key, tmp_path, drop, dates):
    """Three days: a question of two users a day, and those of a help desk."""
    w = str(tmp_path / "w")
    for day in (1, 2, 3):
        draw = np.random.default_rng(day)
        rows = [{**row, "user_id": f"u{draw.integers(9)}"} for row in rows_of(dates(day), seed=0, facts=14)]
        rare = {**RARE, "timestamp": f"{dates(day)}T12:00:00Z"}
        rows += [{**rare, "user_id": user} for user in (*(f"rare{day}{n}" for n in (0, 1, 1)), "rare10", None)]
        drop(w, dates(day), rows)
    return w


@pytest.fixture
def ingested(warehouse, qpr, dates, folder):
    """Return the counts of the three days; they are ingested once, and copied from then."""
    kept, counts = folder / "daily", folder / "days.json"
    if not kept.exists():
        counts.write_text(json.dumps(ingest(qpr, warehouse, dates(1), dates(3))))
        shutil.copytree(f"{warehouse}/daily", kept)
        shutil.copy(f"{warehouse}/warehouse.json", folder)
    else:
        shutil.copytree(kept, f"{warehouse}/daily")
        shutil.copy(folder / "warehouse.json", warehouse)
    return json.loads(counts.read_text())


def test_users_are_counted_over_the_window_as_over_one_log(qpr, warehouse, ingested, dates, tmp_path):
    assert all(day["rows_waiting"] >= 5 for day in ingested)
    assert all(day["rows_read"] == day["rows_kept"] + day["rows_waiting"] + day["rows_rejected"] for day in ingested)
    assert "zibeline" not in content(warehouse)
    folded = fold(warehouse, last=dates(3))
    output = tmp_path / "dataset"
    logs = f"{warehouse}/events/*/log.jsonl"
    assert qpr("clusters", logs, "--output", output, "--split-salt", "another", *USERS).code == 0
    assert folded.manifest.digest == open_dataset(str(output)).manifest.digest
    assert RARE["question"] in texts(folded)  # of 6 users
    assert RARE["question"] in texts(fold(warehouse, last=dates(3), window=2))  # of 5 users, one of whom on both days
    shorter = fold(warehouse, last=dates(3), window=1)
    assert RARE["question"] not in texts(shorter)  # of 3 users
    assert shorter.manifest.counters["rejected_privacy_too_few_users"] > 0


def test_a_user_has_a_maximum_of_an_answer_on_each_day(qpr, warehouse, drop, dates):
    wordings = (RARE["question"], "feeding the Zibeline", "the Zibeline how do i feed it")
    for day in (4, 5):
        rows = [{**RARE, "question": text, "timestamp": f"{dates(day)}T12:00:00Z"} for text in wordings]
        of_bot = [{**row, "user_id": "bot"} for row in rows for _ in range(20)]
        others = [{**row, "user_id": f"rare{day}{number}"} for row in rows for number in (1, 2)]
        drop(warehouse, dates(day), of_bot + others)
        outcome = qpr(
            "ingest", "--warehouse", warehouse, "--date", dates(day), *USERS, "--max-answer-events-of-user", 5, "--json"
        )
        assert outcome.code == 0, outcome.err
        [counts] = json.loads(outcome.out)["days"]
        assert (counts["rows_read"], counts["rows_waiting"], counts["rows_rejected"]) == (66, 11, 55)
    questions = fold(warehouse, last=dates(5), window=2).table("questions").to_pylist()
    events = [row["events"] for row in questions if "ibeline" in row["text"]]
    assert sorted(events) == [4, 4, 14]  # bot is the fifth user of each, with 5 rows a day on its first wording
    outcome = qpr("erase", "--warehouse", warehouse, "--user", "bot", "--json")
    assert outcome.code == 0, outcome.err
    daily = [one for one in json.loads(outcome.out)["artefacts"] if one["path"].startswith("daily/")]
    assert [(one["rows"], one["waiting_wordings"]) for one in daily] == [(5, 3), (5, 3)]
    with pytest.raises(UnusableInputError, match=r"no cluster.* privacy_too_few_users \(12\)"):
        fold(warehouse, last=dates(5), window=2)  # four users of each question are left


def test_a_day_has_the_same_bytes_twice_and_another_key_opens_nothing(qpr, warehouse, ingested, dates):
    url = storage.join(warehouse, "daily", f"date={dates(1)}")
    first = read_manifest(url)
    storage.delete(url)
    ingest(qpr, warehouse, dates(1), dates(1))
    assert read_manifest(url).digest == first.digest
    with pytest.raises(QprError, match="cannot be opened with this user key"):
        fold(warehouse, last=dates(1), key=UserKey(b"another-secret-key-of-somebody"))
    with pytest.raises(QprError, match="is sealed with the user key"):
        fold(warehouse, last=dates(1), key=None)


def test_a_waiting_question_is_erased(qpr, warehouse, ingested, dates):
    outcome = qpr("erase", "--warehouse", warehouse, "--question", RARE["question"], "--json")
    assert outcome.code == 0, outcome.err
    assert [one["rows"] for one in json.loads(outcome.out)["artefacts"]] == [5, 5, 5]
    folded = fold(warehouse, last=dates(3))
    assert RARE["question"] not in texts(folded)
    assert folded.manifest.counters["rows_erased"] == 15


def test_a_user_is_erased_from_the_warehouse_and_not_from_one_dataset_of_it(qpr, warehouse, ingested, dates):
    url = fold(warehouse, last=dates(1)).url
    outcome = qpr("erase", "--dataset", url, "--user", "rare10")
    assert outcome.code == 2
    assert f"was made by the warehouse {warehouse}" in outcome.err
    assert f"Give --warehouse {warehouse} instead of --dataset" in outcome.err


def test_days_that_were_ingested_for_fewer_users_are_refused(qpr, warehouse, dates):
    assert qpr("ingest", "--warehouse", warehouse, "--date", dates(1), "--min-users", 2, "--shards", 2).code == 0
    outcome = qpr("nightly", "--warehouse", warehouse, "--date", dates(2), *USERS)
    assert outcome.code == 2
    assert "--min-users 5: 1 day ingested with a lower number" in outcome.err
    again = f"qpr ingest --warehouse {warehouse} --from {dates(1)} --to {dates(1)} --min-users 5"
    assert f"Run `{again} --user-key-file FILE`" in outcome.err
    assert [day.date for day in days_of(warehouse, dates(3), 365)] == [dates(1)]  # nothing was ingested


def test_a_forgotten_minimum_of_users_ends_the_command(qpr, warehouse, dates):
    ingest(qpr, warehouse, dates(1), dates(1))
    for command, day in itertools.product(("ingest", "nightly"), (1, 2)):
        outcome = qpr(command, "--warehouse", warehouse, "--date", dates(day), "--shards", 2)
        assert outcome.code == 2
        assert f"--min-users: is not given, but {dates(1)} was ingested with --min-users 5" in outcome.err
    assert [day.date for day in days_of(warehouse, dates(3), 365)] == [dates(1)]  # nothing was ingested
    assert RARE["question"].lower() not in content(warehouse)
    # a lower minimum is possible by the option
    assert qpr("ingest", "--warehouse", warehouse, "--date", dates(2), "--min-users", 1, "--shards", 2).code == 0


def test_without_a_key_the_advice_on_days_of_fewer_users_names_none(qpr, warehouse, dates, monkeypatch):
    monkeypatch.delenv("QPR_USER_KEY")
    assert qpr("ingest", "--warehouse", warehouse, "--date", dates(1), "--shards", 2).code == 0
    outcome = qpr("nightly", "--warehouse", warehouse, "--date", dates(2), *USERS)
    assert (outcome.code, "--min-users 5`" in outcome.err) == (2, True)


def test_without_a_key_users_count_within_a_day(qpr, warehouse, dates, monkeypatch):
    monkeypatch.delenv("QPR_USER_KEY")
    outcome = qpr("ingest", "--warehouse", warehouse, "--date", dates(1), *USERS, "--json")
    assert "warning: --min-users 5: counts the users of each day, not of the window" in outcome.err
    [day] = json.loads(outcome.out)["days"]
    assert (day["rows_waiting"], day["rows_rejected"] >= 5) == (0, True)
