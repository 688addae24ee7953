"""The search page in a real browser, against responses written here."""

import json
import re

import pytest

from jobs.web.search_page import search_page
from model.confidence.features import SIGNS
from model.guards.registry import GUARDS
from schemas.text import key, tokens
from tests.support.browser import BROWSER, NO_STORAGE

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

ADDRESS = "http://127.0.0.1:9/"
DONE = re.compile("similar|^No q|^The server")
"""Text of the status or the fault once a search has ended; the policy of the page forbids scripts of the test."""
WHY = {"shared_words": [], "dense_rank": 1, "lexical_rank": None, "contributions": {}, "guard": None}
PAY = {
    "rank": 1, "question_id": "1", "text": "How do I Pay my bill?", "answer": "Open Payments.", "answer_id": "7",
    "cluster_id": "3", "events": 1200, "probability": 0.934,
    "why": WHY | {"shared_words": ["pay", "bill"], "contributions": {"distance": -1.204}},
}  # fmt: skip
SEE = {**PAY, "question_id": "2", "text": "where to see a bill", "answer": None, "cluster_id": None, "why": WHY}
CERTIFIED = {"answered": True, "reason": "certified", "answer": "Open Payments.", "hit": PAY, "certificate": "c"}
CLUSTER = {"questions": [{"question_id": "1", "text": "same"}, {"question_id": "5", "text": "paying bills"}]}


def abstention(reason):
    return {"answered": False, "reason": reason, "answer": None, "hit": PAY, "certificate": None}


class Server:
    """Responses to the page, and the requests that it made."""

    def __init__(self, html, policy):
        self.page, self.asked = (html, policy), []
        self.hits, self.answer, self.fault, self.headers = [PAY, SEE], CERTIFIED, None, {}

    def respond(self, route):
        request = route.request
        path = request.url.removeprefix(ADDRESS)
        if path.startswith(("search", "answer", "clusters")):
            self.asked.append((path, request.headers.get("authorization"), request.post_data))
        if not path or path.startswith("?"):
            html, policy = self.page
            headers = {"content-security-policy": policy, "content-type": "text/html; charset=utf-8"}
            route.fulfill(body=html, headers=headers)
        elif self.fault == "gone":
            route.abort()
        elif self.fault and "authorization" not in request.headers:
            route.fulfill(status=self.fault, json={"error": "no, thank you"}, headers=self.headers)
        elif path.startswith("search"):
            route.fulfill(json={"results": [{"hits": self.hits}]})
        elif path.startswith("answer"):
            with_hits = {"hits": self.hits} if "k" in request.post_data_json else {}
            route.fulfill(json={"results": [self.answer | with_hits]})
        else:
            route.fulfill(json=CLUSTER)


WIDTHS = pytest.mark.parametrize("opened", [375, 1280], indirect=True, ids=["phone", "desktop"])
"""For tests of what the width of the window changes: places, lines and directions."""


@pytest.fixture(params=[375])
def opened(chromium, request):
    """Return the server and the page, as wide as a phone; an error of its script fails the test."""
    context = chromium.new_context(viewport={"width": request.param, "height": 800})
    server = Server(*search_page(questions=1234, modes=["dense", "bm25"], k=10, filters={}))
    page, errors = context.new_page(), []
    page.set_default_timeout(10_000)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if "Content Security" in message.text else None)
    page.route("**/*", server.respond)
    yield server, page
    assert errors == []
    assert page.evaluate("document.documentElement.scrollWidth") <= request.param
    context.close()


def ask(page, text="pay bill"):
    page.goto(ADDRESS)
    page.keyboard.insert_text(text)  # at once, since a pause would begin a search; the question has the focus
    sync_api.expect(page.locator("#status, #fault").filter(visible=True, has_text=DONE)).to_have_count(1)


def shown(page, name):
    return page.inner_text(f"#{name}") if page.is_visible(f"#{name}") else None


@WIDTHS
def test_typing_shows_answer_and_hits_with_probability_and_marked_words(opened):
    server, page = opened
    ask(page)
    assert (shown(page, "verdict"), shown(page, "text")) == ("Answer", "Open Payments.")
    assert shown(page, "reason") == "A certificate permits this answer."
    assert shown(page, "status") == "2 similar questions"
    assert "93 %" in page.inner_text("#hits li >> nth=0")
    assert page.locator("#hits li >> nth=0").locator("mark").all_inner_texts() == ["Pay", "bill"]
    assert page.inner_text("h1") == "Search questions"
    assert {path for path, _, _ in server.asked} == {"answer"}  # one search has both
    assert json.loads(server.asked[-1][2]) == {"question": "pay bill", "k": 10}


