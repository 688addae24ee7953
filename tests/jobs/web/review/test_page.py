"""The review page in a real browser, in front of the real application."""

import re

import pytest

from jobs.review.queues.rules import RULES
from tests.support.browser import BROWSER, NO_STORAGE
from tests.support.fake_queue import FakeQueue

sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

ADDRESS = "http://127.0.0.1:9/review"
TOKEN = "0123456789abcdef"


UNHURRIED = "let now = 0; performance.now = () => (now += 1000);"
"""Script of a page whose clock goes so fast that all items have been read."""


class Window:
    """A browser window, whose requests go to the application while it is connected."""

    def __init__(self, page, client, person):
        self.page, self.client, self.connected = page, client, True
        page.set_default_timeout(10_000)
        page.add_init_script(UNHURRIED)
        page.route("**/*", self._respond)
        page.goto(ADDRESS)
        page.keyboard.type(person)  # the name has the focus
        page.keyboard.press("Enter")

    def _respond(self, route, *, lose=False, status=None):
        request = route.request
        if not self.connected:
            route.abort()
            return
        path = request.url.removeprefix(ADDRESS.removesuffix("/review"))
        headers = {name: value for name, value in request.headers.items() if name != "host"}
        response = self.client.request(request.method, path, headers=headers, content=request.post_data_buffer)
        if lose:
            route.abort()
            return
        route.fulfill(status=status or response.status_code, headers=dict(response.headers), body=response.content)

    def loses_responses(self, address):
        """Lose the response to the next request for an address, which arrives."""

        def lose(route):
            self._respond(route, lose=True)

        self.page.route(address, lose, times=1)

    def shows(self, number):
        """Wait until the item with this place is shown."""
        sync_api.expect(self.page.locator("#lines li").first).to_contain_text(f"wording 0 of {number}")

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)


SIZES = pytest.mark.parametrize("size", [(375, 700), (1280, 700)], indirect=True, ids=["phone", "desktop"])
"""For tests of what the size of the window changes: places, and the order of the focus."""


@pytest.fixture(params=[(375, 700)], ids=["phone"])
def size(request):
    return request.param


@pytest.fixture
def begin(chromium, served, size):
    """Return a function that opens a window on a review; an error of the script or a wide page fails the test."""
    contexts, errors, client = [], [], []

    def start(queue=None, person="Ada", token=None):
        if not client:
            client.extend(served(queue, token=token))
        contexts.append(chromium.new_context(viewport=dict(zip(("width", "height"), size, strict=True))))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda one: errors.append(one.text) if "Content Security" in one.text else None)
        window = Window(page, client[1], person)
        window.review = client[0]
        return window

    yield start
    for context in contexts:
        assert context.pages[0].evaluate("document.documentElement.scrollWidth") <= size[0]
        context.close()
    assert errors == []


def verdicts(window):
    return [(one.reviewer, one.item, one.verdict) for one in window.review.store.verdicts()]


@SIZES
def test_keys_judge_and_the_next_item_follows(begin):
    window = begin()
    for number, key in enumerate("rmc"):
        window.shows(number)
        window.press(key)
    window.shows(3)
    assert verdicts(window) == [("Ada", "i0", "right"), ("Ada", "i1", "several"), ("Ada", "i2", "cannot tell")]
    progress = window.page.inner_text("#progress")
    assert progress.startswith("You judged 3; 3 of 40 clusters are judged; 1 of 3 right, so at least ")
    window.press("u")
    window.shows(2)
    assert len(verdicts(window)) == 2
    assert window.page.evaluate("document.activeElement.id") == "question"


@SIZES
def test_buttons_judge_and_marked_wordings_are_strays(begin):
    window = begin()
    window.shows(0)
    window.page.get_by_role("button", name="a stray: mark it").click()
    sync_api.expect(window.page.get_by_role("alert")).to_contain_text("Mark the strays first")
    window.page.get_by_label("Stray, wording 2").check()
    window.page.get_by_role("button", name="right").click()
    sync_api.expect(window.page.get_by_role("alert")).to_contain_text("Strays are marked")
    window.page.get_by_role("button", name="a stray: mark it").click()
    window.shows(1)
    window.press("3", "s")
    window.shows(2)
    assert [one.strays for one in window.review.store.verdicts()] == [("w0-1",), ("w1-2",)]


