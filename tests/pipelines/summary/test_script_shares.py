from jobs.display.summary_tables import summary_tables
from pipelines.summary.row_balance import row_balance
from pipelines.summary.script_shares import ScriptShare, as_json, script_shares, warnings

COUNTERS = {
    "members": 500,
    "script_latin_kept": 80,
    "script_latin_rejected": 20,
    "script_thai_kept": 9,
    "script_thai_rejected": 191,
    "script_hangul_kept": 140,
    "script_hangul_rejected": 60,
    "script_lao_kept": 0,
    "script_lao_rejected": 19,
}


def test_scripts_are_ordered_by_their_questions_and_are_in_no_other_count():
    shares = script_shares(COUNTERS)
    assert [(share.script, share.questions, share.kept) for share in shares] == [
        ("hangul", 200, 140),
        ("thai", 200, 9),
        ("latin", 100, 80),
        ("lao", 19, 0),
    ]
    assert shares == row_balance(COUNTERS).scripts
    assert row_balance(COUNTERS).others == {}
    assert as_json(shares)[1] == {"script": "thai", "questions": 200, "kept": 9, "share": 0.045}


def test_a_script_below_half_of_the_median_is_named_unless_its_questions_are_few():
    [warning] = warnings(script_shares(COUNTERS))
    assert warning.startswith("4.5 % of 200 questions in the script thai are in a cluster")
    assert "the median over scripts is 70.0 %" in warning


def test_questions_without_a_letter_are_neither_compared_nor_warned_of():
    scripts = [ScriptShare("latin", 100, 90), ScriptShare("none", 200, 0), ScriptShare("thai", 100, 20)]
    [warning] = warnings(scripts)
    assert "the script thai" in warning
    assert "the median over scripts is 55.0 %" in warning
    assert [row[0] for row in summary_tables({"script_none_kept": 1, "script_latin_kept": 2}, {}, {})[3].rows] == [
        "latin",
        "no letters",
    ]


def test_there_is_no_warning_about_one_script_or_equal_shares():
    assert warnings([]) == []
    assert warnings([ScriptShare("thai", 100, 0)]) == []
    assert warnings([ScriptShare("thai", 100, 50), ScriptShare("latin", 100, 99)]) == []
    assert warnings([ScriptShare("thai", 100, 0), ScriptShare("latin", 100, 0)]) == []


def test_a_script_whose_questions_are_mostly_one_word_is_named_instead_of_its_low_share():
    counters = {"script_javanese_rejected": 240, "script_javanese_uncut": 120, "script_latin_kept": 100}
    [warning] = warnings(script_shares(counters))
    assert warning.startswith("120 of 240 questions in the script javanese are one word each")
    [low] = warnings(script_shares(counters | {"script_javanese_uncut": 119}))
    assert "the median over scripts" in low
    assert warnings([ScriptShare("javanese", 19, 0, 19)]) == []


def test_a_script_without_a_name_here_is_described():
    [uncut] = warnings([ScriptShare("other", 180, 0, 180)])
    assert uncut.startswith("180 of 180 questions in a script that qpr does not recognize are one word each")
    [low] = warnings([ScriptShare("other", 180, 0), ScriptShare("latin", 100, 90), ScriptShare("thai", 100, 90)])
    assert low.startswith("0.0 % of 180 questions in a script that qpr does not recognize are in a cluster")
    assert summary_tables({"script_other_kept": 1, "script_latin_kept": 2}, {}, {})[3].rows[1][0] == "not recognized"
