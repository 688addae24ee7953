import pytest

from tests.faults.reporting import output_of

KILLS = 3


@pytest.mark.fault
@pytest.mark.slow
@pytest.mark.xdist_group("kills")
def test_a_killed_night_leaves_a_whole_version_and_is_completed_by_the_next_run():
    [counts] = output_of("night_kills", "--kills", KILLS)
    assert counts["killed"] == counts["first"] + counts["second"] == KILLS
    assert (counts["broken"], counts["rerun_differs"]) == (0, 0)
