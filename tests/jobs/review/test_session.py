import collections
import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from jobs.review import store
from jobs.review.database.connection import Verdict, select_verdicts
from jobs.review.opinions import is_shared, opinions, outcome
from jobs.review.people import person_key
from schemas.errors import QprError


def judge(review, reviewer, verdict="right", session=None, **more):
    """Judge the next item and return it; None if there is none."""
    task = review.next_task(reviewer, session or reviewer)
    if task is not None:
        review.judge(task.item.name, verdict, reviewer=reviewer, **more)
    return task and task.item


def state(review, item):
    return outcome(opinions(review.store.verdicts())[item.name], shared=is_shared(item.name, 0))


def test_items_come_in_their_order_and_a_shown_one_stays(make_review):
    review = make_review()
    assert review.next_task("Ada", "s1").item.name == "i0"
    assert review.next_task("Ada", "s1").item.name == "i0"
    assert [judge(review, "Ada", session="s1").name for _ in range(9)] == [f"i{place}" for place in range(9)]


def test_an_item_of_no_queue_has_an_advice(make_review):
    review = make_review()
    review.store.claim("i999", session="s1", reviewer="Ada")
    with pytest.raises(QprError, match=r"i999, which is no item of this queue\. Restore a copy, or judge in another"):
        review.next_task("Ada", "s1")


def test_two_browsers_never_show_the_same_new_item(make_review):
    one, other = make_review(), make_review()
    seen = collections.Counter()
    for _ in range(10):
        tasks = one.next_task("Ada", "a"), other.next_task("Bob", "b")
        seen.update(task.item.name for task in tasks)
        assert tasks[0].item.name != tasks[1].item.name
        one.judge(tasks[0].item.name, "right", reviewer="Ada")
        other.judge(tasks[1].item.name, "right", reviewer="Bob")
    new = [name for name in seen if not is_shared(name, 0)]
    assert all(seen[name] == 1 for name in new)
    assert len(new) >= 15


def test_a_wrong_one_goes_to_a_second_person_and_not_to_the_first(make_review):
    review = make_review()
    item = judge(review, "Ada", "several")
    names = [judge(review, "Bob").name for _ in range(12)]
    assert item.name in names
    assert state(review, item).waits  # they differ, so a third person decides
    assert item.name in [judge(review, "Eve").name for _ in range(12)]
    assert state(review, item) == ("right", False)
    assert item.name not in [judge(review, "Zoe").name for _ in range(8)]


def test_one_person_alone_gets_everything_and_some_of_it_twice(make_review, make_queue):
    review = make_review(make_queue(300))
    seen = collections.Counter()
    while (item := judge(review, "Ada")) is not None:
        seen[item.name] += 1
    assert set(seen) == {f"i{place}" for place in range(300)}
    assert 6 <= sum(number > 1 for number in seen.values()) <= 30
    assert max(seen.values()) == 2


def test_an_item_that_is_judged_while_the_next_one_is_chosen_is_not_shown_as_new(make_review, monkeypatch):
    ada, bob = make_review(), make_review()
    assert bob.next_task("Bob", "b").item.name == "i0"
    read = ada.store.verdicts

    def read_before_a_verdict():
        verdicts = read()
        bob.judge("i0", "right", reviewer="Bob")
        return verdicts

    monkeypatch.setattr(ada.store, "verdicts", read_before_a_verdict)
    assert ada.next_task("Ada", "a").item.name == "i1"


def test_an_item_that_is_judged_after_it_was_chosen_is_not_shown_as_new(make_review, monkeypatch):
    ada, bob = make_review(), make_review()
    claim = ada.store.claim

    def claim_after_a_verdict(*given, **named):
        monkeypatch.setattr(ada.store, "claim", claim)
        assert judge(bob, "Bob").name == "i0"
        return claim(*given, **named)

    monkeypatch.setattr(ada.store, "claim", claim_after_a_verdict)
    assert ada.next_task("Ada", "a").item.name == "i1"


