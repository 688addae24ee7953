import concurrent.futures
import uuid

import pytest

from tests.support.fake_queue import FakeQueue


def post(client, path, person="Ada", session=None, **more):
    return client.post(f"/review/{path}", json={"reviewer": person, "session": session or person, **more})


def judge(client, item, verdict="right", person="Ada", verdict_id=None, **more):
    named = {"item": item, "verdict": verdict, "verdict_id": verdict_id or uuid.uuid4().hex}
    return post(client, "verdicts", person, **named, **more)


def test_an_item_has_no_split_score_or_earlier_verdict(served):
    review, client = served()
    judge(client, "i0", "several")
    document = post(client, "next", "Bob").json()["task"]
    assert set(document) == {"item", "number", "answer", "lines", "filters"}
    assert set(document["lines"][0]) == {"name", "text", "events"}
    assert review.progress("Bob").judged == 1


def test_a_verdict_is_stored_and_the_next_item_follows(served):
    review, client = served()
    first = post(client, "next").json()
    assert (first["task"]["item"], first["progress"]["mine"]) == ("i0", 0)
    found = judge(client, "i0", "stray", strays=["w0-1"], note="odd")
    assert (found.status_code, found.json()["task"]["item"], found.json()["progress"]["judged"]) == (200, "i1", 1)
    [stored] = review.store.verdicts()
    assert (stored.reviewer, stored.verdict, stored.strays, stored.note) == ("Ada", "stray", ("w0-1",), "odd")


def test_a_verdict_that_is_sent_again_after_a_lost_response_counts_once(served):
    review, client = served()
    name = uuid.uuid4().hex
    assert judge(client, "i0", verdict_id=name).json() == judge(client, "i0", verdict_id=name).json()
    assert review.progress("Ada").mine == 1


def test_undo_shows_the_item_again(served):
    _, client = served()
    assert post(client, "undo").json()["undone"] is False
    judge(client, "i0")
    found = post(client, "undo").json()
    assert (found["undone"], found["task"]["item"], found["progress"]["mine"]) == (True, "i0", 0)


def test_undo_returns_the_undone_verdict_and_no_other_response_has_it(served):
    _, client = served()
    judged = judge(client, "i0", "stray", strays=["w0-1"], note="odd").json()
    found = post(client, "undo").json()
    assert found["before"] == {"item": "i0", "verdict": "stray", "strays": ["w0-1"], "note": "odd"}
    assert post(client, "undo").json()["before"] is None
    assert "before" not in judged | post(client, "next").json()


def test_an_undo_that_is_sent_again_after_a_lost_response_undoes_no_second_verdict(served):
    review, client = served()
    assert post(client, "next").json()["progress"]["last"] is None
    judge(client, "i0", "several")
    last = judge(client, "i1").json()["progress"]["last"]
    found = post(client, "undo", verdict_id=last).json()
    assert post(client, "undo", verdict_id=last).json() == found
    assert (found["before"]["item"], found["task"]["item"], found["progress"]["mine"]) == ("i1", "i1", 1)
    [kept] = review.store.verdicts()
    assert found["progress"]["last"] == kept.verdict_id
    assert post(client, "undo", verdict_id=kept.verdict_id).json()["before"]["verdict"] == "several"


def test_an_undo_in_one_of_two_browsers_of_a_person_undoes_the_verdict_that_it_showed_last(served):
    review, client = served()
    items = [post(client, "next", session=session).json()["task"]["item"] for session in "ab"]
    last = judge(client, items[0], session="a").json()["progress"]["last"]
    judge(client, items[1], session="b")
    found = post(client, "undo", session="a", verdict_id=last).json()
    assert (found["before"]["item"], found["task"]["item"]) == (items[0], items[0])
    assert [one.item for one in review.store.verdicts()] == [items[1]]
    for person, name in (("Bob", last), ("Ada", "other")):
        assert post(client, "undo", person, verdict_id=name).json()["undone"] is False


def test_many_browsers_at_once_lose_no_verdict(served):
    review, client = served(FakeQueue(120))

    def work(person):
        for _ in range(12):
            task = post(client, "next", person).json()["task"]
            assert judge(client, task["item"], person=person).status_code == 200

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(work, [f"person {number}" for number in range(6)]))
    assert len(review.store.verdicts()) == 72
    assert review.progress("x").judged >= 50  # others are repeats and second opinions


def test_at_the_end_there_is_no_item(served):
    _, client = served(FakeQueue(2))
    for item in ("i0", "i1"):
        found = judge(client, item)
    assert found.json()["task"] is None


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"item": "i99", "verdict": "right"}, 422, "no item of this queue: the server was started again on another"),
        ({"item": "i0", "verdict": "wrong"}, 422, "none of right, stray"),
        ({"item": "i0", "verdict": "stray"}, 422, "mark at least one"),
        ({"item": "i0", "verdict": "right", "note": "x" * 2001}, 422, "note"),
        ({"item": "i0", "verdict": "right", "verdict_id": "short"}, 422, "verdict_id"),
        ({"item": "i0", "verdict": "right", "more": 1}, 422, "more"),
        ({"item": "i0", "verdict": "right", "reviewer": " "}, 422, "reviewer"),
        ({"item": "i0", "verdict": "right", "strays": ["x"] * 10_001}, 422, "strays"),
    ],
    ids=["item", "verdict", "unmarked", "note", "id", "key", "person", "strays"],
)
def test_a_verdict_that_does_not_fit_is_refused(served, body, status, words):
    review, client = served()
    response = client.post(
        "/review/verdicts", json={"reviewer": "Ada", "session": "s", "verdict_id": uuid.uuid4().hex, **body}
    )
    assert (response.status_code, words in response.json()["error"]) == (status, True), response.json()
    assert review.store.verdicts() == []


def test_a_database_that_cannot_be_written_is_reported_and_nothing_else_shows(served):
    review, client = served()
    review.store.__exit__()
    response = judge(client, "i0")
    assert response.status_code in (422, 500)
    assert "Traceback" not in response.text


def test_pages_of_other_sites_cannot_judge(served):
    review, client = served()
    form = client.post("/review/verdicts", data={"item": "i0"})
    foreign = client.post("/review/next", json={}, headers={"Origin": "http://evil.example"})
    name = client.post("/review/next", json={}, headers={"Host": "evil.example"})
    large = client.post("/review/verdicts", content=b"{" + b" " * 300_000, headers={"Content-Type": "application/json"})
    assert [response.status_code for response in (form, foreign, name, large)] == [415, 403, 421, 413]
    assert review.store.verdicts() == []


def test_with_a_token_only_the_empty_page_is_open(served):
    _, client = served(token="0123456789abcdef")
    page = client.get("/review")
    assert page.status_code == 200
    assert "wording" not in page.text.replace("wordings", "").replace("wording $", "")
    assert post(client, "next").status_code == 401
    client.headers["Authorization"] = "Bearer 0123456789abcdef"
    assert post(client, "next").status_code == 200


def test_the_page_permits_its_own_script_only(served):
    _, client = served(reviewer="<b>Ada")
    response = client.get("/review")
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert 'value="&lt;b&gt;Ada"' in response.text
    assert client.get("/").headers["location"] == "/review"
    assert client.get("/healthz").json() == {"alive": True}
    assert client.get("/openapi.json").status_code == 404
