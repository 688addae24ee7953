"""The commands of docs/exports.md make a log of what the services export."""

import html
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "exports.md"
ASKED, REPLY = "How do I pay & where?", "In the app > Bills."
MAIL = f"Hi Mei,\n\n{REPLY}\n\nBest regards,\nThe team\nOn Tue, 1 Sep 2026 Mei wrote:\n> {ASKED}"
POSTS = [(1, 1, ASKED), (1, 2, REPLY), (2, 1, "Is anybody there?")]


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def tagged(text):
    return f'<p class="no-margin">{html.escape(text)}</p>'


def turn(event, text=None):
    return {"event": event, "text": text, "timestamp": 1_788_249_600.5}


def part(author, kind, body):
    return {"part_type": kind, "author": {"type": author}, "body": body}


def activity(number, text, **more):
    return {"type": "message", "id": number, "timestamp": "2026-09-01T08:00:00Z", "text": text, **more}


def slack(user, text, ts, **more):
    return {"type": "message", "user": user, "text": text, "ts": ts, **more}


COMMENTS = [
    {"author_id": 7, "public": True, "body": ASKED},
    {"author_id": 1, "public": False, "body": "Who knows?"},
    {"author_id": 1, "public": True, "body": MAIL},
]
PARTS = [
    part("bot", "assignment", None),
    part("user", "comment", "<p>Hello?</p>"),
    part("admin", "comment", f"<p>Hi Mei,</p>{tagged(REPLY)}"),
]
LEX = {
    "inputTranscript": ASKED,
    "messages": [{"content": REPLY}],
    "localeId": "en_GB",
    "missedUtterance": False,
    "timestamp": "2026-09-01T08:00:00Z",
}
EXPORTS = {
    "zendesk.jsonl": {"requester_id": 7, "description": ASKED, "created_at": "2026-09-01", "comments": COMMENTS},
    "intercom.json": {
        "conversations": [
            {"source": {"body": "Is this without parts?"}, "created_at": 1_788_249_600},
            {
                "source": {"body": tagged(ASKED)},
                "created_at": 1_788_249_600,
                "conversation_parts": {"conversation_parts": PARTS},
            },
        ]
    },
    "rasa.json": [
        {"sender_id": "u0", "events": None},
        {
            "events": [
                turn("action"),
                turn("user", ASKED),
                turn("action"),
                turn("bot", "In the app >"),
                turn("bot", "Bills."),
                turn("user", "bye"),
            ]
        },
    ],
    "bot.transcript": [
        {"type": "trace"},
        activity("a", ASKED),
        activity("b", REPLY, replyToId="a"),
        {**activity("c", "", replyToId="a"), "type": "typing"},
    ],
    "lex.json": {
        "events": [
            {"message": json.dumps({**LEX, "messages": None})},
            {"message": json.dumps(LEX)},
            {"message": json.dumps({**LEX, "missedUtterance": True})},
        ]
    },
    "langfuse.jsonl": {
        "input": json.dumps([{"role": "system", "content": "Help."}, {"role": "user", "content": ASKED}]),
        "output": json.dumps({"role": "assistant", "content": REPLY}),
        "timestamp": "2026-09-01T08:00:00Z",
        "userId": "u1",
    },
    "support/2026-09-01.json": [
        slack("U1", ASKED, "1788249600.000100", thread_ts="1788249600.000100"),
        slack("U3", "no reply", "1788249601.000100"),
        slack("U2", f"<@U1> {REPLY.replace('>', '&gt;')}", "1788249602.000100", thread_ts="1788249600.000100"),
    ],
}
TABLES = {
    "posts.csv": "topic_id,post_number,created_at,cooked\n"
    + "".join(f"{topic},{number},2026-09-01,<p>{html.escape(text)}</p>\n" for topic, number, text in POSTS),
    "Posts.xml": "<posts>"
    f'<row Id="1" PostTypeId="1" AcceptedAnswerId="2" Title="{html.escape(ASKED)}" CreationDate="2026-09-01" />'
    f'<row Id="2" PostTypeId="2" Body="{html.escape(tagged(REPLY))}" /></posts>',
}


def run(*command, folder, shell=False):
    subprocess.run(command[0] if shell else command, shell=shell, check=True, cwd=folder)


def cleaned(folder):
    run(sys.executable, "-c", blocks("python")[1], folder=folder)
    return [json.loads(line) for line in (folder / "clean.jsonl").read_text().splitlines()]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize("name", EXPORTS)
def test_a_command_of_jq_writes_a_row_of_a_question_and_its_answer(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(json.dumps(EXPORTS[name]))
    [command] = [block for block in blocks("sh") if f" {name.replace('2026-09-01', '*')} >" in block]
    run(command, folder=tmp_path, shell=True)
    [row] = cleaned(tmp_path)
    assert (row["question"], row["answer"]) == (ASKED, REPLY)
    assert row["timestamp"]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_a_ticket_without_comments_costs_no_other_ticket(tmp_path):
    command = blocks("sh")[0].replace("jq -c '", "jq -c '.tickets[] | ")
    ticket = EXPORTS["zendesk.jsonl"]
    tickets = [{**ticket, "comments": None}, {**ticket, "description": None}, ticket]
    (tmp_path / "zendesk.jsonl").write_text(json.dumps({"tickets": tickets}))
    run(command, folder=tmp_path, shell=True)
    assert [row["question"] for row in cleaned(tmp_path)] == ["", ASKED]


@pytest.mark.parametrize("name", TABLES)
def test_the_program_reads_posts_with_their_answers(tmp_path, name):
    (tmp_path / name).write_text(TABLES[name])
    run(sys.executable, "-c", blocks("python")[0], name, folder=tmp_path)
    [row] = cleaned(tmp_path)
    assert (row["question"], row["answer"], row["timestamp"]) == (ASKED, REPLY, "2026-09-01")


def test_each_command_has_a_sample():
    assert len(blocks("sh")) == len(EXPORTS)
