import threading

from pipelines.engine import progress


def test_counts_of_all_threads_add_up_until_they_are_reset():
    progress.reset()
    count = lambda: [progress.count(2, "row", "read") for _ in range(1_000)]  # noqa: E731
    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert progress.counts() == ["16,000 rows read"]
    progress.reset()
    assert progress.counts() == []


def test_counts_come_in_the_order_in_which_they_began():
    progress.reset()
    for noun, done in (("row", "read"), ("question", "compared"), ("row", "read")):
        progress.count(1, noun, done)
    assert progress.counts() == ["2 rows read", "1 question compared"]