def test_a_note_is_typed_without_judging(begin):
    window = begin()
    window.shows(0)
    window.press("n")
    window.page.keyboard.type("more or less")
    window.press("Escape", "r")
    window.shows(1)
    [one] = window.review.store.verdicts()
    assert (one.verdict, one.note) == ("right", "more or less")
    assert window.page.input_value("#note") == ""


def test_an_undo_fills_in_note_and_strays_so_that_one_part_can_be_corrected(begin):
    window = begin()
    window.shows(0)
    window.press("2", "n")
    window.page.keyboard.type("two towns")
    window.press("Escape", "s")
    window.shows(1)
    window.press("1", "n")
    window.page.keyboard.type("not ready")
    window.page.get_by_role("button", name="undo").click()
    window.shows(0)
    undone = "Undone. Your verdict was “a stray: mark it”, with the marks and the note that you see. You judged 0;"
    sync_api.expect(window.page.get_by_role("status")).to_contain_text(undone)
    sync_api.expect(window.page.get_by_label("Stray, wording 2")).to_be_checked()
    sync_api.expect(window.page.get_by_label("Stray, wording 1")).not_to_be_checked()
    assert window.page.input_value("#note") == "two towns"
    window.press("2", "m")
    window.shows(1)
    sync_api.expect(window.page.get_by_role("status")).not_to_contain_text("Undone")
    sync_api.expect(window.page.get_by_label("Stray, wording 1")).to_be_checked()  # as it was left by the undo
    assert window.page.input_value("#note") == "not ready"
    window.press("1", "r")
    window.shows(2)
    assert window.page.input_value("#note") == ""
    assert window.page.locator("#lines :checked").count() == 0
    stored = [(one.verdict, one.strays, one.note) for one in window.review.store.verdicts()]
    assert stored == [("several", (), "two towns"), ("right", (), "not ready")]


def test_an_undo_without_a_response_undoes_one_verdict_when_it_is_pressed_again(begin):
    window = begin()
    for number in range(3):
        window.shows(number)
        window.press("r")
    window.shows(3)
    window.loses_responses("**/undo")
    window.press("u")
    sync_api.expect(window.page.get_by_role("alert")).to_contain_text("cannot be reached")
    window.press("u")
    window.shows(2)
    assert verdicts(window) == [("Ada", "i0", "right"), ("Ada", "i1", "right")]
    window.loses_responses("**/verdicts")
    window.press("m")
    sync_api.expect(window.page.get_by_role("alert")).to_contain_text("cannot be reached")
    assert len(verdicts(window)) == 3
    window.press("u")  # the verdict that was stored without a response
    window.shows(2)
    sync_api.expect(window.page.get_by_role("status")).to_contain_text("Undone. Your verdict was “several meanings”")
    assert verdicts(window) == [("Ada", "i0", "right"), ("Ada", "i1", "right")]
    window.press("u")
    window.shows(1)


def test_an_undo_of_an_item_that_another_window_shows_fills_in_nothing(begin):
    window = begin()
    window.shows(0)
    window.press("n")
    window.page.keyboard.type("two towns")
    window.press("Escape", "m")
    window.shows(1)
    assert window.review.store.claim("i0", session="b", reviewer="Bob")
    window.press("u")
    undone = "Undone. Another window shows that item. You judged 0"
    sync_api.expect(window.page.get_by_role("status")).to_contain_text(undone)
    window.shows(1)
    assert window.page.input_value("#note") == ""


