import pytest

from tests.faults.reporting import output_of


def test_of_writers_that_publish_at_once_one_wins_and_its_record_stays():
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    pytest.importorskip("moto.server", reason="moto's server is not installed")
    rows = output_of("version_races", "--races", 20, "--seed", 1, timeout_s=300)
    assert [(row["store"], row["one_winner"], row["wrong"]) for row in rows] == [("local", 10, 0), ("s3", 10, 0)]
