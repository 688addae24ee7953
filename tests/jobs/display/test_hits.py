"""Lines about the hits of a question."""

import json
from typing import get_args

import pytest
from rich.cells import cell_len

from jobs.display.console import results
from jobs.display.hits import print_answer, print_hits, reason_of_no_hits
from model.search.results import Answer, Hit, Reason, Why
from schemas.text import words_of


@pytest.mark.parametrize(
    ("question", "filtered", "reason"),
    [
        ("?!", False, "no word to search by"),
        ("", True, "no word to search by"),
        ("hi", False, "no question of the index was found"),
        ("日本", True, "no question of the index with these values and a valid answer was found"),
    ],
)
def test_only_a_question_without_a_word_has_no_word_to_search_by(question, filtered, reason):
    assert reason_of_no_hits(question, filtered=filtered) == reason


def hit(rank=1, probability=None, text="pay my bill", answer=None):
    return Hit(rank, 7, text, answer, None, None, None, probability)


@pytest.mark.parametrize(
    ("probabilities", "noted"),
    [((0.049, 0.0), True), ((0.049, 0.05), False), ((None, None), False), ((0.01, None), False)],
)
def test_unlikely_hits_are_called_unlikely(probabilities, noted, capsys):
    hits = [hit(rank, probability) for rank, probability in enumerate(probabilities, 1)]
    print_hits("cancel it", hits, as_json=False)
    assert ("No hit is likely to mean the same.\n" in capsys.readouterr().out) is noted
    print_hits("cancel it", hits, as_json=True)
    assert "likely" not in capsys.readouterr().out


def test_long_texts_are_cut_in_the_table_alone(capsys):
    long = "word " * 480
    print_hits("cancel it", [hit(text=long, answer=long)], as_json=False)
    shown = capsys.readouterr().out
    assert shown.count("word") == 2 * 60
    assert shown.splitlines()[-1] == "Long texts are cut; --json prints them whole."
    print_hits("cancel it", [hit(text=long, answer=long)], as_json=True)
    [row] = json.loads(capsys.readouterr().out)["hits"]
    assert (row["text"], row["answer"]) == (long, long)
    print_hits("cancel it", [hit(answer="no\n" * 100)], as_json=False)
    assert "cut" not in capsys.readouterr().out


@pytest.mark.parametrize("reason", get_args(Reason))
def test_the_reason_of_an_answer_is_printed_as_json_and_documents_have_it(reason, capsys):
    answered = reason in ("exact", "certified")
    print_answer(Answer("pay it", answered, reason, hit(answer="In the app")), filters={}, as_json=False)
    assert f"({reason})" in capsys.readouterr().out


@pytest.mark.parametrize("width", [24, 40, 59, 60, 200])
def test_hits_fit_the_terminal_and_no_word_is_broken(width, capsys, monkeypatch):
    monkeypatch.setattr(results, "_width", width)
    texts = {"text": "How do I reset my password?", "answer": "Choose Forgotten on the sign-in page."}
    print_hits("password", [hit(1, 0.981, **texts), hit(2, **texts)], as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    shown = {word.strip("│,") for line in lines for word in line.split()}
    expected = {"0.98", *" ".join(texts.values()).split(), *(["probability"] if width < 60 else [])}
    assert expected <= shown


def test_texts_without_spaces_are_shown_whole(capsys):
    text = "ログインページからパスワードを再設定できますのでお試しください"
    print_hits("再設定", [hit(text=text, answer=text)], as_json=False)
    cells = [line.split("│")[2:4] for line in capsys.readouterr().out.splitlines() if "│" in line]
    assert ["".join(part.strip() for part in column) for column in zip(*cells, strict=True)] == [text, text]


@pytest.mark.parametrize("text", ["كم رسوم تجديد بطاقة الهوية؟", "כמה עולה הכרטיס", "تُجدَّد البطاقة"])
def test_columns_of_right_to_left_text_keep_their_order(text, capsys):
    print_hits(text, [hit(text=text, answer=text), hit(rank=2)], as_json=False)
    rows = [line for line in capsys.readouterr().out.splitlines() if "│" in line]
    assert all(line.count("│") == 5 == line.count("\u200e│\u200e") for line in rows)
    assert len({*map(cell_len, rows)}) == 1
    print_hits("pay", [hit(answer="支払い")], as_json=False)
    assert "\u200e" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("question", "text", "shown"),
    [
        ("แจ้งเคลมอย่างไร", "ฉันจะแจ้งเคลมได้ไหม", "แจ้งเคลม"),
        ("แจ้งเคลม บัตรหาย", "บัตรหาย แจ้งเคลม", "แจ้งเคลม บัตรหาย"),
        ("กขค", "ขค กข", "กข ขค"),  # the run is not in the hit
        ("car rental ltd", "car rental", "car rental"),
        ("pay pay my", "my pay", "pay my"),
        ("비밀번호 분실", "분실 비밀번호 분실", "비밀번호 분실"),
        ("营业时间是几点?", "门店营业时间", "营业时间"),
        ("WiFiのパスワードは?", "WiFiのパスワードを知りたい", "wifiのパスワード"),
        ("時間営業", "営業時間", "時間 営業"),
    ],
)
def test_shared_text_without_spaces_is_shown_in_runs(question, text, shown, capsys):
    in_both = set(words_of(text))
    shared = tuple(dict.fromkeys(word for word in words_of(question) if word in in_both))
    print_hits(question, [Hit(1, 7, text, None, None, None, None, why=Why(shared, dense_rank=3))], as_json=False)
    assert f" {shown}, nearest 3 " in capsys.readouterr().out


def test_the_heads_of_a_narrow_table_are_whole(monkeypatch, capsys):
    monkeypatch.setattr(results, "width", 60)
    print_hits("cancel it", [hit(1, 0.5, answer="In the app")], as_json=False)
    head = capsys.readouterr().out.splitlines()[2]
    assert [cell.strip() for cell in head.split("┃")[1:-1]] == ["rank", "probability", "question", "answer", "why"]
