import gzip
import re
import resource

import pyarrow as pa
import pytest

from pipelines.reading.headers.columns import LOG_COLUMNS, Column
from pipelines.reading.reader import check_header, read
from pipelines.reading.sources import expand
from schemas.errors import QprError
from tests.support.read_files import COLUMNS, read_all, source_of


def csv_file(folder, content, name="x.csv"):
    return source_of(folder, content, name)


def test_columns_come_in_any_order_with_a_mark_and_windows_line_ends(tmp_path):
    content = b'\xef\xbb\xbfconfidence,more, question ,answer_id\r\n0.5,x,"a, ""b""\r\nc",7\r\n?,x,d,\r\n'
    rows, rejected = read_all(csv_file(tmp_path, content))
    assert [(r["question"], r["answer_id"], r["confidence"]) for r in rows] == [
        ('a, "b"\r\nc', "7", 0.5),
        ("d", None, None),  # an empty optional cell is null, as is what is not a number
    ]
    assert rejected == []


def test_quora_like_tsv_keeps_quotes_tabs_and_line_ends_inside_cells(tmp_path):
    content = b'id\tquestion\n1\t"What is ""love""?"\n2\t"a\tb\nc"\n3\tHow tall is 5\'7" in cm?\n'
    rows, rejected = read_all(csv_file(tmp_path, content, "x.tsv"))
    assert [row["question"] for row in rows] == ['What is "love"?', "a\tb\nc", "How tall is 5'7\" in cm?"]
    assert rejected == []


def test_an_empty_required_cell_is_an_empty_text(tmp_path):
    rows, _ = read_all(csv_file(tmp_path, b"question,answer_id\n,1\n"))
    assert rows[0]["question"] == ""


def test_unusable_rows_are_rejected_with_what_they_were(tmp_path):
    content = b'question,answer_id\nok,1\nshort\n"open,2\nbad \xff,3\nnul \0,4\nfine,5\n'
    rows, rejected = read_all(csv_file(tmp_path, content))
    assert [row["question"] for row in rows] == ["ok", "fine"]
    assert sorted(rejected) == [
        ("invalid_utf8", "bad \\xff,3"),
        ("nul_byte", "nul \0,4"),
        ("ragged_row", "short"),
        ("unbalanced_quote", '"open,2'),
    ]


def test_the_header_of_a_file_that_was_joined_to_another_is_no_row(tmp_path):
    content = b'question,answer_id\na,1\n"question", answer_id\nquestion,2\n'
    rows, rejected = read_all(csv_file(tmp_path, content))
    assert [row["question"] for row in rows] == ["a", "question"]
    assert rejected == [("header_row", '"question", answer_id')]


@pytest.mark.parametrize("header", ["question,answer_id", '"question","answer_id"'])
def test_a_header_behind_the_byte_order_mark_of_an_appended_file_is_rejected(tmp_path, header):
    file = f"{header}\na,1\n".encode("utf-8-sig")
    rows, rejected = read_all(csv_file(tmp_path, file + file))
    assert [row["question"] for row in rows] == ["a", "a"]
    assert rejected == [("header_row", f"\ufeff{header}")]


def test_names_that_are_sentences_may_be_a_first_row_of_the_log(tmp_path):
    names = "How do I reset my password?,Open the settings of your account."
    with pytest.raises(
        QprError, match=r"\. If the first row is one of the log, write the names of the columns above it instead$"
    ):
        check_header(csv_file(tmp_path, f"{names}\nHow do I pay for it?,You pay in the app.\n".encode()), LOG_COLUMNS)
    with pytest.raises(QprError, match=r"--column question=Frage --column answer=Antwort$"):
        check_header(csv_file(tmp_path, b",Frage,Antwort,\n,Wie geht das?,So geht das.,\n"), LOG_COLUMNS)


def test_a_file_with_a_row_for_each_message_needs_rows_of_both(tmp_path):
    content = b"topic,raw\n1,How do I pay?\n1,In the app.\n"
    with pytest.raises(QprError, match=r"answer=NAME\. If questions and answers are rows of one column"):
        check_header(csv_file(tmp_path, content), LOG_COLUMNS)