def test_another_mode_needs_a_search_beside_the_answer(opened):
    server, page = opened
    ask(page)
    server.asked.clear()
    with page.expect_response("**/search?q=pay+bill&mode=bm25"), page.expect_response("**/answer"):
        page.select_option("#mode", "bm25")
    page.wait_for_url(ADDRESS + "?q=pay+bill&mode=bm25")
    assert {path for path, _, _ in server.asked} == {"search?q=pay+bill&mode=bm25", "answer"}
    assert [json.loads(body) for path, _, body in server.asked if path == "answer"] == [{"question": "pay bill"}]


def test_every_guard_has_words_of_its_own():
    page = search_page(questions=1, modes=["dense"], k=5, filters={}).html.decode()
    differences = page.partition("const DIFFERENCES = {")[2].partition("}")[0]
    assert re.findall(r"^  (\w+):", differences, re.MULTILINE) == [*GUARDS]


@pytest.mark.parametrize(
    ("reason", "sentence"),
    [
        ("no_certificate", "Without a certificate only questions of the index itself are answered."),
        ("guard:action", "Your question differs from the most similar one in an action."),
        (
            "guard:answer_type",
            "Your question differs from the most similar one in the type of answer, such as a time or a price.",
        ),
        ("guard:argument_order", "Your question differs from the most similar one in argument order."),
        ("not_known_yet", "not_known_yet"),
    ],
)
def test_an_abstention_has_its_reason_as_a_sentence(opened, reason, sentence):
    server, page = opened
    server.answer = abstention(reason)
    ask(page)
    assert (shown(page, "verdict"), shown(page, "reason")) == ("No known answer", sentence)
    assert not shown(page, "text")


@WIDTHS
def test_keys_move_through_hits_and_open_other_wordings(opened):
    _, page = opened
    ask(page)
    for pressed in ("ArrowDown", "Enter"):
        page.keyboard.press(pressed)
    page.wait_for_selector("#hits ul li")
    details = page.inner_text("#hits details >> nth=0")
    assert "paying bills" in details
    assert "same" not in details
    assert "−1.20" in details
    assert "1,200" in details
    page.keyboard.press("ArrowDown")
    assert "see a bill" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == "question"
    page.keyboard.press("Escape")
    sync_api.expect(page.locator("#status")).to_have_text("Type a question. The index has 1,234 questions.")
    assert not page.is_visible("#hits")
    page.locator("#copy").evaluate("element => document.activeElement.blur()")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement === document.body")  # the arrows scroll where nothing has the focus
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "question"


def test_the_key_that_moves_to_the_question_can_be_switched_off(opened):
    _, page = opened
    ask(page)
    switch = page.get_by_role("checkbox", name="Key / moves to the search field")
    sync_api.expect(switch).to_be_checked()
    assert page.get_attribute("#question", "aria-keyshortcuts") == "/"
    switch.press("/")
    sync_api.expect(page.locator("#question")).to_be_focused()
    for _ in range(2):
        switch.uncheck()
        page.locator("#copy").press("/")
        sync_api.expect(page.locator("#copy")).to_be_focused()
        assert page.get_attribute("#question", "aria-keyshortcuts") is None
        page.reload()
        page.wait_for_selector("#hits li")
        sync_api.expect(switch).not_to_be_checked()
    page.locator("#copy").press("Escape")
    sync_api.expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("/")
    assert page.input_value("#question") == "pay bill/"


def test_the_key_that_moves_to_the_question_is_typed_in_its_empty_field(opened):
    _, page = opened
    page.goto(ADDRESS)
    sync_api.expect(page.locator("#question")).to_be_focused()
    page.keyboard.press("/")
    assert page.input_value("#question") == "/"


