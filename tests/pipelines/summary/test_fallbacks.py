import collections
import itertools
import math
import random

import pyarrow as pa
import pytest

from pipelines.intermediate import MEMBERS
from pipelines.questions.aggregation import token_ids
from pipelines.questions.token_frequencies import TokenWeights, count_tokens
from pipelines.summary.fallbacks import (
    FEWEST_BY_TEXT,
    FEWEST_OF_ALL,
    FEWEST_QUESTIONS,
    broad_answers,
    fallbacks,
    idle_answers,
    likeness_ratio,
    warnings,
)
from pipelines.writing.reported import BroadAnswer
from schemas.tables import with_nulls
from schemas.text import hash64, tokens

TOPICS = ["card lost", "pin wrong", "fee charged", "rate low", "loan open", "bill pay"]
FILLER = [f"word{n}" for n in range(40)]


def asked(number, topic, randomness):
    return " ".join([*topic.split(), *randomness.sample(FILLER, 4), f"n{number}"])


def log(*, per_topic=60, fallback=60, events=1):
    """Return (question, answer, events): topics with their own words, and a fallback over all topics."""
    randomness = random.Random(0)
    rows = [(asked(n, t, randomness), t, 1) for t in TOPICS for n in range(per_topic)]
    return rows + [(asked(1_000 + n, randomness.choice(TOPICS), randomness), "Sorry", events) for n in range(fallback)]


def members(rows):
    lists = token_ids(pa.array([question for question, *_ in rows], pa.string()))
    known = {
        "answer_id": pa.array([hash64(answer) for _, answer, _ in rows]),
        "question_id": pa.array([hash64(question) for question, *_ in rows]),
        "text": pa.array([question for question, *_ in rows]),
        "answer": pa.array([answer for _, answer, _ in rows]),
        "events": pa.array([events for *_, events in rows]),
        "token_ids": lists,
    }
    table = with_nulls(MEMBERS, known)
    return table, count_tokens(lists)


def naive_ratio(inside, every):
    """Mean over all pairs of the squared weights of common words: pairs inside, over pairs of one in and one out."""
    frequency = collections.Counter(word for text in every for word in tokens(text))
    weight = {word: math.log1p(max(len(every), 1_000) / n) ** 2 for word, n in frequency.items()}

    def alike(one, two):
        return sum(weight[word] for word in set(tokens(one)) & set(tokens(two)))

    outside = [text for text in every if text not in inside]
    within = [alike(*pair) for pair in itertools.combinations(inside, 2)]
    across = [alike(*pair) for pair in itertools.product(inside, outside)]
    return (sum(within) / len(within)) / (sum(across) / len(across))


@pytest.mark.parametrize("answer", ["Sorry", "card lost"])
def test_the_ratio_is_that_of_all_pairs(answer):
    rows = log(per_topic=10, fallback=10)
    table, weights = members(rows)
    inside = [question for question, given, _ in rows if given == answer]
    chosen = table.filter(pa.compute.equal(table["answer"], answer))["token_ids"].combine_chunks()
    expected = naive_ratio(inside, [question for question, *_ in rows])
    assert likeness_ratio(chosen, weights) == pytest.approx(expected)


def test_a_fallback_is_found_and_a_topic_is_not_in_whatever_order_the_rows_come():
    rows = log(events=3)
    table, weights = members(rows)
    expected = [BroadAnswer("Sorry", 180, 60)]
    assert broad_answers(table, weights) == expected
    order = list(range(len(rows)))
    random.Random(1).shuffle(order)
    assert broad_answers(table.take(pa.array(order)), weights) == expected


def test_few_questions_are_no_sign():
    assert broad_answers(*members(log(fallback=FEWEST_QUESTIONS - 1))) == []
    assert len(broad_answers(*members(log(fallback=FEWEST_QUESTIONS)))) == 1


def test_few_questions_are_a_sign_with_an_apology():
    rows = [
        (question, "I didn't understand that." if answer == "Sorry" else answer, events)
        for question, answer, events in log(fallback=FEWEST_BY_TEXT)
    ]
    found = broad_answers(*members(rows))
    assert found == [BroadAnswer("I didn't understand that.", 5, 5)]
    [told] = warnings(found, rows=50)
    assert told.startswith(
        'one answer holds 10.0 % of the rows and 5 questions: "I didn\'t understand that.". It reads'
    )
    assert broad_answers(*members(rows[:-1])) == []


def test_a_placeholder_of_few_questions_is_reported():
    rows = [(question, "N/A" if answer == "Sorry" else answer, 1) for question, answer, _ in log(fallback=5)]
    found = broad_answers(*members(rows))
    assert found == [BroadAnswer("N/A", 5, 5)] == fallbacks(found, rows=1_000)
    [sentence] = warnings(found, rows=1_000)
    assert sentence.endswith("It stands for a missing answer. If nobody should get it, add --ignore-answer N/A")


@pytest.mark.parametrize(("replaced", "is_reported"), [("Sorry", True), ("card lost", False)])
def test_a_hand_over_is_reported_if_its_questions_are_unlike(replaced, is_reported):
    answer = "I will connect you with a colleague."
    rows = [(question, answer if given == replaced else given, 1) for question, given, _ in log(fallback=20)]
    found = [broad for broad in broad_answers(*members(rows)) if broad.answer == answer]
    assert found == ([BroadAnswer(answer, 20, 20)] if is_reported else []) == fallbacks(found, rows=4_000)
    for sentence in warnings(found, rows=4_000):
        assert sentence.startswith("one answer holds 0.5 % of the rows and 20 unlike questions")
        assert "hand-over. If it was given to different ones, add --ignore-answer 'I will" in sentence


