"""The line of progress above each item."""

from jobs.review.report import progress_text


def test_the_progress_names_bound_and_missing_reviews(make_review, make_queue):
    review = make_review(make_queue(400))

    def text(person="Ada"):
        return progress_text(review.progress(person), "clusters")

    assert text() == "You judged 0; 0 of 400 clusters are judged"
    for place in range(10):
        review.judge(f"i{place}", "right", reviewer="Ada")
    assert text("Bob").startswith("You judged 0; 10 of 400 clusters are judged; 10 of 10 right, so at least ")
    assert text().startswith("You judged 10; 10 of 400 clusters are judged; 10 of 10 right, so at least ")
    assert text().endswith(" % of all; 341 further right ones until 99 % is supported")
    for place in range(10, 351):
        review.judge(f"i{place}", "right", reviewer="Ada")
    assert text().endswith("; 99 % is supported")


def test_pairs_have_no_bound(make_review, make_queue):
    review = make_review(make_queue(kind="pairs"))
    review.judge("i0", "wrong", reviewer="Ada")
    assert progress_text(review.progress("Ada"), "pairs") == "You judged 1; 1 of 40 pairs are judged"