def test_single_keys_can_be_switched_off_and_are_shown_only_while_they_are_on(begin):
    window = begin()
    window.shows(0)
    page, switch = window.page, window.page.get_by_role("checkbox", name="Judge by single keys")
    shown, named = page.locator("kbd").filter(visible=True), page.locator("[aria-keyshortcuts]")
    keys = ["1", "2", "?", "n", "r", "s", "m", "c"]
    assert shown.all_inner_texts() == keys
    assert named.evaluate_all("all => all.map((one) => one.ariaKeyShortcuts)") == [*keys, "u"]
    sync_api.expect(switch).to_be_checked()
    switch.press("Space")
    sync_api.expect(switch).not_to_be_checked()
    sync_api.expect(switch).to_have_accessible_description(re.compile("Switch this off for speech input"))
    page.locator("#question").focus()
    for _ in range(2):
        assert (shown.count(), named.count()) == (0, 0)
        window.press("1", "?", "n", "r")
        assert page.evaluate("document.activeElement.id") == "question"
        assert not page.is_visible("#rules li")
        page.get_by_role("button", name="a stray: mark it").click()
        sync_api.expect(page.get_by_role("alert")).to_have_text("Mark the strays first, at least one and not all.")
        page.reload()
        window.shows(0)
    assert not page.locator(".key").filter(visible=True).count()
    page.get_by_label("Stray, wording 2").check()
    page.get_by_role("button", name="right").click()
    sync_api.expect(page.get_by_role("alert")).to_contain_text("press “a stray: mark it”, or remove the marks")
    window.connected = False
    page.get_by_role("button", name="a stray: mark it").click()
    sync_api.expect(page.get_by_role("alert")).to_contain_text("Nothing is lost: press the same button again")
    window.connected = True
    page.get_by_role("button", name="a stray: mark it").click()
    window.shows(1)
    window.press("u")
    switch.check()
    window.press("m")
    window.shows(2)
    assert [one.verdict for one in window.review.store.verdicts()] == ["stray", "several"]


def test_single_keys_are_off_at_first_where_only_fingers_point(chromium, served):
    _, client = served()
    context = chromium.new_context(viewport={"width": 375, "height": 700}, is_mobile=True, has_touch=True)
    window = Window(context.new_page(), client, "Ada")
    window.shows(0)
    assert not window.page.locator("kbd").filter(visible=True).count()
    window.page.get_by_label("Judge by single keys").tap()
    window.page.reload()
    window.shows(0)
    assert window.page.locator("#verdicts kbd").filter(visible=True).all_inner_texts() == list("rsmc")
    context.close()


@pytest.mark.parametrize("kind", RULES)
def test_the_rules_of_the_queue_are_shown_on_request(begin, kind):
    window = begin(FakeQueue(3, kind=kind))
    window.shows(0)
    rules = window.page.locator("#rules li")
    sync_api.expect(rules.first).to_be_hidden()
    window.press("?")
    sync_api.expect(rules.first).to_be_visible()
    assert tuple(rules.all_inner_texts()) == tuple(RULES[kind])
    window.press("?")
    sync_api.expect(rules.first).to_be_hidden()
    window.page.locator("#rules summary").click()
    sync_api.expect(rules.last).to_be_visible()
    assert verdicts(window) == []


def test_two_people_at_once_get_different_items(begin):
    ada, bob = begin(FakeQueue(20)), begin(person="Bob")
    ada.shows(0)
    bob.shows(1)
    ada.press("r")
    ada.shows(2)
    bob.press("r")
    bob.shows(3)
    assert verdicts(ada) == [("Ada", "i0", "right"), ("Bob", "i1", "right")]


def test_a_lost_connection_loses_no_verdict(begin):
    window = begin()
    window.shows(0)
    window.connected = False
    window.press("m")
    sync_api.expect(window.page.get_by_role("alert")).to_contain_text("Nothing is lost: press the same key again")
    window.connected = True
    window.press("m")
    window.shows(1)
    assert verdicts(window) == [("Ada", "i0", "several")]


