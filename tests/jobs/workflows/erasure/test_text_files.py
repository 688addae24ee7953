import gzip
import json

import pytest

from jobs.workflows.erasure.text_files import erase_from_file
from pipelines.privacy.erase import erasure_of
from schemas.artifacts import storage
from schemas.errors import QprError
from schemas.text import key
from schemas.text_arrays import hash64_all

SECRET = "Who is zibeline?"
AUDIT = {"request_id": "1", "question": SECRET, "hit": None}
OTHER = {"request_id": "2", "question": "how do i pay", "hit": {"text": "pay how"}}
INSIDE = {"request_id": "3", "question": "how?", "hit": {"answer": "the answer to: who is zibeline"}}


def name():
    import pyarrow as pa

    return f"q{hash64_all(pa.array([key(SECRET)]))[0].as_py() % 2**64:016x}"


FILES = {
    "audit.jsonl": "".join(json.dumps(row) + "\n" for row in (AUDIT, OTHER, INSIDE)),
    "audit-today.json": json.dumps({"day": "2026-11-20", "seen": 3, "rows": [AUDIT, OTHER, INSIDE]}),
    "verdicts.csv": f'question,note,strays\n"{SECRET}",,\nhow do i pay,,q0 {name()}\nx,so: who is ZIBELINE?,\n',
    "texts.tsv": f"question\tn\n{SECRET}\t1\nhow do i pay\t2\nWHO IS zibeline\t3\n",
    "texts.txt": f"{SECRET}\nhow do i pay\nwho is  zibeline\n",
}


@pytest.mark.parametrize("file", [*FILES, "audit.jsonl.gz"])
def test_rows_with_the_question_go_and_all_others_stay(tmp_path, file):
    path, text = str(tmp_path / file), FILES[file.removesuffix(".gz")]
    storage.write_bytes(path, gzip.compress(text.encode()) if file.endswith(".gz") else text.encode())
    erasure = erasure_of([SECRET], [], None)
    assert erase_from_file(path, erasure, dry_run=True) == {"file": path, "rewritten": False, "rows": 2}
    assert erase_from_file(path, erasure, dry_run=False) == {"file": path, "rewritten": True, "rows": 2}
    content = storage.read_bytes(path)
    after = (gzip.decompress(content) if file.endswith(".gz") else content).decode()
    assert "zibeline" not in after.lower()
    assert name() not in after
    assert "how do i pay" in after
    assert erase_from_file(path, erasure, dry_run=False) == {"file": path, "rewritten": False, "rows": 0}


@pytest.mark.parametrize(
    "text", ['asked "who is zibeline", remove', "so who is zibeline? strange", "(Who is zibeline)"]
)
def test_a_question_is_found_between_quotes_and_in_the_midst_of_a_text(tmp_path, text):
    path = str(tmp_path / "a.txt")
    storage.write_bytes(path, f"{text}\nwho is zibelines\n".encode())
    assert erase_from_file(path, erasure_of([SECRET], [], None), dry_run=False)["rows"] == 1
    assert storage.read_bytes(path) == b"who is zibelines\n"


@pytest.mark.parametrize(
    ("question", "text", "other"),
    [
        ("如何修理旧拖拉机?", "请看“如何修理旧拖拉机”的答案", "如何修理拖拉机"),
        ("古いトラクターを修理", "答えは古いトラクターを修理です", "古いトラクター"),
        ("วิธีซ่อมรถไถ", "ดูวิธีซ่อมรถไถเก่า", "รถไถ"),
        ("오래된 트랙터 수리", "질문은 오래된 트랙터 수리였다", "트랙터 수리"),
        ("how old is zibeline", "请看how old is zibeline的答案", "how old is zibelines"),
        ("كم عمر علي", "انظر: كم عمر علي؟", "كم عمر عليا"),
        ("בת כמה רות", "看בת כמה רות吗", "בת כמה רותי"),
        ("你好", "你好", "你好吗"),
        ("비밀번호", "비밀번호", "비밀번호 변경"),
    ],
)
def test_a_question_is_found_among_words_that_touch_it(tmp_path, question, text, other):
    path = str(tmp_path / "a.txt")
    storage.write_bytes(path, f"{text}\n{other}\n".encode())
    assert erase_from_file(path, erasure_of([question], [], None), dry_run=False)["rows"] == 1
    assert storage.read_bytes(path).decode() == f"{other}\n"