def test_a_repeat_comes_after_ten_other_verdicts_whatever_the_clock(make_review, make_queue, monkeypatch):
    review, clock = make_review(make_queue(100)), itertools.count(10**6, -1)
    monkeypatch.setattr(store, "now", lambda: f"2026-11-01T{next(clock)}")
    names = []
    while (item := judge(review, "Ada")) is not None:
        assert item.name not in names[-10:]
        names.append(item.name)
    assert len(names) > 100


def test_a_repeat_comes_after_ten_other_verdicts_of_which_some_are_merged(make_review, make_queue):
    review, elsewhere = make_review(make_queue(150)), make_review(make_queue(150), "other.db")
    for place in range(120, 140):
        elsewhere.judge(f"i{place}", "right", reviewer="Ada")
    names = []
    while (item := judge(review, "Ada")) is not None:
        assert item.name not in names[-10:]
        names.append(item.name)
        if len(names) % 5 == 0 and len(names) <= 100:
            given = list(elsewhere.store.verdicts())[: len(names) // 5]
            items = {one.item: review.queue.item(int(one.item[1:])) for one in given}
            review.store.merge(given, items, {})


def test_a_repeat_that_one_session_shows_is_not_offered_to_another(make_review, make_queue, monkeypatch):
    review, shown = make_review(make_queue(100)), None
    seen = set()
    while shown is None or shown.name not in seen:
        if shown is not None:
            seen.add(shown.name)
            review.judge(shown.name, "right", reviewer="Ada")
        shown = review.next_task("Ada", "one").item
    claims, claim = [], review.store.claim
    monkeypatch.setattr(review.store, "claim", lambda name, **more: claims.append(name) or claim(name, **more))
    other = review.next_task("Ada", "another").item
    assert other.name != shown.name
    assert claims == [other.name]


def test_undo_shows_the_item_again(make_review):
    review = make_review()
    judge(review, "Ada")
    item = judge(review, "Ada", "several")
    assert review.undo("Ada", "Ada").item == item.name
    assert review.next_task("Ada", "Ada").item.name == item.name
    assert review.progress("Ada").mine == 1
    assert review.undo("Ada", "Ada") is not None
    assert review.undo("Ada", "Ada") is None


def test_another_process_goes_on_where_the_first_stopped(make_review):
    judge(make_review(), "Ada")
    judge(make_review(), "Ada")
    assert make_review().next_task("Ada", "new").item.name == "i2"


def test_the_same_verdict_sent_twice_counts_once(make_review):
    review = make_review()
    for _ in range(2):
        review.judge("i0", "right", reviewer="Ada", verdict_id="v1")
    assert review.progress("Ada").mine == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"item": "i999"}, "no item of this queue"),
        ({"verdict": "wrong"}, "none of right, stray"),
        ({"verdict": "stray"}, "mark at least one"),
        ({"strays": ["w0-0"]}, "only with it"),
        ({"verdict": "stray", "strays": ["w0-0", "w0-1"]}, "not all of them"),
        ({"verdict": "stray", "strays": ["w7-0"]}, "stray 'w7-0' is no wording of i0. Leave it out"),
        ({"note": "x" * 2001}, "2,000 characters"),
        ({"reviewer": " "}, "the name is blank"),
        ({"reviewer": "\u200b"}, "the name is blank"),
        ({"reviewer": "x" * 61}, "more than 60 characters"),
        ({"reviewer": "A\0da"}, "control characters"),
    ],
)
def test_a_verdict_that_does_not_fit_is_refused(make_review, given, words):
    review = make_review()
    arguments = {"item": "i0", "verdict": "right", "reviewer": "Ada", **given}
    with pytest.raises(QprError, match=words):
        review.judge(arguments.pop("item"), arguments.pop("verdict"), **arguments)
    assert review.progress("Ada").judged == 0


NAMES = ["Zo\u00eb Stra\u00dfe", " Zoe\u0308  Stra\u00dfe", "ZO\u00cb STRASSE ", "zo\u00eb\u200b stra\u00dfe"]
"""One name in several spellings."""