def test_the_page_names_a_wait_for_the_server_until_it_is_over(begin):
    window = begin()
    window.shows(0)
    status, held = window.page.get_by_role("status"), []
    progress = status.inner_text()
    window.page.route("**/verdicts", lambda route: held.append(route), times=1)
    window.press("r")
    sync_api.expect(status).to_have_text("Waiting for the server…")
    held.pop().abort()
    sync_api.expect(window.page.get_by_role("alert")).to_contain_text("cannot be reached")
    sync_api.expect(status).to_have_text(progress)
    window.page.route("**/next", lambda route: held.append(route), times=1)
    window.page.reload()
    sync_api.expect(status).to_have_text("Waiting for the server…")
    window._respond(held.pop())
    window.shows(0)
    sync_api.expect(status).to_have_text(progress)


def test_a_verdict_that_a_slow_server_stores_after_its_response_is_not_called_lost(begin):
    window = begin()
    window.shows(0)
    window.page.route("**/verdicts", lambda route: window._respond(route, status=504), times=1)
    window.press("r")
    slow = "The server is too slow. Nothing is lost: press the same key again."
    sync_api.expect(window.page.get_by_role("alert")).to_have_text(slow)
    window.press("r")
    window.shows(1)
    assert verdicts(window) == [("Ada", "i0", "right")]


def test_only_a_refused_verdict_is_called_not_stored(begin):
    window = begin()
    refuse = {"status": 503, "json": {"error": "no space"}}
    for address, key, begins in (("verdicts", "r", "Not stored"), ("undo", "u", "The server refused the request")):
        window.shows(0 if key == "r" else 1)
        window.page.route(f"**/{address}", lambda route: route.fulfill(**refuse), times=1)
        window.press(key)
        sync_api.expect(window.page.get_by_role("alert")).to_have_text(f"{begins}: no space.")
        window.press(key)
    window.shows(0)


def test_the_name_is_kept_while_the_server_cannot_be_reached(begin):
    window = begin()
    window.shows(0)
    html = window.client.get("/review").text
    window.page.route("**/review", lambda route: route.fulfill(body=html, content_type="text/html"))
    window.connected = False
    window.page.goto(ADDRESS)
    sync_api.expect(window.page.get_by_role("alert")).to_have_text("The server cannot be reached. Press Begin again.")
    window.connected = True
    window.page.get_by_role("button", name="Begin").click()  # another person would have to be named
    window.shows(0)
    window.press("r")
    window.shows(1)
    assert verdicts(window) == [("Ada", "i0", "right")]


def test_a_blank_name_is_reported(begin):
    window = begin(person="  ")
    assert window.page.locator("#reviewer:invalid").count() == 1
    window.page.keyboard.type("Ada")
    window.press("Enter")
    window.shows(0)


@SIZES
def test_the_focus_reaches_wordings_rules_and_note_before_the_verdicts(begin):
    window = begin()
    window.shows(0)
    assert window.page.get_by_role("list").first.get_by_role("listitem").count() == 2
    name = "(one => one.value || one.id || one.dataset.verdict || one.tagName)(document.activeElement)"
    order = []
    for _ in range(9):
        window.press("Tab")
        order.append(window.page.evaluate(name))
    assert order == ["w0-0", "w0-1", "SUMMARY", "note", "right", "stray", "several", "cannot tell", "on"]


def test_a_reload_shows_the_same_item_and_asks_for_no_name(begin):
    window = begin()
    window.shows(0)
    window.press("r")
    window.shows(1)
    window.page.reload()
    window.shows(1)
    assert not window.page.is_visible("#who")


def test_a_reload_keeps_note_and_strays_that_have_no_verdict_yet(begin):
    window = begin()
    window.shows(0)
    window.press("2", "n")
    window.page.keyboard.type("two towns")
    for _ in range(2):
        window.page.reload()
        window.shows(0)
        assert (window.page.input_value("#note"), window.page.is_checked("[value=w0-1]")) == ("two towns", True)
    window.press("s")
    window.shows(1)
    window.page.reload()
    window.shows(1)
    assert (window.page.input_value("#note"), window.page.locator("#lines :checked").count()) == ("", 0)
    window.press("u")
    window.shows(0)
    window.page.reload()
    window.shows(0)
    assert (window.page.input_value("#note"), window.page.is_checked("[value=w0-1]")) == ("two towns", True)
    window.press("2", "m")
    window.shows(1)
    assert [(one.verdict, one.strays, one.note) for one in window.review.store.verdicts()] == [
        ("several", (), "two towns")
    ]