def test_an_apostrophe_before_a_formula_hides_no_question(tmp_path):
    path = str(tmp_path / "sample.csv")
    storage.write_bytes(path, b"question,note\n'=zibeline,\n'=zibelines,\n")
    assert erase_from_file(path, erasure_of(["=zibeline"], [], None), dry_run=False)["rows"] == 1
    assert storage.read_bytes(path).split() == [b"question,note", b"'=zibelines,"]


def test_a_line_separator_within_a_string_of_json_ends_no_line(tmp_path):
    path, kept = str(tmp_path / "a.jsonl"), json.dumps({"note": "one\u2028two\x85"}, ensure_ascii=False)
    storage.write_bytes(path, f"{kept}\n{json.dumps(AUDIT)}".encode())
    assert erase_from_file(path, erasure_of([SECRET], [], None), dry_run=False)["rows"] == 1
    assert storage.read_bytes(path) == f"{kept}\n".encode()


def test_a_question_of_one_word_removes_no_row_that_only_has_the_word(tmp_path):
    path = str(tmp_path / "a.txt")
    storage.write_bytes(path, b"help\nhelp me\n")
    assert erase_from_file(path, erasure_of(["Help!"], [], None), dry_run=False)["rows"] == 1
    assert storage.read_bytes(path) == b"help me\n"


def test_a_row_with_the_question_as_the_name_of_a_field_goes(tmp_path):
    path, kept = str(tmp_path / "a.jsonl"), json.dumps({"how do i pay": 2})
    storage.write_bytes(path, f"{kept}\n{json.dumps({'asked': {SECRET: 1}})}\n".encode())
    assert erase_from_file(path, erasure_of([SECRET], [], None), dry_run=False)["rows"] == 1
    assert storage.read_bytes(path) == f"{kept}\n".encode()


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_a_row_that_has_the_name_of_a_field_twice_goes(tmp_path, ending):
    path = str(tmp_path / f"a.{ending}")
    rows = [json.dumps(AUDIT)[:-1] + ', "question": "how"}', json.dumps(OTHER)]
    storage.write_bytes(path, ("\n".join(rows) if ending == "jsonl" else f"[{', '.join(rows)}]").encode())
    assert erase_from_file(path, erasure_of([SECRET], [], None), dry_run=False)["rows"] == 1
    assert "zibeline" not in storage.read_bytes(path).decode()


def test_a_question_of_one_word_that_names_a_field_removes_no_row(tmp_path):
    path, row = str(tmp_path / "a.json"), json.dumps({"rows": [{"question": "how do i pay"}]}).encode()
    storage.write_bytes(path, row)
    assert erase_from_file(path, erasure_of(["Question?"], [], None), dry_run=False)["rows"] == 0
    assert storage.read_bytes(path) == row


def test_a_question_of_one_word_that_names_a_column_removes_no_header(tmp_path):
    path, erasure = str(tmp_path / "a.csv"), erasure_of(["Question?"], [], None)
    storage.write_bytes(path, b"question,note\r\nhow do i pay,fine\r\nquestion,\r\n")
    assert erase_from_file(path, erasure, dry_run=False)["rows"] == 1
    assert storage.read_bytes(path) == b"question,note\r\nhow do i pay,fine\r\n"
    storage.write_bytes(path, b"question\r\nhow do i pay\r\n")  # of one column, it may be a row
    assert erase_from_file(path, erasure, dry_run=False)["rows"] == 1


def test_a_long_cell_of_a_table_is_read(tmp_path):
    path, cell = str(tmp_path / "a.csv"), "long " * 40_000
    storage.write_bytes(path, f"question,note\nhow do i pay,{cell}\n{SECRET},{cell}\n".encode())
    assert erase_from_file(path, erasure_of([SECRET], [], None), dry_run=False)["rows"] == 1
    assert storage.read_bytes(path) == f"question,note\nhow do i pay,{cell}\n".encode()


