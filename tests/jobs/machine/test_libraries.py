import pytest

from jobs.machine.libraries import library_settings


@pytest.mark.parametrize(("quota", "threads"), [(None, None), (8.0, None), (7.5, None), (1.5, "2"), (0.5, "1")])
def test_libraries_start_no_more_threads_than_a_container_can_run(quota, threads):
    assert library_settings("linux", "train", 8, quota).get("OMP_NUM_THREADS") == threads


@pytest.mark.parametrize(
    ("platform", "command", "is_set"),
    [("darwin", "nightly", True), ("darwin", "search", True), ("darwin", "train", False), ("linux", "nightly", False)],
)
def test_on_macos_two_libraries_with_an_openmp_each_run_in_one_thread(platform, command, is_set):
    settings = library_settings(platform, command, 8, None)
    assert ("KMP_DUPLICATE_LIB_OK" in settings, "OMP_NUM_THREADS" in settings) == (is_set, is_set)
