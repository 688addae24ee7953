"""The report in a browser as wide as a phone, and on paper: no text is cut and nothing has to be scrolled sideways."""

import html
import re
import subprocess

import pytest

from pipelines.writing.reported import JudgedAnswer
from schemas.tables import SPLITS
from tests.jobs.display.test_html_report import cluster, page
from tests.support.browser import BROWSER

WIDTH = 375
MARK = 16
"""Pixels of the mark of a line in a list, in the usual font."""

FRAME = """<iframe id="f" src="report.html" style="width:{width}px;height:60000px;border:0"></iframe><pre id="o"></pre>
<script>
document.getElementById("f").onload = () => {
  const page = document.getElementById("f").contentDocument;
  const wide = [...page.querySelectorAll("body *")].filter((part) =>
    part.getBoundingClientRect().right > {width} + 1 ||
    part.matches("li") && getComputedStyle(part).direction === "rtl" &&
    part.getBoundingClientRect().right + {mark} > part.closest(".card").getBoundingClientRect().right ||
    ["auto", "scroll"].includes(getComputedStyle(part).overflowX) && part.scrollWidth > part.clientWidth + 1);
  const names = wide.map((part) => part.tagName + " " + part.textContent.slice(0, 40).replace(/\\s+/g, " "));
  document.getElementById("o").textContent = JSON.stringify([page.body.clientHeight > 500, names.slice(0, 9)]);
};
</script>"""


def wide_parts(report, folder):
    """Return what a browser reports of a page: whether it is there, and the parts wider than a phone."""
    (folder / "report.html").write_text(report)
    (folder / "frame.html").write_text(FRAME.replace("{width}", str(WIDTH)).replace("{mark}", str(MARK)))
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom"]
    given = [f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", f"file://{folder / 'frame.html'}"]
    done = subprocess.run([BROWSER, *flags, *given], capture_output=True, text=True, check=True, timeout=120)
    return html.unescape(re.search('<pre id="o">(.*?)</pre>', done.stdout, re.DOTALL)[1])


NAMES = ("pairs_expected", "pairs_kept", "answers", "intents", "strays")
WORTH = {"worth_pairs": 9} | {f"worth_{name}": 0 for name in NAMES}
"""Counters by which a report has a table of answers."""


def counters():
    large = {f"{name}_{split}": 12_345_678 for name in ("clusters", "members", "pairs") for split in SPLITS}
    rejected = {"rejected_validate_low_confidence": 12_345_678, "rejected_size_over_max_cluster_size": 1_234_567}
    return {"rows_read": 123_456_789, "rows_kept": 111_111_111, "rows_rejected": 12_345_678} | rejected | large


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_tables_of_a_large_run_fit_a_phone(tmp_path):
    long = [cluster("answer" * 40, "question " * 30, "x" * 250, size=1_000)]
    judged = [JudgedAnswer("Press Reset. " * 9, "sentence", 1_234, 0.998)]
    report = page(long, counters=counters() | WORTH, judged_answers=judged)
    assert wide_parts(report, tmp_path) == "[true,[]]"


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_a_part_that_does_not_fit_is_found(tmp_path):
    report = page([cluster("a", "b", "c")], counters=counters()).replace(
        "</body>", "<div style='width: 400px'>wide</div></body>"
    )
    assert '["DIV wide"]' in wide_parts(report, tmp_path)


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_the_marks_of_lines_in_arabic_are_inside_their_card(tmp_path):
    assert wide_parts(page([cluster("ادفع", "كيف أدفع؟", "أين أدفع؟")], counters=counters()), tmp_path) == "[true,[]]"


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_folded_tables_and_questions_are_on_paper():
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        shown = browser.new_page()
        shown.set_content(page([cluster("answer", *"abcdefgh")], counters=counters()))
        folded = shown.locator("details:not([open])").locator("table, ul")
        visible = "all => [...new Set(all.map((one) => one.checkVisibility() && one.clientHeight > 0))]"
        assert folded.evaluate_all(visible) == [False]
        shown.emulate_media(media="print")
        assert folded.evaluate_all(visible) == [True]
        browser.close()
