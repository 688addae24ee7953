import pytest

from tests.faults.reporting import output_of

pytestmark = [pytest.mark.fault, pytest.mark.slow, pytest.mark.xdist_group("kills")]


def test_fifty_kills_lose_no_verdict(make_dataset, tmp_path):
    make_dataset(tmp_path / "dataset", [[f"how do I pay {n} {word}" for word in "ab"] for n in range(8_000)])
    [row] = output_of("review_kills", tmp_path, "--kills", 50)
    assert (row["kills"], row["lost"], row["shrunk"]) == (50, 0, 0)
    assert row["stored"] >= row["seen"] > 20