def test_a_payload_is_cut(tmp_path):
    _, rejected = read_all(csv_file(tmp_path, b"question,answer_id\n" + "ä".encode() * 10_000 + b"\n"))
    assert rejected == [("ragged_row", "ä" * 1000)]


def test_a_ten_megabyte_line_is_one_reject_in_bounded_memory(tmp_path):
    source = csv_file(tmp_path, b"question,answer_id\nok,1\n" + b"x" * 10_000_000 + b",2\nfine,3\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows, rejected = read_all(source)
    assert [row["question"] for row in rows] == ["ok", "fine"]
    assert rejected == [("row_too_long", "x" * 1000)]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # kB


def test_batches_end_after_their_rows_or_bytes(tmp_path, monkeypatch):
    source = csv_file(tmp_path, b"question\n" + b"123456789\n" * 100)
    monkeypatch.setattr("pipelines.reading.delimited.BATCH_ROWS", 30)
    assert [batch.rows.num_rows for batch in read(source, COLUMNS)] == [30, 30, 30, 10]
    monkeypatch.setattr("pipelines.reading.delimited.BATCH_BYTES", 200)  # 20 rows of 10 bytes
    assert [batch.rows.num_rows for batch in read(source, COLUMNS)][:2] == [20, 20]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"prompt,answer_id\n1,2\n",
            r"no column question; there are prompt, answer_id\. Add: --column question=prompt$",
        ),
        (b"prompt\ttext\n1\t2\n", r"no column question; there are prompt, text\."),
        (b"\n\n", r"the file has no row\. Write a first row with the names of the columns"),
        (b'"open\n', r"its first row cannot be read \(unbalanced_quote\)"),
        (b'{"question": "a, b"}\n', r"holds JSON objects, one per line\. Rename it to end in \.jsonl"),
        ("question,größe\na,b\n".encode("cp1252"), r"its first row is not UTF-8\. .* such as --encoding cp1252"),
        (b'question,answer\rwhat,"a\nb"\r', r"its lines end in carriage returns\. Convert it, for example with tr"),
        (b"question,question\n1,2\n", r"two columns have the name 'question'"),
    ],
)
def test_a_header_that_does_not_fit_is_explained_before_the_run_and_in_it(tmp_path, content, message):
    source = csv_file(tmp_path, content)
    with pytest.raises(QprError, match=message):
        check_header(source, COLUMNS)
    with pytest.raises(QprError, match=message):
        list(read(source, COLUMNS))


@pytest.mark.parametrize(
    "content",
    [
        b"How do I reach jo@example.org at the desk?,Call +44 20 7946 0958 and ask for the desk\nwhat,this\n",
        b"jo@example.org,+44 20 7946 0958,what\n1,2,3\n",
        b"Export for jo@example.org;;\n+44 20 7946 0958;who;what\n1;2;3\n",
    ],
    ids=["sentences", "cells", "title"],
)
def test_a_first_row_of_a_log_is_named_without_personal_data(tmp_path, content):
    with pytest.raises(QprError, match=r"no column question.*\[email\]") as raised:
        check_header(csv_file(tmp_path, content), ANSWERED)
    assert "[phone]" in str(raised.value)
    assert not re.search("jo@|7946", str(raised.value))
    assert "--column" not in str(raised.value)  # no column has such a name


def test_a_name_of_a_column_is_shown_with_its_digits(tmp_path):
    source = csv_file(tmp_path, b"subject_360012345678,answer\nhow do I pay?,here\n")
    with pytest.raises(QprError, match=r"Add: --column question=subject_360012345678$"):
        check_header(source, ANSWERED)


@pytest.mark.parametrize(
    ("title", "names"),
    [
        (b"Export of March;;\r\n", "Frage;Antwort;Datum"),
        (b"Export of March\n\nfrom 1 to 31\n", "question;answer;date"),
        (b"Report;\n;\n", "Frage;Antwort;;"),
        (b"Report;;\nshop;;\n", "Frage;Antwort;Datum"),
        (b"Report\nfrom 1 to 31\n", "Frage;Antwort;Datum"),
        (b"shop;bot\n", "question;answer"),
    ],
)
def test_a_header_below_titles_is_named(tmp_path, title, names):
    row = b'"how, or\nwhy";"it; is\n\nso"' + b";" * (names.count(";") - 1) + b"\n"
    source = csv_file(tmp_path, title + names.encode() + b"\r\n" + row * 5)
    [first, *_] = title.decode().replace(";", " ").split("\n")
    cause = rf"no column question, answer in its first row, '{first.strip()}'\."
    with pytest.raises(QprError, match=rf"{cause} If the names of the columns are in the row '{names}', delete all"):
        check_header(source, ANSWERED)


