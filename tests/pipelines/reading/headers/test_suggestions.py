import pytest

from pipelines.reading.headers.column_words import COLUMN_WORDS
from pipelines.reading.headers.suggestions import suggest_columns

LOG = ["question", "answer", "timestamp", "user_id", "confidence"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("ts user q a conf", dict(zip(LOG, ["q", "a", "ts", "user", "conf"], strict=True))),
        (
            "Datum Benutzer Frage Antwort Konfidenz",
            dict(zip(LOG, ["Frage", "Antwort", "Datum", "Benutzer", "Konfidenz"], strict=True)),
        ),
        ("pregunta respuesta fecha", {"question": "pregunta", "answer": "respuesta", "timestamp": "fecha"}),
        ("質問 回答 日時", {"question": "質問", "answer": "回答", "timestamp": "日時"}),
        ("質問内容 回答内容", {"question": "質問内容", "answer": "回答内容"}),
        ("вопрос ответ", {"question": "вопрос", "answer": "ответ"}),
        ("प्रश्न उत्तर", {"question": "प्रश्न", "answer": "उत्तर"}),
        ("userQuery botReply createdAt", {"question": "userQuery", "answer": "botReply", "timestamp": "createdAt"}),
        ("Kundenfrage Musterantwort", {"question": "Kundenfrage", "answer": "Musterantwort"}),
        ("question_id answer_key question_text reply", {"question": "question_text", "answer": "reply"}),
        ("text query answer", {"question": "query", "answer": "answer"}),
        ("x y z", {}),
    ],
)
def test_names_are_known_in_several_languages_and_spellings(names, expected):
    found = suggest_columns(LOG, {name: [] for name in names.split()})
    assert {ours: theirs for ours, theirs in found.items() if ours in expected} == expected
    assert expected or not found


def test_values_show_what_names_do_not():
    sample = {
        "c0": ["2025-01-01", "2025-01-02 10:00"],
        "c1": ["0.5", "0,75", "0", "1"],
        "c2": ["how do I pay?", "what is the time", "where are you?"],
        "c3": ["You can pay in the app or at the counter", "It is noon"],
        "c4": ["en-GB", "de"],
        "c5": ["4711", "4712"],
    }
    assert suggest_columns(["question", "answer", "timestamp", "confidence", "locale"], sample) == {
        "question": "c2",
        "answer": "c3",
        "timestamp": "c0",
        "confidence": "c1",
        "locale": "c4",
    }


def test_without_question_marks_the_longest_text_is_the_answer_and_the_next_the_question():
    sample = {"c0": ["a1", "a2"], "c1": ["pay my bill"], "c2": ["You can pay it in the app"]}
    assert suggest_columns(["question", "answer"], sample) == {"question": "c1", "answer": "c2"}


def test_a_time_is_no_answer():
    sample = {"text": ["how do I pay?", "In the app"], "ts": ["2026-03-01T18:04:00Z", "2026-03-01T18:04:30.5+01:00"]}
    assert suggest_columns(["question", "answer"], sample) == {"question": "text"}


def test_a_name_of_two_words_is_found_before_one_with_a_listed_word():
    assert suggest_columns(["answer_id"], {"intent name": [], "Intent ID": []}) == {"answer_id": "Intent ID"}


def test_an_id_is_no_question_even_if_it_is_called_one():
    assert suggest_columns(["question"], {"user question": ["q1", "q2"], "c": ["4711"]}) == {}


def test_a_copy_of_the_questions_is_not_suggested_as_their_answers():
    raw = ["How do I pay?", "In the app.", "> How do I pay?\n\nAt the counter"]
    cooked = [
        "<p>How do I pay?</p>",
        "<p>In the app.</p>",
        "<blockquote>How do I pay?</blockquote><p>At the counter</p>",
    ]
    assert suggest_columns(["question", "answer"], {"raw": raw, "cooked": cooked}) == {"question": "raw"}


def test_urls_flags_and_texts_of_json_are_no_questions_and_no_answers():
    sample = {
        "url": ["https://x.example/api/v2/tickets/1.json", "https://x.example/api/v2/tickets/2.json"],
        "missedUtterance": ["False", "True"],
        "request": ['{"text": "How do I pay?"}', '{"text": "Where are you?"}'],
        "body": ["<p>How do I pay?</p>", "<p>Where are you?</p>\n"],
    }
    assert suggest_columns(["question", "answer"], sample) == {"question": "body"}


def test_the_state_and_time_of_an_answer_are_no_answers():
    values = {
        "Subject": ["How do I pay?"],
        "First response time (in hrs)": ["0 h 5 min"],
        "Resolution status": ["Within SLA"],
        "response.intent.displayName": ["pay a bill"],
        "Note of the agent": ["You can pay in the app"],
    }
    assert suggest_columns(["question", "answer"], values) == {"question": "Subject", "answer": "Note of the agent"}


def test_known_names_are_lower_case_and_listed_once():
    for words in COLUMN_WORDS.values():
        assert sorted(set(words)) == sorted(words)
        assert all(word == word.lower() for word in words)