def test_no_note_of_one_person_is_shown_to_another_after_a_reload(begin):
    window = begin()
    window.shows(0)
    window.press("2")
    refuse = {"status": 401, "json": {"error": "a bearer token is needed"}}
    window.page.route("**/next", lambda route: route.fulfill(**refuse), times=1)
    window.page.reload()
    window.page.get_by_label("Your name").fill("Bob")
    window.press("Enter")
    window.shows(0)
    for _ in range(2):
        assert window.page.locator("#lines :checked").count() == 0
        window.page.reload()
        window.shows(0)


def test_a_browser_that_blocks_the_data_of_sites_can_judge(begin):
    window = begin()
    window.page.add_init_script(NO_STORAGE)
    window.page.reload()
    window.page.get_by_label("Your name").fill("Ada")
    window.press("Enter")
    window.shows(1)  # it is another window to the server
    window.press("n")
    window.page.keyboard.type("two towns")
    window.press("Escape", "r")
    window.shows(2)
    assert [(one.item, one.note) for one in window.review.store.verdicts()] == [("i1", "two towns")]


def test_the_token_is_asked_for_and_kept(begin):
    window = begin(token=TOKEN)
    for wrong, message in (
        ("", "a bearer token is needed"),
        ("x" * 16, "the bearer token is wrong; use the content of"),
    ):
        window.page.get_by_label("This server needs a token").fill(wrong)
        window.press("Enter")
        sync_api.expect(window.page.get_by_role("alert")).to_contain_text(f"The server refused the request: {message}")
    window.page.get_by_label("This server needs a token").fill(TOKEN)
    window.press("Enter")
    window.shows(0)
    window.page.reload()
    window.shows(0)


def test_a_token_that_no_header_can_have_is_refused_and_another_one_can_be_given(begin):
    window = begin(token=TOKEN)
    sync_api.expect(window.page.get_by_role("alert")).to_contain_text("a bearer token is needed")
    for wrong in ("se\u2013cret", "sécret", "two words", " "):
        window.page.get_by_label("This server needs a token").fill(wrong)
        window.press("Enter")
        sync_api.expect(window.page.get_by_role("alert")).to_contain_text("A token has only letters")
        assert window.page.is_visible("#token")
        assert window.page.evaluate("sessionStorage.getItem('token')") is None
    window.page.get_by_label("This server needs a token").fill(f" {TOKEN} ")
    window.press("Enter")
    window.shows(0)


@pytest.mark.parametrize(("name", "note"), [("Ada", "two towns"), ("Bob", "")])
def test_a_note_is_kept_for_its_person_while_a_token_is_asked_for(begin, name, note):
    window = begin()
    window.shows(0)
    window.press("2", "n")
    window.page.keyboard.type("two towns")
    refuse = {"status": 401, "json": {"error": "a bearer token is needed"}}
    window.page.route("**/verdicts", lambda route: route.fulfill(**refuse), times=1)
    window.press("Escape", "s")
    window.page.get_by_label("This server needs a token").fill(TOKEN)
    window.page.get_by_label("Your name").fill(name)
    window.press("Enter")
    sync_api.expect(window.page.locator("#task")).to_be_visible()
    assert (window.page.input_value("#note"), window.page.is_checked("[value=w0-1]")) == (note, bool(note))


def test_a_token_that_is_given_during_a_request_is_used(begin):
    window = begin(token=TOKEN)
    sync_api.expect(window.page.get_by_role("alert")).to_contain_text("a bearer token is needed")
    window.page.evaluate("""() => {
        const fetched = window.fetch;
        window.fetch = async (...request) => {
            window.fetch = fetched;
            await new Promise((done) => setTimeout(done, 1000));
            return fetched(...request);
        };
    }""")
    window.press("Enter")
    window.page.get_by_label("This server needs a token").fill(TOKEN)
    window.press("Enter")
    window.shows(0)