def test_an_answer_of_nearly_all_questions_is_reported_unless_the_user_decided():
    table, weights = members([row for row in log() if row[1] == "card lost"])
    found = broad_answers(table, weights)
    assert found == [BroadAnswer("card lost", 60, 60, only=True)]
    assert likeness_ratio(table["token_ids"].combine_chunks(), TokenWeights(*weights.__dict__.values())) == math.inf
    [told] = warnings(found, rows=60)
    assert "'card lost'. There is nothing to compare" in told
    assert told.endswith("--answers intent")
    assert warnings(found, rows=60, undecided=False) == []
    assert broad_answers(*members([row for row in log(per_topic=FEWEST_OF_ALL - 1) if row[1] == "card lost"])) == []


def test_an_answer_of_most_questions_that_are_unlike_looks_like_a_fallback():
    [found] = broad_answers(*members(log(per_topic=10, fallback=1_200)))
    assert (found.answer, found.only) == ("Sorry", False)


def test_votes_count_as_rows_and_not_as_questions():
    table, weights = members(log())
    vote = pa.table({f.name: pa.nulls(1, f.type) for f in MEMBERS}).to_pylist()[0]
    vote |= {"answer_id": hash64("Sorry"), "answer": "SORRY", "events": 100}
    voted = pa.concat_tables([table, pa.Table.from_pylist([vote], schema=MEMBERS)])
    assert broad_answers(voted, weights) == [BroadAnswer("SORRY", 160, 60)]  # the most frequent form


def test_from_a_twentieth_of_the_rows_it_is_worth_a_warning():
    answers = [
        BroadAnswer("rare", 49, 700),
        BroadAnswer("b", 50, 700),
        BroadAnswer("a", 50, 700),
        BroadAnswer("c", 90, 9),
    ]
    assert [answer.answer for answer in fallbacks(answers, rows=1_000)] == ["c", "a", "b"]


def test_the_warning_names_the_option_that_ignores_the_answer():
    [told] = warnings([BroadAnswer("Sorry, I don't\nknow", 50, 700)], rows=1_000)
    assert told.startswith(
        'one answer holds 5.0 % of the rows and 700 questions: "Sorry, I don\'t know". It reads like a'
    )
    assert told.endswith("""If it is one, add --ignore-answer 'Sorry, I don'"'"'t know'""")
    [long] = warnings([BroadAnswer("x" * 201, 50, 1)], rows=1_000)
    assert "1 unlike question: '" + "x" * 60 + "…'." in long
    assert long.endswith("--ignore-answer @FILE")


@pytest.mark.parametrize(
    ("ignored", "rejected", "message"),
    [
        ([], 0, None),
        (["Sorry."], 3, None),
        (["Sorry."], 0, "the answer or answer id 'Sorry.'. An answer is compared whole"),
        (["a", "b", "c"], 0, "the answer or answer id 'a' and 2 others. An"),
    ],
)
def test_answers_to_ignore_that_no_row_has_are_reported(ignored, rejected, message):
    found = idle_answers(ignored, {"ignored_answer_0": rejected} if rejected else {})
    assert (message in found[0]) if message else found == []


def test_each_answer_to_ignore_without_a_row_is_named_if_others_have_rows():
    [found] = idle_answers(["Sorry.", "Sory.", "sorry.", "Hm\n?"], {"ignored_answer_2": 3})
    assert "no row has the answer or answer id 'Sory.', 'Hm ?'. An answer" in found
    [many] = idle_answers([f"a{n:02}" for n in range(30)], {"ignored_answer_0": 1})
    assert "'a19', 'a20' and 9 others. An answer" in many
    assert idle_answers(["a", "A"], {"ignored_answer_1": 1}) == []


def test_an_answer_whose_text_shows_it_is_reported_at_a_tenth_of_the_share():
    answers = [BroadAnswer(text, 5, 6) for text in ("Okay.", "I didn't get that.", "In the app")]
    assert fallbacks(answers, rows=1_000) == [answers[1], answers[0]]
    assert fallbacks(answers, rows=1_001) == []
    [told] = warnings(answers[:1], rows=1_000)
    assert told == (
        "one answer holds 0.5 % of the rows and 6 questions: 'Okay.'. It only confirms a request. If it was given to "
        "different ones, add --ignore-answer Okay."
    )


def test_confirmations_and_apologies_are_found_behind_more_frequent_answers_of_topics():
    rows = [(f"{topic} {number}", topic, 9) for topic in map("topic{}".format, range(40)) for number in range(5)]
    rows += [(f"{word} it {number}", "Okay.", 1) for word in ("stop", "open") for number in range(3)]
    rows += [(f"the thing {number}", "Sorry, I did not get that.", 1) for number in range(5)]
    assert broad_answers(*members(rows)) == [
        BroadAnswer("Okay.", 6, 6),
        BroadAnswer("Sorry, I did not get that.", 5, 5),
    ]


def test_unlike_questions_of_most_rows_are_one_sentence_as_words_show_little_there():
    topics = [BroadAnswer(name, 200, 60) for name in ("Travel", "Health", "Sports")]
    apology = BroadAnswer("Sorry, I did not understand.", 100, 50)
    [one, together] = warnings([*topics, apology], rows=1_200)
    assert one.startswith("one answer holds 8.3 % of the rows")
    assert together.startswith(
        "3 answers with 50.0 % of the rows have unlike questions each, such as 'Travel', 'Health', 'Sports'. So"
    )
    assert "keep its questions together by --answers intent. If some are fallbacks" in together
    [decided] = warnings(topics, rows=600, undecided=False)
    assert "--answers intent" not in decided
    assert len(warnings(topics, rows=1_201)) == len(warnings([*topics, apology], rows=1_201)) - 1 == 3
    assert len(warnings(topics[:2], rows=400)) == 2  # two fallbacks
