from concurrent.futures import ThreadPoolExecutor

from pipelines.engine import progress


def test_counts_of_all_threads_add_up_until_they_are_reset():
    progress.reset()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: [progress.count(2, "row", "read") for _ in range(1_000)], range(8)))
    assert progress.counts() == ["16,000 rows read"]
    progress.reset()
    assert progress.counts() == []


def test_counts_come_in_the_order_in_which_they_began():
    progress.reset()
    for noun, done in (("row", "read"), ("question", "compared"), ("row", "read")):
        progress.count(1, noun, done)
    assert progress.counts() == ["2 rows read", "1 question compared"]