@pytest.mark.parametrize(
    "content",
    [
        b"prompt\nhello, world\nhow are you\nwhen\n",
        b"prompt\n",
        b"prompt;reply\nhow, or;so\n" * 2,
        b"shop;bot\nwhy;so\nhow;so\n",
    ],
)
def test_a_file_without_a_title_has_no_header_below_it(tmp_path, content):
    with pytest.raises(QprError, match=r"; there are "):
        check_header(csv_file(tmp_path, content), ANSWERED)


def test_a_file_with_a_header_alone_has_no_rows(tmp_path):
    assert read_all(csv_file(tmp_path, b"question\n")) == ([], [])
    check_header(csv_file(tmp_path, b"question"), COLUMNS)


def test_rows_before_the_break_of_a_compressed_file_do_not_pass_as_the_whole(tmp_path):
    packed = gzip.compress(b"question\n" + b"".join(b"row %d\n" % i for i in range(1000)))
    with pytest.raises(QprError, match="gzip data is broken"):
        read_all(csv_file(tmp_path, packed[:-20], "x.csv.gz"))


def row_texts(source):
    rows, rejected = read_all(source, ANSWERED)
    return [(row["question"], row["answer"]) for row in rows], [reason for reason, _ in rejected]


ANSWERED = [Column("question", pa.string()), Column("answer", pa.string())]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["x.csv", "x.tsv"])
def test_the_delimiter_is_found_for_any_file_name(tmp_path, delimiter, name):
    cells = [["id", "question", "answer"], ["1", "why, oh; why|\tme?", "so"], ["2", "what", "0,5; 1,5"]]
    content = "\r\n".join(delimiter.join(f'"{cell}"' if i else cell for i, cell in enumerate(row)) for row in cells)
    source = csv_file(tmp_path, content.encode(), name)
    assert row_texts(source) == ([("why, oh; why|\tme?", "so"), ("what", "0,5; 1,5")], [])
    own = {"x.csv": ",", "x.tsv": "\t"}[name] == delimiter
    assert bool(check_header(source, ANSWERED).notes) is not own


def test_a_delimiter_that_was_given_is_taken(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"question:answer\na,b:c;d\n")
    [source] = expand([str(tmp_path / "x.csv")], delimiter=":")
    assert row_texts(source) == ([("a,b", "c;d")], [])
    assert check_header(source, ANSWERED).notes == []


def test_a_delimiter_that_separates_nothing_is_named(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"question,answer\na,b\n")
    [source] = expand([str(tmp_path / "x.csv")], delimiter=";")
    with pytest.raises(QprError, match=r"--delimiter ';' separates no cells .* 'question,answer'\. Leave it out"):
        check_header(source, ANSWERED)
    assert check_header(source, [Column("question,answer", pa.string())]).notes == []


@pytest.mark.parametrize("first", [b"sep=;\r\n", b'"sep=;"\n', b"\xef\xbb\xbfSEP=;\n"])
def test_the_line_by_which_excel_names_the_delimiter_is_no_header(tmp_path, first):
    assert row_texts(csv_file(tmp_path, first + b"question;answer\na,b;c\n")) == ([("a,b", "c")], [])


def test_a_file_of_mixed_delimiters_loses_no_row(tmp_path):
    source = csv_file(tmp_path, b"question;answer\na;b\nc,d\ne;f\n")
    assert row_texts(source) == ([("a", "b"), ("e", "f")], ["ragged_row"])