@SIZES
def test_everything_has_a_name_for_a_screen_reader(begin):
    window = begin()
    window.shows(0)
    for role, name in (
        ("heading", "Do all these questions ask the same?"),
        ("group", "Verdict"),
        ("textbox", "Note"),
        ("checkbox", "Stray, wording 1: wording 0 of 0"),
        ("button", "cannot tell"),
    ):
        assert window.page.get_by_role(role, name=name).count() == 1, name
    assert window.page.get_attribute("html", "lang") == "en"
    boxes = window.page.locator("#verdicts button").evaluate_all("all => all.map(one => one.offsetHeight)")
    assert min(boxes) >= 44


def test_the_end_is_shown(begin):
    window = begin(FakeQueue(2))
    for number in range(2):
        window.shows(number)
        window.press("r")
    sync_api.expect(window.page.locator("#done")).to_be_visible()
    assert not window.page.is_visible("#task")


@SIZES
def test_texts_are_text(begin):
    queue = FakeQueue(3)
    line = queue.items[0].lines[0]._replace(text="<img src=x onerror=alert(1)> wording 0 of 0" + "x" * 9_000)
    queue.items[0] = queue.items[0]._replace(lines=(line, *queue.items[0].lines[1:]), answer="<b>bold</b>")
    window = begin(queue)
    window.shows(0)
    assert window.page.inner_text("#answer") == "<b>bold</b>"
    assert window.page.locator("#lines img").count() == 0
    sync_api.expect(window.page.locator("#lines input").first).to_be_in_viewport()


def test_the_values_of_a_request_are_shown(begin):
    queue = FakeQueue(2, kind="requests")
    queue.items[0] = queue.items[0]._replace(filters={"locale": "de", "tenant": "<b>acme"})
    window = begin(queue)
    window.shows(0)
    sync_api.expect(window.page.locator("#filters")).to_have_text("locale: de, tenant: <b>acme")
    window.press("r")
    window.shows(1)
    sync_api.expect(window.page.locator("#filters")).to_be_hidden()


@SIZES
def test_an_answer_has_its_lines(begin):
    queue = FakeQueue(1)
    queue.items[0] = queue.items[0]._replace(answer="1. Open Payments.\n2. Press Pay.")
    window = begin(queue)
    window.shows(0)
    assert window.page.inner_text("#answer") == "1. Open Payments.\n2. Press Pay."


def test_escape_of_an_input_method_does_not_leave_the_note(begin):
    window = begin()
    window.shows(0)
    window.press("n")
    composed = {"text": "か", "selectionStart": 1, "selectionEnd": 1}
    window.page.context.new_cdp_session(window.page).send("Input.imeSetComposition", composed)
    window.press("Escape")
    assert window.page.evaluate("document.activeElement.id") == "note"


def long_queue():
    """Return a queue of items with 30 wordings."""
    queue = FakeQueue(3)
    for place, item in enumerate(queue.items):
        line = item.lines[0]
        lines = [line._replace(name=f"w{place}-{number}", text=f"wording {number} of {place}") for number in range(30)]
        queue.items[place] = item._replace(lines=tuple(lines), size=30)
    queue.source = queue.source._replace(questions=90, largest=30)
    return queue


@SIZES
def test_a_message_is_seen_at_the_end_of_a_long_cluster(begin):
    window = begin(long_queue())
    window.shows(0)
    window.page.evaluate("scrollTo(0, 99999)")
    window.press("s")
    sync_api.expect(window.page.get_by_role("alert")).to_contain_text("Mark the strays first")
    sync_api.expect(window.page.get_by_role("alert")).to_be_in_viewport(ratio=1)


def test_a_lost_connection_leaves_the_focus_on_the_button(begin):
    window = begin()
    window.shows(0)
    window.connected = False
    button = window.page.get_by_role("button", name="several meanings")
    button.focus()
    window.press("Enter")
    sync_api.expect(window.page.get_by_role("alert")).to_contain_text("press the same key again")
    sync_api.expect(button).to_be_focused()
    window.connected = True
    window.press("Enter")
    window.shows(1)
    assert verdicts(window) == [("Ada", "i0", "several")]


