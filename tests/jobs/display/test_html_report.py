import html.parser
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.display.html_report import SHOWN_INPUTS, dataset_page
from pipelines.summary.cluster_summary import ClusterSummary
from pipelines.summary.histogram import Distribution
from pipelines.summary.reject_examples import RejectExamples
from pipelines.summary.run_summary import RunSummary
from pipelines.writing.reported import BroadAnswer, JudgedAnswer
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


def page(clusters=(), *, counters=None, leakage=CHECK, fault=None, inputs=("log 0",), configuration=None, **more):
    sizes = [c["size"] for c in clusters]
    scores = Distribution.of(np.array([c["coherence"] for c in clusters]), steps=10_000)
    found = {"size": Distribution.of(np.array(sizes)), "coherence": scores} if clusters else {}
    summary = RunSummary(
        url=more.pop("url", "s3://b/<d>"),
        run_id="run",
        seconds=2.0,
        fault=fault,
        inputs=[Source(url=url, bytes=1_000) for url in inputs],
        configuration=configuration or {"shards": 1},
        counters=counters or {},
        clusters=ClusterSummary(found, list(clusters), list(clusters[::-1])),
        leakage=leakage,
        **more,
    )
    return dataset_page(summary).decode()


class Seen(html.parser.HTMLParser):
    """Lists what a browser makes of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attributes]

    def handle_data(self, data):
        self.texts.append(data)


def text_of(page):
    return re.sub(r"\s+", " ", " ".join(Seen(page.split("</style>")[1]).texts))


def test_the_page_of_a_run():
    counters = {"rows_read": 3_000, "rows_kept": 2_000, "rejected_validate_no_word": 1_000, "clusters_train": 1}
    counters |= {"pairs_train": 4, "pairs_test": 3}
    html = page(
        [cluster("in the app", "pay bill", "how pay")], counters=counters, configuration={"a": {"b": [1, None]}}
    )
    text = text_of(html)
    for part in (
        "Dataset s3://b/<d>",
        "Run run: 3,000 rows in 2.0 s, 1,500 rows/s",
        "rows kept 2,000 66.7 % of 3,000 read",
        "questions in clusters 0 pairs 7 ",  # of all splits, not for training alone
        "validate no word 1,000 33.3 %",
        "min 2, 25 % 2, median 2, 75 % 2, max 2",
        "in the app train, 2 questions, 1,234 events pay bill how pay",
        "coherence (paper) 0.500 adjusted coherence 0.250 idf coherence 0.125 ",
        "8 written questions compared once more: 0 found in two splits.",
        "test in train 0 3",
        "a b [1, null]",
        "log 0 1,000",
    ):
        assert part in text
    assert "Not published" not in text
    assert "check, found" not in text  # a line of zero
    assert "rejected as incoherent" not in text_of(page(counters={"groups": 3, "groups_incoherent": 0}))
    assert html.count("<svg") == html.count('role="img"') == 2
    assert html == page(
        [cluster("in the app", "pay bill", "how pay")], counters=counters, configuration={"a": {"b": [1, None]}}
    )


def test_a_page_needs_nothing_from_elsewhere():
    html = page([cluster("a", "b", "c")])
    assert not re.search(r"<script|<link|<img|<iframe|url\(|@import|\son\w+=|src=|href=", html)
    assert html.index("default-src 'none'; style-src 'unsafe-inline'") < html.index("<style>")
    assert 'content="width=device-width, initial-scale=1"' in html
    assert 'content="light dark"' in html


@pytest.mark.parametrize("clusters", [[], [cluster("one", "a", "b")]])
def test_no_cluster_and_one_cluster(clusters):
    html = page(clusters)
    assert text_of(html).count("There is no cluster.") == (0 if clusters else 3)
    assert html.count("<article") == 2 * len(clusters)  # the largest and the least coherent


def everywhere(text):
    """Return a page that shows a text in each place that takes one from a log, a path or an option."""
    return page(
        [cluster(text, text, *"abcde", text), cluster(text, text)],
        fault=text,
        url=text,
        inputs=[text],
        configuration={"a": text},
        counters={"rows_read": 10},
        rejects=[RejectExamples("size", "single_question", 1, [text])],
        fallbacks=[BroadAnswer(text, 9, 9)],
    )


HARMLESS = Seen(everywhere("plain"))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert('1')</script>",
        "</style></title><img src=x onerror=alert(1)>",
        '"><b onclick=x()>',
        "{{ 7 * 7 }}{% raw %}",
        "&amp; &lt;",
    ],
)
def test_markup_in_a_text_stays_text(text):
    seen = Seen(everywhere(text))
    assert (seen.tags, seen.attributes) == (HARMLESS.tags, HARMLESS.attributes)
    assert sum(text in shown for shown in seen.texts) >= 12


@settings(max_examples=50, deadline=None)
@given(st.text(min_size=1))
def test_no_text_makes_an_element_or_breaks_the_encoding(text):
    seen = Seen(everywhere(text))
    assert (seen.tags, seen.attributes) == (HARMLESS.tags, HARMLESS.attributes)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", "".join(seen.texts))


def test_writing_from_right_to_left_is_isolated_and_unchanged():
    html = page([cluster("😀 نعم", "كيف أدفع الفاتورة؟", "👩‍👩‍👧 pay\N{RIGHT-TO-LEFT OVERRIDE}")])
    assert html.count('<li dir="auto">كيف أدفع الفاتورة؟</li>') == 2
    assert "<bdi>😀 نعم</bdi>" in html
    assert re.search(r"th\[scope=row\] {[^}]* unicode-bidi: plaintext;", html)  # answers with their worth
    assert "👩‍👩‍👧 pay" in html


def test_a_long_question_is_cut_and_its_length_shown():
    html = page([cluster("x" * 301, "word " * 2_000, "y" * 300)])
    assert "… (10,000 characters)" in html
    assert "… (301 characters)" in html
    assert "y" * 300 + "<" in html
    assert "y" * 301 not in html
    assert len(html) < 25_000


def test_of_a_large_cluster_some_questions_are_shown_and_the_others_counted():
    html = page([cluster("a", *map(str, range(20)), size=100_000)])
    first = html[html.index("Largest clusters") : html.index("Least coherent")]
    assert first.count("<li") == 21
    assert first.count("and 99,980 more") == 1
    assert "more</li>" not in page([cluster("a", *map(str, range(20)))])


def test_a_cluster_without_answer():
    assert "(no answer)" in page([cluster(None, "a", "b")])


def test_leakage_without_a_comparison_is_no_error():
    assert "Nothing was compared." in page(leakage={})


def test_questions_found_in_two_splits_are_a_table_of_counts():
    found = {"test": {"same_words_in_train": 2, "near_duplicate_in_train": 1_200}, "validation": {}}
    removed = {"test": {"near_duplicate_in_train": 1_100}, "validation": {"question_in_test": 1}}
    html = page(leakage=CHECK | {"found": found, "removed": removed})
    table = html[html.index("Found and removed") : html.index("is removed once")]
    cells = re.findall(r"<t[dh](?: [^>]*)?>([^<]*)<", table)
    assert cells == [
        *("Question of", "found again as", "found", "removed"),
        *("validation", "question in test", "0", "1"),
        *("test", "near duplicate in train", "1,200", "1,100"),
        *("test", "same words in train", "2", "0"),
    ]
    assert "{" not in table


def test_very_many_inputs_and_very_large_counts():
    html = page(counters={"rows_read": 10**15, "rows_kept": 10**15}, inputs=["log"] * (SHOWN_INPUTS + 5_000))
    assert "1,000,000,000,000,000" in html
    assert "and 5,000 more, all of them in manifest.json" in html
    assert html.count(">log<") == SHOWN_INPUTS


def test_examples_of_rejects_are_open_only_where_nothing_was_published():
    rejects = [RejectExamples("size", "single_question", 1_200, ['{"question": "<who>", "answer": "me"}'])]
    refused, published = page(rejects=rejects, fault="no cluster was left"), page(rejects=rejects)
    for shown in (refused, published):
        assert "size, single question: 1,200" in shown
        assert '<li dir="auto">&lt;who&gt; -&gt; me</li>' in shown
    assert "Not published. no cluster was left." in text_of(refused)
    assert refused.count("<details open") == 1
    assert "<details open" not in published


def test_a_suspected_fallback_is_a_warning():
    answers = [BroadAnswer("Sorry <b>", 60, 55)]
    text = text_of(page(counters={"rows_read": 1_000}, fallbacks=answers))
    assert "Warning. one answer holds 6.0 % of the rows and 55 unlike questions: 'Sorry <b>'." in text


def test_the_answers_of_the_lowest_and_highest_worth_are_listed():
    names = ("pairs", "pairs_expected", "pairs_kept", "answers", "intents", "strays")
    worth = {f"worth_{name}": 0 for name in names} | {"worth_pairs": 9}
    judged = [JudgedAnswer("Open <b> the menu.", "sentence", 40, 0.9), JudgedAnswer("Paris", "entity", 30, 0.1)]
    text = text_of(page(counters={"rows_read": 1_000} | worth, judged_answers=judged))
    assert "Answers of many questions" in text
    assert text.index("Paris") < text.index("Open <b> the menu.")
    assert "Answers of many questions" not in text_of(page(counters={"rows_read": 1_000}))
