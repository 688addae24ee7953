import re

import numpy as np
import pytest

from jobs.display.html_report import SHOWN_INPUTS, dataset_page
from pipelines.intermediate import BroadAnswer
from pipelines.summary.cluster_summary import Overview
from pipelines.summary.histogram import Distribution
from pipelines.summary.reject_examples import RejectExamples
from pipelines.summary.run_summary import Findings
from schemas.artifacts.manifest import Source

CHECK = {
    "rule": {"same": ["question"]},
    "removed": {"test": {"in_train": 3}},
    "check": {"compared": {"train": 8}, "found": 0},
}


def cluster(answer, *texts, size=None):
    scores = {"coherence": 0.5, "adjusted_coherence": 0.25, "idf_coherence": 0.125, "linkage_probability": None}
    known = {"cluster_id": 1, "split": "train", "size": size or len(texts), "events": 1_234}
    return {**known, **scores, "answer": answer, "texts": list(texts)}


def page(clusters=(), *, counters=None, leakage=CHECK, fault=None, inputs=1, configuration=None, **more):
    sizes = [c["size"] for c in clusters]
    scores = Distribution.of(np.array([c["coherence"] for c in clusters]), steps=10_000)
    found = {"size": Distribution.of(np.array(sizes)), "coherence": scores} if clusters else {}
    findings = Findings(
        url="s3://b/<d>",
        run_id="run",
        seconds=2.0,
        fault=fault,
        inputs=[Source(url=f"log {n}", bytes=1_000) for n in range(inputs)],
        configuration=configuration or {"shards": 1},
        counters=counters or {},
        overview=Overview(found, list(clusters), list(clusters[::-1])),
        leakage=leakage,
        **more,
    )
    return dataset_page(findings).decode()


def text_of(html):
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", html.split("</style>")[1]))


def test_the_page_tells_all_of_a_run():
    counters = {"rows_read": 3_000, "rows_kept": 2_000, "rejected_validate_no_word": 1_000, "clusters_train": 1}
    html = page(
        [cluster("in the app", "pay bill", "how pay")], counters=counters, configuration={"a": {"b": [1, None]}}
    )
    text = text_of(html)
    for told in (
        "Dataset s3://b/&lt;d&gt;",
        "Run run: 3,000 rows, 2.0 s, 1,500 rows/s",
        "validate no word 1,000 33.3 %",
        "Clusters by cluster size",
        "min 2, 25 % 2, median 2, 75 % 2, max 2",
        "in the app train, 2 questions, 1,234 events, coherence (paper) 0.500, adjusted coherence 0.250, idf",
        "pay bill how pay",
        "Of 8 written questions, compared once more, 0 found in two splits.",
        "removed, test, in train 3",
        "a b [1, null]",
        "log 0 1,000",
    ):
        assert told in text
    assert "not published" not in text
    assert "check, found" not in text  # a line of zero
    assert html.count("<svg") == html.count('role="img"') == 2


def test_a_page_needs_nothing_from_elsewhere():
    html = page([cluster("a", "b", "c")])
    assert not re.search(r"<script|<link|<img|<iframe|url\(|@import|\son\w+=|src=|href=", html)
    assert "default-src 'none'" in html


@pytest.mark.parametrize("clusters", [[], [cluster("one", "a", "b")]])
def test_no_cluster_and_one_cluster(clusters):
    html = page(clusters)
    assert text_of(html).count("There is no cluster.") == (0 if clusters else 3)
    assert html.count("<h3>") == 2 * len(clusters)  # the largest and the least coherent


def test_a_question_of_html_is_a_text():
    attack = "<script>alert('hi')</script><b onclick=x()>"
    html = page([cluster(attack, attack, attack)])
    assert "<script" not in html
    assert "<b onclick" not in html
    assert html.count("&lt;script&gt;alert('hi')&lt;/script&gt;") == 6


def test_emoji_and_writing_from_right_to_left_are_shown_as_they_are():
    html = page([cluster("😀 نعم", "كيف أدفع الفاتورة؟", "👩‍👩‍👧 pay\N{RIGHT-TO-LEFT OVERRIDE}")])
    assert html.count('<li dir="auto">كيف أدفع الفاتورة؟</li>') == 2
    assert "<bdi>😀 نعم</bdi>" in html
    assert "👩‍👩‍👧 pay" in html


def test_a_long_question_is_cut_and_its_length_told():
    html = page([cluster("x" * 301, "word " * 2_000, "y" * 300)])
    assert "… (10,000 characters)" in html
    assert "… (301 characters)" in html
    assert "y" * 300 + "<" in html
    assert len(html) < 20_000


def test_of_a_large_cluster_some_questions_are_shown_and_the_others_counted():
    html = page([cluster("a", *map(str, range(20)), size=100_000)])
    first = html[html.index("The largest clusters") : html.index("The least coherent")]
    assert first.count("<li") == 21
    assert "and 99,980 more" in first
    assert "<details><summary>More questions</summary>" in first


def test_a_cluster_without_answer_says_so():
    assert "(no answer)" in page([cluster(None, "a", "b")])


def test_a_run_that_was_not_published_says_why():
    assert "This run was not published: no cluster was left of <9> questions." in text_of(
        page(fault="no cluster was left of <9> questions")
    ).replace("&lt;", "<").replace("&gt;", ">")


def test_leakage_that_nobody_looked_for_is_no_error():
    assert "Nothing was compared." in page(leakage={})


def test_very_many_inputs_and_very_large_counts():
    html = page(counters={"rows_read": 10**15, "rows_kept": 10**15}, inputs=SHOWN_INPUTS + 5_000)
    assert "1,000,000,000,000,000" in html
    assert "and 5,000 more, all of them in manifest.json" in html
    assert html.count("log ") == SHOWN_INPUTS


def test_examples_of_rejects_are_in_sight_where_nothing_was_published_and_folded_elsewhere():
    rejects = [RejectExamples("size", "single_question", 1_200, ['{"question": "<who>", "answer": "me"}'])]
    refused, published = page(rejects=rejects, fault="no cluster was left"), page(rejects=rejects)
    for html in (refused, published):
        assert "size, single question: 1,200" in html
        assert '<li dir="auto">&lt;who&gt; -&gt; me</li>' in html
    assert refused.count("<details open") == 1
    assert "<details open" not in published


def test_a_suspected_fallback_is_a_warning():
    answers = [BroadAnswer("Sorry <b>", 60, 55)]
    text = text_of(page(counters={"rows_read": 1_000}, fallbacks=answers))
    assert "Warning: one answer holds 6.0 % of the rows and 55 unlike questions: 'Sorry &lt;b&gt;'." in text


def test_what_is_rarely_needed_is_folded():
    html = page(counters={"groups": 3, "groups_incoherent": 0})
    for title in ("Other counts", "Configuration", "Inputs", "What was compared, found and removed"):
        assert f"<details><summary>{title}</summary>" in html
    assert "groups incoherent" not in html  # a line of zero