def test_spellings_of_a_name_are_one_person(make_review):
    review = make_review()
    for number, name in enumerate(NAMES * 3):
        assert review.next_task(name, "s").item.name == f"i{number}"
        review.judge(f"i{number}", "several", reviewer=name)
    assert {verdict.reviewer for verdict in review.store.verdicts()} == {NAMES[0]}
    assert [review.progress(name).mine for name in NAMES] == [12] * 4
    assert review.undo(NAMES[2], "s").item == "i11"
    assert review.next_task(NAMES[1], "s").item.name == "i11"


@pytest.mark.parametrize("name", [*NAMES, "Zoe\u200b\u0308 Stra\u00dfe", "Zo\u00eb Stras\u00adse"])
def test_an_invisible_character_before_an_accent_makes_no_second_person(name):
    assert person_key(name) == person_key(NAMES[0])


@pytest.mark.parametrize("number", [None, 1])
def test_a_verdict_is_stored_after_at_most_one_look_at_the_others(make_review, monkeypatch, number):
    review = make_review()
    looks = []
    monkeypatch.setattr(store, "select_verdicts", lambda *given: looks.append(given) or select_verdicts(*given))
    assert review.judge("i0", "right", reviewer="Ada", number=number)
    assert len(looks) == (number is not None)


def test_spellings_that_two_processes_stored_at_once_are_one_person(make_review):
    review = make_review()
    items = {item.name: item for item in review.queue.items}
    for name, place, person in (("v1", 0, "ada "), ("v2", 1, "Ada"), ("v3", 0, "ADA")):
        review.store.add([Verdict(name, f"i{place}", person, "several", judged_at=f"2026-11-0{name[1]}")], items)
    assert [verdict.reviewer for verdict in review.store.verdicts()] == ["ada"] * 3
    assert review.progress("Ada").waiting == 2
    assert review.next_task("AdA", "s").item.name == "i2"


def test_a_note_has_no_character_that_a_format_cannot_hold(make_review):
    review = make_review()
    review.judge("i0", "right", reviewer="Ada", note="a\0b\r\nc\rd\te\x1b[2J \udcff \U0001f600")
    assert [verdict.note for verdict in review.store.verdicts()] == ["ab\nc\nd\te[2J \ufffd \U0001f600"]


def test_an_item_that_was_judged_since_it_was_shown_gets_no_second_verdict(make_review, make_queue):
    review = make_review(make_queue(300))
    shown = review.next_task("Ada", "s1")

    def is_stored(task, reviewer="ADA", verdict_id="v1"):
        name, number = task.item.name, task.number
        return review.judge(name, "right", reviewer=reviewer, verdict_id=verdict_id, number=number)

    assert is_stored(shown, verdict_id="v0")
    assert not is_stored(shown)
    assert is_stored(shown, verdict_id="v0")  # the same one sent twice
    assert is_stored(shown, reviewer="Bob", verdict_id="v2")
    assert [verdict.verdict_id for verdict in review.store.verdicts()] == ["v0", "v2"]
    seen = {"i0"}
    while (task := review.next_task("Ada", "s1")).item.name not in seen:
        review.judge(task.item.name, "right", reviewer="Ada")
        seen.add(task.item.name)
    assert is_stored(task, verdict_id="v3")  # a hidden repeat


def test_copies_of_a_window_at_the_same_moment_store_one_verdict(make_review):
    reviews = [make_review() for _ in range(4)]
    shown = reviews[0].next_task("Ada", "s0")
    start = threading.Barrier(len(reviews))

    def judge(place):
        start.wait()
        return reviews[place].judge(shown.item.name, "right", reviewer="Ada", verdict_id=f"v{place}", number=1)

    with ThreadPoolExecutor(len(reviews)) as pool:
        assert sum(pool.map(judge, range(len(reviews)))) == 1
    assert len(reviews[0].store.verdicts()) == 1