def test_a_question_that_is_a_number_goes_and_a_count_stays(tmp_path):
    path, rows = str(tmp_path / "a.jsonl"), [{"question": 7700123}, {"question": "how do i pay", "seen": 7700123}]
    storage.write_bytes(path, "".join(json.dumps(row) + "\n" for row in rows).encode())
    assert erase_from_file(path, erasure_of(["7700123"], [], None), dry_run=False)["rows"] == 1
    assert json.loads(storage.read_bytes(path)) == rows[1]


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_half_of_a_surrogate_pair_in_a_row_that_stays_is_written_as_it_was(tmp_path, ending):
    path = str(tmp_path / f"a.{ending}")
    rows = [json.dumps(AUDIT), json.dumps({"question": "half a pair \ud83d", "strays": [f"q0 {name()}"]})]
    storage.write_bytes(path, ("\n".join(rows) if ending == "jsonl" else f"[{', '.join(rows)}]").encode())
    assert erase_from_file(path, erasure_of([SECRET], [], None), dry_run=False)["rows"] == 1
    left = {"question": "half a pair \ud83d", "strays": ["q0"]}
    assert json.loads(storage.read_bytes(path)) == (left if ending == "jsonl" else [left])


@pytest.mark.parametrize("content", [AUDIT, {SECRET: 1, "rows": []}, {"last": AUDIT, "rows": [AUDIT, OTHER]}, SECRET])
@pytest.mark.parametrize("dry_run", [True, False])
def test_a_question_outside_of_the_lists_of_a_json_file_is_reported(tmp_path, content, dry_run):
    path, before = str(tmp_path / "a.json"), json.dumps(content).encode()
    storage.write_bytes(path, before)
    with pytest.raises(QprError, match=r"still contains an erased question, outside of lists\. Remove it by hand") as e:
        erase_from_file(path, erasure_of([SECRET], [], None), dry_run=dry_run)
    assert "zibeline" not in str(e.value)
    assert storage.read_bytes(path) == before


def test_a_file_of_another_format_is_one_line(tmp_path):
    path = str(tmp_path / "a.jsonl")
    storage.write_bytes(path, b"{no json\n")
    with pytest.raises(QprError, match=r"cannot be read as \.jsonl"):
        erase_from_file(path, erasure_of([SECRET], [], None), dry_run=False)


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_lists_nested_too_deep_are_one_line(tmp_path, ending):
    path = str(tmp_path / f"a.{ending}")
    storage.write_bytes(path, b"[" * 100_000 + b"]" * 100_000)
    with pytest.raises(QprError, match=rf"cannot be read as \.{ending} .*Correct the file"):
        erase_from_file(path, erasure_of([SECRET], [], None), dry_run=False)


@pytest.mark.parametrize("change", [lambda packed: packed[:-9], lambda packed: packed[:20] + b"~" + packed[21:]])
def test_a_broken_gzip_file_is_one_line_and_stays(tmp_path, change):
    path = str(tmp_path / "a.txt.gz")
    broken = change(gzip.compress(SECRET.encode() * 99 + bytes(range(48, 90)), mtime=0))
    storage.write_bytes(path, broken)
    with pytest.raises(QprError, match=r"a\.txt\.gz: cannot be read as \.txt"):
        erase_from_file(path, erasure_of([SECRET], [], None), dry_run=False)
    assert storage.read_bytes(path) == broken


def test_a_bad_row_of_json_lines_is_named(tmp_path):
    path = str(tmp_path / "a.jsonl")
    storage.write_bytes(path, f"{json.dumps(OTHER)}\n\n{{no json\n".encode())
    with pytest.raises(QprError, match=r"a\.jsonl: .* \(row 3: Expecting property name .*, column 2\)"):
        erase_from_file(path, erasure_of([SECRET], [], None), dry_run=False)


def test_parts_that_a_killed_process_left_are_removed(tmp_path):
    names = ("a.jsonl", "a.jsonl.0123abcd.partial", "b.jsonl.0123abcd.partial")
    path, part, other = (tmp_path / name for name in names)
    for file in (path, part, other):
        file.write_text(json.dumps(AUDIT))
    erasure = erasure_of([SECRET], [], None)
    planned = erase_from_file(str(path), erasure, dry_run=True)
    assert (planned["leftovers"], part.exists()) == (1, True)
    assert erase_from_file(str(path), erasure, dry_run=False)["leftovers"] == 1
    assert (path.read_text(), part.exists(), other.exists()) == ("", False, True)
    assert "leftovers" not in erase_from_file(str(path), erasure, dry_run=False)