@pytest.mark.parametrize(
    ("content", "rows", "reasons"),
    [
        (b"question,answer\na,b,\nc,d,\n", [("a", "b"), ("c", "d")], []),
        (b"question,answer\na,b,,\nc,d,,\ne,f,,x\n", [("a", "b"), ("c", "d")], ["ragged_row"]),
        (b"question,answer,\na,b\nc,d\n", [("a", "b"), ("c", "d")], []),
        (b"question,answer,,\na,b,,\nc,d,,\n", [("a", "b"), ("c", "d")], []),
        (b"question,answer\na,b\nc,d\ne,f,\n", [("a", "b"), ("c", "d")], ["ragged_row"]),  # in one row of three
        (b"question,answer,more\na,b\nc,d\n", [], ["ragged_row", "ragged_row"]),  # a column with a name is missing
    ],
)
def test_the_same_number_of_empty_cells_in_most_rows_is_padding(tmp_path, content, rows, reasons):
    assert row_texts(csv_file(tmp_path, content)) == (rows, reasons)


def test_a_list_of_one_column_is_read(tmp_path):
    source = csv_file(tmp_path, b'question\nwhat\n"a, b"\n')
    assert [row["question"] for row in read_all(source)[0]] == ["what", "a, b"]


def test_two_columns_of_one_name_matter_only_where_one_is_required(tmp_path):
    assert row_texts(csv_file(tmp_path, b"question,x,answer,x\na,1,b,2\n")) == ([("a", "b")], [])


def test_a_header_with_a_mark_and_quotes_is_read(tmp_path):
    source = csv_file(tmp_path, b'\xef\xbb\xbf"question";"answer"\r\n"a\r\nb";"c"\r\n')
    assert row_texts(source) == ([("a\r\nb", "c")], [])


def test_carriage_returns_alone_end_lines_where_there_is_no_line_feed(tmp_path):
    assert row_texts(csv_file(tmp_path, b"question,answer\rwhat,this\rwho,me\r")) == (
        [("what", "this"), ("who", "me")],
        [],
    )


@pytest.mark.parametrize(
    ("content", "rows", "rejected"),
    [
        (b"question,answer\na,b\nc,d\re,f\rg,h\n", [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")], []),
        (b"question,answer\ra,b\rc,d\n", [("a", "b"), ("c", "d")], []),
        (b'question,answer\n"a",b\rc,"d\re"\rf,g\n', [("a", "b"), ("c", "d\re"), ("f", "g")], []),
        (b'question,answer\na,b\rc,"d\ne,f\n', [("e", "f")], ["ragged_row"]),  # a quote that is not closed
        (b"question,answer\na\rb,c\nd,e\n", [("d", "e")], ["ragged_row"]),  # a return within a cell
        (b"question,answer\na,b\rc\nd,e\n", [("d", "e")], ["ragged_row"]),
    ],
)
def test_carriage_returns_alone_end_lines_beside_line_feeds_where_every_row_is_whole(tmp_path, content, rows, rejected):
    assert row_texts(csv_file(tmp_path, content)) == (rows, rejected)


def test_utf16_with_a_mark_is_read(tmp_path):
    source = csv_file(tmp_path, "question\tanswer\r\ngrößer?\tja\r\n".encode("utf-16"))
    assert row_texts(source) == ([("größer?", "ja")], [])


def test_compressed_text_is_read_with_any_file_name(tmp_path):
    source = csv_file(tmp_path, gzip.compress(b"question,answer\na,b\n"))
    assert row_texts(source) == ([("a", "b")], [])
    assert check_header(source, ANSWERED).notes == ["is gzip data, although its name does not end so"]


def test_a_ten_megabyte_quoted_cell_of_many_lines_loses_no_later_row(tmp_path):
    cell = b'"' + (b"x" * 999 + b"\n") * 10_000 + b'"'
    source = csv_file(tmp_path, b"question,answer\nok,1\n" + cell + b",2\nfine,3\n")
    batches = list(read(source, ANSWERED))
    kept = [text for batch in batches for text in batch.rows["question"].to_pylist()]
    assert (kept[0], kept[-1]) == ("ok", "fine")
    assert {reason for batch in batches for reason in batch.rejects["reason"].to_pylist()} <= {
        "unbalanced_quote",
        "ragged_row",
        "row_too_long",
    }


def test_columns_are_suggested_by_their_names_and_values(tmp_path):
    content = b"ts;user;q;a;conf\n2025-01-01;u1;wie geht das?;so;0,9\n"
    with pytest.raises(QprError, match=r"there are ts, user, q, a, conf\. Add: --column question=q --column answer=a$"):
        check_header(csv_file(tmp_path, content), ANSWERED)
