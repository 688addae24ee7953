"""The line of progress above each item."""

from jobs.review.report import end_text, more_text, progress_text, report_document, report_page, report_tables


def test_the_progress_names_bound_and_missing_reviews(make_review, make_queue):
    review = make_review(make_queue(400))

    def text(person="Ada"):
        return progress_text(review.progress(person), "clusters")

    assert text() == "You judged 0; 0 of 400 clusters are judged"
    for place in range(10):
        review.judge(f"i{place}", "right", reviewer="Ada")
    assert text("Bob").startswith("You judged 0; 10 of 400 clusters are judged; 10 of 10 right, so at least ")
    assert text().startswith("You judged 10; 10 of 400 clusters are judged; 10 of 10 right, so at least ")
    assert text().endswith(" % of all; 183 further right ones until 99 % is supported")
    for place in range(10, 192):
        review.judge(f"i{place}", "right", reviewer="Ada")
    assert text().endswith("; 1 further right one until 99 % is supported")
    review.judge("i192", "right", reviewer="Ada")
    assert text().endswith("; 99 % is supported")


def test_a_claim_that_too_many_wrong_clusters_rule_out_is_named_so(make_review, make_queue):
    review = make_review(make_queue(40))
    review.judge("i0", "several", reviewer="Ada")
    assert progress_text(review.progress("Ada"), "clusters").endswith("; too many are wrong for 99 %")
    document = report_document(review.store, review.queue, claim=0.99, error=0.05)
    assert document["claim"] == {"share": 0.99, "supported": False, "missing": None}
    assert more_text(document) == "Too many of the 40 clusters are wrong for it"
    assert "Too many of the 40 clusters are wrong for it." in report_page(document).decode()


def test_the_progress_names_how_few_requests_are_left_for_a_claim(make_review, make_queue):
    review = make_review(make_queue(40, kind="requests"))
    for place in range(40):
        review.judge(f"i{place}", "right", reviewer="Ada")
    shown = progress_text(review.progress("Ada"), "requests")
    assert shown.endswith("; 99 % takes 311 further right ones, but 0 are left")
    document = report_document(review.store, review.queue, claim=0.99, error=0.05)
    assert more_text(document).endswith(
        "311 further right requests without a wrong one, but 0 are left. Give a lower --claim"
    )


def test_judged_items_behind_a_gap_are_left_for_a_claim(make_review, make_queue):
    review = make_review(make_queue(151))
    for place in (*range(35), *range(36, 151)):
        review.judge(f"i{place}", "right", reviewer="Ada")
    shown = progress_text(review.progress("Ada"), "clusters")
    document = report_document(review.store, review.queue, claim=0.99, error=0.05)
    missing = document["claim"]["missing"]
    assert 1 < missing <= 116
    assert shown.endswith(f" % of all; {missing} further right ones until 99 % is supported")
    assert more_text(document) == f"It takes {missing} further right clusters without a wrong one"


def test_pairs_have_no_bound(make_review, make_queue):
    review = make_review(make_queue(kind="pairs"))
    review.judge("i0", "wrong", reviewer="Ada")
    assert progress_text(review.progress("Ada"), "pairs") == "You judged 1; 1 of 40 pairs are judged"


def test_a_report_without_a_counted_verdict_has_no_empty_table(make_review, make_queue):
    review = make_review(make_queue(40))
    document = report_document(review.store, review.queue, claim=0.99, error=0.05)
    assert [table.head[0] for table in report_tables(document)] == ["Share right", "Reliability"]
    assert ">Outcome<" not in report_page(document).decode()


def test_the_end_names_items_that_other_windows_show(make_review, make_queue):
    review = make_review(make_queue(2))
    review.next_task("Bob", "b")
    review.judge(review.next_task("Ada", "a").item.name, "right", reviewer="Ada")
    assert review.next_task("Ada", "a") is None
    shown = "other windows show 1 item without a verdict. Try again in 10 minutes"
    assert end_text(review.progress("Ada"), "Ada") == f"Nothing is left for Ada now: {shown}"
    review.judge("i0", "right", reviewer="Bob")
    assert end_text(review.progress("Ada"), "Ada") == "Nothing is left for Ada: every item has a verdict"
