import resource

from tests.support.frames import with_room


def faults_of_calls(depth: int) -> int:
    """Return the page faults of 10,000 calls beyond so many frames."""
    if depth:
        return faults_of_calls(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10_000):
        abs_of(-1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def abs_of(number: int) -> int:
    return abs(number)


def test_no_loop_takes_a_block_of_frames_for_each_call() -> None:
    assert max(map(with_room(faults_of_calls), range(400))) < 1_000
