import pytest

from schemas.artifacts import storage
from schemas.artifacts.output_lock.lock import LOCK
from schemas.artifacts.writer import Output
from tests.faults.races import WAYS
from tests.faults.reporting import output_of

RACES = 40


@pytest.fixture(scope="module")
def raced():
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    pytest.importorskip("moto.server", reason="moto's server is not installed")
    rows = output_of("races", "--races", RACES, "--seed", 1, timeout_s=300)
    return {(row["store"], row["by"]): row for row in rows}


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.xdist_group("races")  # one worker starts the one process
@pytest.mark.parametrize(("store", "by"), WAYS)
def test_of_writers_that_race_one_whole_winner_is_left_and_the_others_get_an_error(raced, store, by):
    row = raced[store, by]
    assert row["one_whole_winner"] == row["races"] == RACES // len(WAYS)
    assert (row["wrong"], row["unclear"]) == (0, 0)
    ends = [row[name] for name in ("published", "refused_at_start", "discarded", "killed")]
    assert sum(ends) == 3 * row["races"]
    assert row["refused_at_start"] > row["races"]  # most writers come while another one writes
    assert (row["killed"] > 0) == (by == "processes")


@pytest.mark.parametrize(
    ("name", "kind"), [("clusters", "dataset"), ("quora", "dataset"), ("train", "model"), ("index", "index")]
)
def test_a_command_is_refused_while_another_run_writes_there(qpr, tmp_path, arguments_of, name, kind):
    url = str(tmp_path / "output")
    with Output(url, kind, overwrite=True) as other:
        outcome = qpr(*arguments_of(name, url))
        assert outcome.code == 1
        assert f"error: {url}: another run is writing there: run {other.run_id}, since " in outcome.err
        assert storage.children(url) == [LOCK]
    assert qpr(*arguments_of(name, url)).code == 0