def test_the_address_holds_question_and_mode(opened):
    server, page = opened
    ask(page, "é + c#")
    page.select_option("#mode", "bm25")
    page.wait_for_url(ADDRESS + "?q=%C3%A9+%2B+c%23&mode=bm25")
    page.reload()
    page.wait_for_selector("#hits li")
    assert (page.input_value("#question"), page.input_value("#mode")) == ("é + c#", "bm25")
    assert server.asked[-1][0] in {"search?q=%C3%A9+%2B+c%23&mode=bm25", "answer"}
    page.evaluate("() => { history.pushState = () => { throw new DOMException('too many', 'SecurityError'); }; }")
    with page.expect_response("**/search?q=another*"):  # Safari refuses more changes than 100 in 30 s
        page.fill("#question", "another")


@WIDTHS
def test_a_question_too_long_for_an_address_is_kept_by_the_entry_of_the_history(opened):
    server, page = opened
    long = "é" * 9_000  # a server that gets it in an address refuses that
    ask(page, long)
    sync_api.expect(page).to_have_url(ADDRESS + "?mode=dense")
    assert "The question is too long for a link" in shown(page, "status")
    page.keyboard.press("Enter")
    page.fill("#question", "pay bill")
    page.wait_for_url(ADDRESS + "?q=pay+bill&mode=dense")
    sync_api.expect(page.locator("#status")).to_have_text("2 similar questions")
    page.go_back()
    sync_api.expect(page.locator("#question")).to_have_value(long)
    page.reload()
    sync_api.expect(page.locator("#question")).to_have_value(long)
    sync_api.expect(page.locator("#status")).to_contain_text("too long for a link")
    assert json.loads(server.asked[-1][2])["question"] == long
    page.goto(ADDRESS + "?mode=bm25")
    sync_api.expect(page.locator("#question")).to_have_value("")


def test_texts_are_no_markup(opened):
    server, page = opened
    server.hits = [{**PAY, "text": "<img src=x onerror=alert(1)>" + "long" * 200, "answer": "<b>bold</b>"}]
    ask(page)
    assert "<img src=x onerror=alert(1)>" in page.inner_text("#hits")
    assert page.locator("#hits img, #hits b").count() == 0


@WIDTHS
def test_long_texts_of_a_hit_are_cut_to_six_lines_until_it_is_opened(opened):
    server, page = opened
    server.hits = [{**PAY, "text": "How do I pay a long bill? " * 73, "answer": "Open Payments first. " * 120}, SEE]
    ask(page)
    parts = page.locator("#hits li >> nth=0").locator(".words, details + p")
    heights = "all => all.map(one => Math.round(one.clientHeight / parseFloat(getComputedStyle(one).lineHeight)))"
    assert parts.evaluate_all(heights) == [6, 6]
    page.click("#hits summary >> nth=0")
    assert min(parts.evaluate_all(heights)) > 10
    page.click("#hits summary >> nth=0")
    assert parts.evaluate_all(heights) == [6, 6]


@WIDTHS
@pytest.mark.parametrize(
    ("text", "direction"), [("كيف أدفع؟", "rtl"), ("2 חשבונות", "rtl"), ("pay 2", "ltr"), ("?", "ltr")]
)
def test_a_question_has_the_direction_of_its_script(opened, text, direction):
    server, page = opened
    server.hits = [{**PAY, "text": text, "why": WHY}]
    ask(page)
    summary = page.locator("#hits summary")
    assert summary.evaluate("element => getComputedStyle(element).direction") == direction
    words, share = (summary.locator(part).bounding_box()["x"] for part in (".words", ".share"))
    assert (words > share) == (direction == "rtl")


def test_no_match_and_faults_have_a_message(opened):
    server, page = opened
    server.hits, server.answer = [], abstention("no_hit")
    ask(page)
    assert (shown(page, "status"), shown(page, "reason")) == ("No question matches.", "Nothing was found.")
    for fault, sentence in (
        (503, "The server refused the request: no, thank you."),
        ("gone", "The server does not respond. Press Search to try again."),
    ):
        server.fault = fault
        ask(page)
        assert shown(page, "fault") == sentence
        assert not page.is_visible("#answer")