@SIZES
def test_a_double_click_judges_one_item(begin):
    window = begin(long_queue())  # its buttons stay at their place
    window.shows(0)
    box = window.page.get_by_role("button", name="right").bounding_box()
    window.page.mouse.move(box["x"] + 5, box["y"] + 5)
    for number in (1, 2):
        window.page.mouse.down(click_count=number)
        window.page.mouse.up(click_count=number)
        window.shows(1)
    window.press("m")
    window.shows(2)
    assert [item for _, item, _ in verdicts(window)] == ["i0", "i1"]
    assert verdicts(window)[1][2] == "several"


def test_a_second_key_or_tap_does_not_judge_an_item_that_nobody_has_read(begin):
    window = begin()
    window.shows(0)
    window.page.evaluate("performance.now = () => 5000")
    window.press("r")
    window.shows(1)
    window.page.evaluate("performance.now = () => 5299")
    window.press("r")
    window.page.get_by_role("button", name="right").click()
    window.page.evaluate("performance.now = () => 5300")
    window.press("m")
    window.shows(2)
    assert verdicts(window) == [("Ada", "i0", "right"), ("Ada", "i1", "several")]
    window.press("u")
    window.shows(1)
    window.press("c")  # an item that is shown again has been read
    window.shows(2)
    assert verdicts(window) == [("Ada", "i0", "right"), ("Ada", "i1", "cannot tell")]


def test_the_end_has_the_focus(begin):
    window = begin(FakeQueue(1))
    window.shows(0)
    window.press("r")
    sync_api.expect(window.page.locator("#done")).to_be_focused()


@pytest.mark.parametrize("size", [(320, 568), (320, 256), (375, 700), (640, 360), (1280, 700)], indirect=True)
def test_no_box_with_the_focus_is_behind_the_verdicts(begin):
    window = begin(long_queue())
    window.shows(0)
    on_top = """() => {
        const box = document.activeElement.getBoundingClientRect();
        return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === document.activeElement;
    }"""
    for _ in range(30):
        window.press("Tab")
        assert window.page.evaluate(on_top)


def test_a_copy_of_the_window_adds_no_second_verdict(begin):
    window = begin()
    window.shows(0)
    kept = window.page.evaluate("({ ...sessionStorage })")
    copied = begin()  # browsers copy the storage of a window that is duplicated
    copied.page.evaluate("kept => Object.assign(sessionStorage, kept)", kept)
    copied.page.reload()
    copied.shows(0)
    window.press("r")
    window.shows(2)
    copied.press("m")
    copied.shows(2)
    sync_api.expect(copied.page.get_by_role("alert")).to_contain_text("was stored before: u undoes it")
    assert verdicts(window) == [("Ada", "i0", "right")]
    copied.press("r")
    copied.shows(3)
    assert not copied.page.is_visible("#fault")


def test_the_end_does_not_count_an_item_that_another_window_shows(begin):
    queue = FakeQueue(1)
    ada, bob = begin(queue), begin(person="Bob")
    ada.shows(0)
    sync_api.expect(bob.page.locator("#done")).to_contain_text("other windows show 1 item without a verdict")
    ada.press("r")
    sync_api.expect(ada.page.locator("#done")).to_have_text("Nothing is left for you: every item has a verdict.")


@SIZES
def test_keys_that_mark_are_shown_and_move_the_focus_to_the_box(begin):
    window = begin(long_queue())
    window.shows(0)
    assert window.page.locator("#lines kbd").all_inner_texts() == list("123456789")
    window.press("9")
    box = window.page.get_by_role("checkbox", name="Stray, wording 9:")
    sync_api.expect(box).to_be_checked()
    sync_api.expect(box).to_be_focused()
    sync_api.expect(box).to_be_in_viewport()
    assert box.get_attribute("aria-keyshortcuts") == "9"
    window.press("9", "2", "s")
    window.shows(1)
    assert [one.strays for one in window.review.store.verdicts()] == [("w0-1",)]