def test_a_token_is_asked_for_and_sent_and_is_not_in_the_copied_command(opened):
    server, page = opened
    server.fault = 401
    ask(page)
    focused = "document.activeElement.id"
    assert (page.evaluate(focused), page.is_visible("#token")) == ("question", True)  # a person may be typing still
    page.keyboard.press("Enter")
    sync_api.expect(page.locator("#token")).to_be_focused()  # the policy of the page forbids `wait_for_function`
    page.keyboard.type("secret")
    page.keyboard.press("Enter")
    page.wait_for_selector("#hits li")
    assert server.asked[-1][1] == "Bearer secret"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy")
    sync_api.expect(page.locator("#status")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"curl -s -H 'Authorization: Bearer TOKEN' '{ADDRESS}search?q=pay+bill&mode=dense'"


def test_a_token_that_no_header_can_have_is_refused_and_another_one_can_be_given(opened):
    server, page = opened
    server.fault = 401
    ask(page)
    for wrong in ("se\u2013cret", "sécret", "two words", ""):
        page.fill("#token", wrong)
        page.keyboard.press("Enter")
        sync_api.expect(page.locator("#fault")).to_contain_text("A token has only letters")
        assert page.is_visible("#token")
        assert page.evaluate("sessionStorage.getItem('token')") is None
    page.fill("#token", " secret ")
    page.keyboard.press("Enter")
    page.wait_for_selector("#hits li")
    assert server.asked[-1][1] == "Bearer secret"


def test_values_of_the_address_that_no_list_has_are_left_out(opened):
    server, page = opened
    values = {"locale": ["de", "en"]}
    server.page = search_page(questions=2, modes=["dense", "bm25"], k=10, filters=values)
    page.goto(f"{ADDRESS}?q=pay&mode=rerank&locale=xx")
    page.wait_for_selector("#hits li")
    assert (page.input_value("#mode"), page.get_by_label("locale").input_value()) == ("dense", "de")
    assert json.loads(server.asked[-1][2]) == {"question": "pay", "k": 10, "filters": {"locale": "de"}}


@WIDTHS
def test_a_screen_reader_hears_the_status_and_every_field_has_a_label(opened):
    _, page = opened
    ask(page)
    assert page.get_by_role("search").get_by_label("Question").count() == 1
    assert page.get_by_role("status").inner_text() == "2 similar questions"
    assert page.get_by_label("Mode").count() == 1
    assert page.locator("label[for=mode]").bounding_box()["width"] > 20  # for everybody else too
    assert page.get_by_role("region", name="Answer").count() == 1
    unlabelled = "element => !element.labels?.length"
    assert not any(page.locator("input, select").nth(i).evaluate(unlabelled) for i in range(3))


def test_one_mode_needs_no_switch():
    assert b"<select" not in search_page(questions=1, modes=["dense"], k=10, filters={}).html


def test_a_browser_that_blocks_the_data_of_sites_can_search(opened):
    _, page = opened
    page.add_init_script(NO_STORAGE)
    ask(page)
    assert shown(page, "verdict") == "Answer"
    page.get_by_label("Key / moves to the search field").uncheck()
    ask(page, "another one")
    assert shown(page, "verdict") == "Answer"


def test_the_page_asks_for_no_more_hits_than_the_server_permits(start):
    client = start(limits={"max_k": 4})
    [k] = map(int, re.findall(r'data-k="(\d+)"', client.get("/").text))
    response = client.post("/answer", json={"question": "pay", "k": k})
    assert (k, len(response.json()["results"][0]["hits"])) == (4, 2)


def open_page(chromium, client):
    """Return a page whose requests go to an application."""

    def respond(route):
        request = route.request
        headers = {"content-type": request.headers.get("content-type", "")}
        path = request.url.removeprefix(ADDRESS.rstrip("/"))
        response = client.request(request.method, path, content=request.post_data, headers=headers)
        route.fulfill(status=response.status_code, headers=dict(response.headers), body=response.content)

    page = chromium.new_page()
    page.route("**/*", respond)
    return page


def test_another_mode_is_searched_where_a_client_may_not_ask_twice_at_once(start, chromium):
    page = open_page(chromium, start(limits={"rate": 0.8}))  # answer and hits of another mode are two requests
    page.goto(f"{ADDRESS}?q=pay+my+bill&mode=bm25")
    sync_api.expect(page.locator("#fault")).to_contain_text("too many requests")
    sync_api.expect(page.locator("#status")).to_have_text("4 similar questions", timeout=10_000)
    assert (shown(page, "fault"), shown(page, "text")) == (None, "in the app")
    page.close()


def test_the_server_serves_a_page_that_understands_its_responses(start, chromium):
    page = open_page(chromium, start(version=None))
    ask(page, "pay my bill")
    assert (shown(page, "verdict"), shown(page, "text")) == ("Answer", "in the app")
    page.click("#hits summary >> nth=0")
    page.wait_for_selector("#hits ul li")
    assert "how do I pay a bill" in page.inner_text("#hits ul")
    ask(page, "unheard")
    assert shown(page, "reason") == "Nothing was found."
    ask(page, "pay my bill " * 200)  # more than a server accepts: no part of it is searched
    assert "at most 2000 characters" in shown(page, "fault")
    assert not page.is_visible("#answer")
    page.close()


def test_values_of_columns_are_part_of_every_request_and_of_the_address(opened):
    server, page = opened
    values = {"locale": ["de", "en"], "tenant": []}
    server.page = search_page(questions=2, modes=["dense", "bm25"], k=10, filters=values)
    page.goto(f"{ADDRESS}?q=pay&locale=en&tenant=acme")
    sync_api.expect(page.locator("#status")).to_have_text(DONE)
    assert json.loads(server.asked[-1][2])["filters"] == {"locale": "en", "tenant": "acme"}
    with page.expect_response("**/answer"):
        page.get_by_label("locale").select_option("de")
    sync_api.expect(page.locator("#status")).to_have_text(DONE)
    assert json.loads(server.asked[-1][2])["filters"] == {"locale": "de", "tenant": "acme"}
    page.get_by_label("Mode").select_option("bm25")
    sync_api.expect(page).to_have_url(re.compile("q=pay.*mode=bm25.*locale=de.*tenant=acme"))
    sync_api.expect(page.locator("#found")).to_have_attribute("aria-busy", "false")  # else the hits are replaced later
    page.locator("summary").first.click()
    sync_api.expect(page.get_by_text("Other wordings:", exact=True)).to_be_visible()
    assert server.asked[-1][0] == "clusters/3?locale=de&tenant=acme"


def test_an_answer_has_its_lines(opened):
    server, page = opened
    steps = "1. Open Payments.\n2. Press Pay."
    server.hits, server.answer = [{**PAY, "answer": steps}], CERTIFIED | {"answer": steps}
    ask(page)
    assert shown(page, "text") == steps
    assert page.inner_text("#hits details + p") == steps


def test_keys_of_an_input_method_are_left_to_it(opened):
    _, page = opened
    ask(page)
    page.context.new_cdp_session(page).send(
        "Input.imeSetComposition", {"text": "か", "selectionStart": 1, "selectionEnd": 1}
    )
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.id") == "question"
    assert page.input_value("#question") == "pay billか"


@pytest.mark.parametrize("fault", [429, 503])
def test_a_search_that_a_busy_server_refuses_is_repeated_when_the_server_permits_it(opened, fault):
    server, page = opened
    server.fault, server.headers = fault, {"Retry-After": "1"}
    ask(page)
    assert shown(page, "fault") == "The server refused the request: no, thank you."
    server.fault = None
    sync_api.expect(page.locator("#status")).to_have_text("2 similar questions")
    assert shown(page, "fault") is None
    page.wait_for_timeout(1200)
    assert len(server.asked) == 2


def test_a_search_that_is_refused_again_and_again_ends(opened):
    server, page = opened
    server.fault, server.headers = 503, {"Retry-After": "0.1"}
    ask(page)
    for _ in range(100):
        page.wait_for_timeout(100)
        if len(server.asked) == 6:
            break
    page.wait_for_timeout(500)
    assert len(server.asked) == 6
    assert (shown(page, "fault"), page.inner_text("#status")) == ("The server refused the request: no, thank you.", "")
    page.fill("#question", "another one")
    server.fault = None
    sync_api.expect(page.locator("#status")).to_have_text("2 similar questions")
    assert len(server.asked) == 7


@pytest.mark.parametrize(("fault", "reason"), [("gone", "the server does not respond"), (503, "no, thank you")])
def test_other_wordings_are_loaded_again_after_a_fault(opened, fault, reason):
    server, page = opened
    ask(page)
    server.fault = fault
    page.click("#hits summary >> nth=0")
    details = page.locator("#hits details >> nth=0")
    sync_api.expect(details).to_contain_text(f"Other wordings cannot be shown: {reason}. Close and open")
    server.fault = None
    for _ in range(2):
        page.click("#hits summary >> nth=0")
    sync_api.expect(details).to_contain_text("paying bills")
    sync_api.expect(details).not_to_contain_text("cannot be shown")
    assert [path for path, _, _ in server.asked].count("clusters/3") == 2


def test_the_marks_of_other_wordings_in_hebrew_are_inside_their_card(opened):
    _, page = opened
    ask(page)
    page.click("#hits summary >> nth=0")
    wordings = page.locator("#hits ul")
    sync_api.expect(wordings).to_be_visible()
    room = "list => list.closest('.card').getBoundingClientRect().right - list.lastChild.getBoundingClientRect().right"
    assert wordings.evaluate(room) > 30  # the padding of the card and 16 pixels of the mark


@pytest.mark.parametrize(
    ("asked", "text", "marks"),
    [
        ("จ่ายบิลอย่างไรดี", "ฉันจะจ่ายบิลได้", ["จ่ายบิล"]),
        ("怎么支付", "如何支付账单?", ["支付"]),
        ("請求書の支払い", "支払いと請求書", ["支払い", "請求書"]),
        ("계좌 변경", "제 계좌를", ["계좌"]),
        ("كَيف ادفع الفاتوره", "كيف أدفع الفاتورة؟", ["كيف", "أدفع", "الفاتورة"]),
        ("STRASSE 12", "Straße 12", ["Straße", "12"]),
        ("ΛΟΓΑΡΙΑΣΜΌΣ", "ο λογαριασμός μου", ["λογαριασμός"]),
        ("c++ for $5 or 4.5 %", "C++, $5 (4.5%)", ["C++", "$5", "4.5%"]),
        ("c 5", "c++ $5 5% c, 5 cat", ["c", "5"]),
        ("de\u0301ja", "D\u00e9ja de\u0301ja dejà", ["D\u00e9ja", "de\u0301ja"]),
        ("a.b (x", "b)(x a", ["b", "x", "a"]),
        ("パスワードを変更", "パスワードと新パスワードレス", ["パスワード"]),
        ("wifi 接続", "WiFiに接続できない", ["WiFi", "接続"]),
        ("PayPayで支払う", "ＰａｙＰａｙは使える", ["ＰａｙＰａｙ"]),
        ("şifremi sıfırla", "ŞİFREMİ nasıl sıfırla", ["ŞİFREMİ", "sıfırla"]),
        ("رمز می‌خواهم", "می‌خواهم رمـز ۳۰", ["می‌خواهم", "رمـز"]),
        ("30 दिन", "३० दिन में", ["३०", "दिन"]),
        ("iphone 12 ٣", "iPhone ١٢ 3", ["iPhone", "١٢", "3"]),
        ("รีเซ็ต password", "วิธีรีเซ็ตpasswordใหม่", ["รีเซ็ตpassword"]),
    ],
)
@pytest.mark.parametrize("opened", [1280], indirect=True)
def test_shared_words_of_every_script_are_marked(opened, asked, text, marks):
    server, page = opened
    shared = [word for word in tokens(key(asked)) if word in tokens(key(text))]
    server.hits = [{**PAY, "text": text, "why": WHY | {"shared_words": shared}}]
    ask(page)
    assert page.locator("#hits mark").all_inner_texts() == marks
    assert page.inner_text("#hits .words") == text


def test_a_screen_reader_hears_an_answer_once(opened):
    _, page = opened
    page.goto(ADDRESS)
    live = page.locator("[aria-live=polite]")
    assert live.evaluate("element => getComputedStyle(element).display") == "block"  # a hidden one is silent when shown
    ask(page)
    assert live.inner_text().split("\n\n") == ["Answer", "Open Payments.", "A certificate permits this answer."]
    page.evaluate("""() => {
        window.changes = 0;
        const observed = { childList: true, characterData: true, subtree: true };
        const observer = new MutationObserver((all) => (window.changes += all.length));
        observer.observe(document.querySelector("[aria-live]"), observed);
    }""")
    with page.expect_response("**/answer"):
        page.keyboard.insert_text("s")
    sync_api.expect(page.locator("#found")).to_have_attribute("aria-busy", "false")
    assert page.evaluate("window.changes") == 0


def test_an_answer_is_dimmed_while_another_question_is_searched(opened):
    server, page = opened
    ask(page)
    held = []
    page.route("**/answer", lambda route: held.append(route), times=1)
    page.fill("#question", "another question")
    sync_api.expect(page.locator("#status")).to_have_text("Searching…")
    sync_api.expect(page.locator("#answer")).to_have_css("opacity", "0.6")
    server.respond(held[0])
    sync_api.expect(page.locator("#answer")).to_have_css("opacity", "1")


def test_percentages_and_contributions_are_explained(opened):
    server, page = opened
    contributions = dict.fromkeys(SIGNS, -1.0)
    server.hits = [{**PAY, "why": WHY | {"contributions": contributions}}, SEE]
    ask(page)
    assert "The percentage is the estimated probability" in page.inner_text("#found")
    page.click("#hits summary >> nth=0")
    details = page.locator("#hits details >> nth=0")
    assert "Contributions to the probability, in log odds:" in details.inner_text()
    names = details.locator("dl >> nth=1").locator("dt").all_inner_texts()
    assert "shared words of the hit" in names
    assert not [name for name in SIGNS if name in names and name not in {"distance", "rank"}]
    parts = """all => all.map(one => {
        const range = new Range();
        range.selectNodeContents(one);
        return range.getClientRects().length;
    })"""
    assert set(details.locator("dd").evaluate_all(parts)) == {1}  # no figure is broken into lines on a phone
    server.hits = [{**SEE, "probability": None}]
    ask(page)
    assert "percentage" not in page.inner_text("#found")


def test_back_shows_the_submitted_search_before(opened):
    _, page = opened
    ask(page)
    page.keyboard.press("Enter")
    page.wait_for_url(ADDRESS + "?q=pay+bill&mode=dense")
    entries = page.evaluate("history.length")
    for text in ("change se", "change seat"):
        page.fill("#question", text)
        page.wait_for_url(ADDRESS + f"?q={text.replace(' ', '+')}&mode=dense")
    page.keyboard.press("Enter")
    page.select_option("#mode", "bm25")
    page.wait_for_url(ADDRESS + "?q=change+seat&mode=bm25")
    assert page.evaluate("history.length") == entries + 2  # typing added one entry, and the other mode one
    for text, mode in (("change seat", "dense"), ("pay bill", "dense")):
        page.go_back()
        sync_api.expect(page.locator("#question")).to_have_value(text)
        assert page.input_value("#mode") == mode
        sync_api.expect(page).to_have_title(f"{text} – Search questions")
    page.wait_for_selector("#hits li")
    page.go_forward()
    sync_api.expect(page.locator("#question")).to_have_value("change seat")
    page.fill("#question", "")
    sync_api.expect(page).to_have_title("Search questions")


def test_back_leaves_an_address_without_a_mode(opened):
    _, page = opened
    page.goto("about:blank")
    page.goto(ADDRESS + "?q=pay")
    page.wait_for_url(ADDRESS + "?q=pay&mode=dense")
    page.go_back()
    assert page.url == "about:blank"


@pytest.mark.parametrize("opened", [320, 375], indirect=True)
def test_long_names_and_values_of_columns_fit_a_phone(opened):
    server, page = opened
    values = {"locale": ["de", "a-very-long-value-" * 9], "c" * 80: [], "tenant" * 20: ["x"]}
    server.page = search_page(questions=2, modes=["dense", "bm25"], k=10, filters=values)
    page.goto(ADDRESS)  # the fixture compares the width of the page with that of the phone
    assert page.locator("select, input").filter(visible=True).count() == 6


@pytest.mark.parametrize("opened", [1280], indirect=True)
def test_a_probability_is_not_rounded_to_certainty(opened):
    server, page = opened
    shares = [1, 0.9951, 0.9949, 0.5, 0.0051, 0.0049, 0]
    server.hits = [{**PAY, "probability": share} for share in shares]
    ask(page)
    assert page.locator("#hits .share").all_inner_texts() == ["100 %", ">99 %", "99 %", "50 %", "1 %", "<1 %", "0 %"]


def test_the_statuses_of_the_description_stand_in_one_line_on_a_phone(start, chromium):
    page = chromium.new_page(viewport={"width": 375, "height": 700})
    page.set_content(start().get("/docs").text)
    page.click("summary >> nth=0")
    status = page.locator("th", has_text="200").first
    assert status.evaluate("cell => cell.clientHeight < 2 * parseFloat(getComputedStyle(cell).lineHeight)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.close()
