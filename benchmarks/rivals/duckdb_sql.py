"""`qpr clusters --coherence paper` in SQL, by duckdb.

Run: python -m benchmarks.rivals.duckdb_sql LOGS.parquet OUTPUT_FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import duckdb
import pyarrow as pa

from benchmarks.rivals import arrays
from benchmarks.rivals.arrays import MAX_CLUSTER_SIZE, MAX_PAIRS, MIN_COHERENCE
from benchmarks.rivals.rules import MIN_QUESTIONS
from schemas import text

FOLD = f"trim(regexp_replace(lower({{0}}), '{arrays.SPACES}', ' ', 'g'), ' ')"
QUOTED_OUTER = arrays.OUTER.replace("'", "''")

COUNT = """
create table counted as
select question, answer, count(*) as events, min(timestamp) as first_seen, max(timestamp) as last_seen
from read_parquet($logs) group by all
"""

ASK = """
create table asked as
select f.question_id, f.key, c.question as text, a.cluster_id, c.answer, c.events, c.first_seen, c.last_seen
from counted c join forms f using (question) join answers a using (answer)
"""

QUESTIONS = """
create table questions as
with texts as (select question_id, text, sum(events) as events from asked group by all),
replies as (select question_id, answer, sum(events) as events from asked group by all),
named as (select question_id, arg_min(text, (-events, text)) as text from texts group by all),
answered as (select question_id, arg_min(answer, (-events, answer)) as answer from replies group by all)
select question_id, any_value(key) as key, any_value(named.text) as text, sum(events)::bigint as events,
       min(first_seen) as first_seen, max(last_seen) as last_seen, any_value(answered.answer) as answer
from asked join named using (question_id) join answered using (question_id) group by question_id
"""

MEMBERS = """
create table members as
with replies as (select cluster_id, answer, sum(events) as events from asked group by all),
named as (select cluster_id, arg_min(answer, (-events, answer)) as answer from replies group by all),
met as (select cluster_id, question_id, sum(events)::bigint as events from asked group by all)
select cluster_id, question_id, q.text, named.answer, met.events, null::varchar as split,
       count(*) over (partition by cluster_id) as size,
       row_number() over (partition by cluster_id order by question_id) - 1 as rank
from met join questions q using (question_id) join named using (cluster_id)
"""

SCORE = """
with words as (select cluster_id, token, weight from {0} join words using (question_id)),
total as (select cluster_id, count(*) as n, sum(weight) as w from words group by all),
once as (select distinct cluster_id, token, weight from words),
joint as (select cluster_id, count(*) as n, sum(weight) as w from once group by all),
sizes as (select cluster_id, count(*) as size from {0} group by all)
select cluster_id, size, total.n / joint.n / size as coherence,
       (total.n / joint.n - 1) / (size - 1) as adjusted_coherence,
       (total.w / joint.w - 1) / (size - 1) as idf_coherence
from total join joint using (cluster_id) join sizes using (cluster_id)
"""

CLUSTERS = """
select cluster_id, cluster_id as answer_hash, any_value(answer) as answer, any_value(split) as split,
       any_value(s.size) as size, sum(events)::bigint as events, any_value(s.coherence) as coherence,
       any_value(adjusted_coherence) as adjusted_coherence, any_value(idf_coherence) as idf_coherence,
       list(question_id order by question_id) as question_ids, list(text order by question_id) as texts
from finished join scores s using (cluster_id) group by cluster_id
"""

PAIRS = f"""
with ranked as (
    select *, row_number() over (partition by cluster_id order by question_id) - 1 as place,
           count(*) over (partition by cluster_id) as questions from finished
),
ends as (
    select cluster_id, a.place as rank_1, b.place as rank_2 from ranked a join ranked b using (cluster_id)
    where a.place < b.place and a.questions * (a.questions - 1) // 2 <= {MAX_PAIRS}
    union all select * from chosen
)
select a.question_id as question_id_1, a.text as text_1, b.question_id as question_id_2, b.text as text_2,
       ends.cluster_id
from ends join ranked a on ends.cluster_id = a.cluster_id and a.place = rank_1
     join ranked b on ends.cluster_id = b.cluster_id and b.place = rank_2
"""

PLACED = """
select q.*, best.place.cluster_id as cluster_id, best.place.split as split
from questions q left join (
    select question_id, arg_min({'cluster_id': cluster_id, 'split': split}, (-events, cluster_id)) as place
    from finished group by all
) best using (question_id)
"""


def register_by_hand(
    con: duckdb.DuckDBPyConnection, name: str, query: str, function: Callable[[str], object], kind: pa.DataType
) -> None:
    """Make a table of ``value`` and ``result`` of a Python function for each distinct text of a query."""
    values = con.sql(query).to_arrow_table()["value"]
    results = pa.array([function(value) for value in values.to_pylist()], kind)
    con.register(name, pa.table({"value": values, "result": results}))


def name_texts(con: duckdb.DuckDBPyConnection) -> None:
    """Make ``forms`` (question, key, question_id) and ``answers`` (answer, cluster_id)."""
    for column in ("question", "answer"):
        fold = FOLD.format(column)
        con.sql(f"create table distinct_{column} as select distinct {column} from counted")
        register_by_hand(
            con,
            f"{column}_by_hand",
            f"select {column} as value from distinct_{column} where strlen({column}) != length({column})",
            text.key if column == "question" else text.fold,
            pa.string(),
        )
        short = f"trim({fold}, '{QUOTED_OUTER}')" if column == "question" else fold
        con.sql(
            f"create table short_{column} as select d.{column}, coalesce(h.result, {short}) as short, "
            f"h.result is null as ascii from distinct_{column} d left join {column}_by_hand h on d.{column} = h.value"
        )
        values = con.sql(f"select short, bool_and(ascii) as ascii from short_{column} group by all").to_arrow_table()
        prefix = "" if column == "question" else "text:"
        ids = pa.array(arrays.hashes(prefix + value for value in values["short"].to_pylist()))
        con.register(f"hashed_{column}", values.append_column("id", ids))
    con.sql(
        """create table forms as select question, short as key, id as question_id
        from short_question join hashed_question using (short)"""
    )
    con.sql(
        "create table answers as select answer, id as cluster_id from short_answer join hashed_answer using (short)"
    )


def find_words(con: duckdb.DuckDBPyConnection) -> None:
    """Make ``words``: question_id, token, weight, each distinct token of a question once."""
    register_by_hand(
        con, "listed", "select short as value from hashed_question where not ascii", text.tokens, pa.list_(pa.string())
    )
    con.sql(
        """create table tokens as select id as question_id, unnest(list_distinct(coalesce(listed.result,
        regexp_extract_all(short, '[0-9A-Za-z_]+')))) as token
        from hashed_question left join listed on short = value"""
    )
    con.sql(
        f"""create table words as with frequency as (select token, count(*) as n from tokens group by all),
        weights as (select token, ln(1 + greatest((select count(*) from questions), {MIN_QUESTIONS}) / n) as weight
        from frequency)
        select question_id, token, weight from tokens join weights using (token)"""
    )


def main(logs: str, output: str) -> None:
    """Read, cluster and write."""
    con = duckdb.connect(config={"arrow_large_buffer_size": False})
    con.execute(COUNT, {"logs": logs})
    name_texts(con)
    con.sql(ASK)
    con.sql(QUESTIONS)
    find_words(con)
    con.sql(MEMBERS)
    lost = []

    def reject(stage: str, reason: str, query: str, score: str = "null::double") -> None:
        told = con.sql(f"select text, answer, events, cluster_id, split, {score} as score {query}").to_arrow_table()
        labels = {"stage": pa.repeat(stage, len(told)), "reason": pa.repeat(reason, len(told))}
        lost.append(pa.table({**labels, "score": told["score"], "payload": arrays.payloads(told)}))

    reject("size", "single_question", "from members where size = 1")
    reject("size", "over_max_cluster_size", f"from members where size > 1 and rank >= {MAX_CLUSTER_SIZE}")
    con.sql(f"create table sized as from members where size > 1 and rank < {MAX_CLUSTER_SIZE}")
    con.sql("create table all_scores as " + SCORE.format("sized"))
    con.sql(
        "create table judged as select sized.* exclude (size), coherence from sized join all_scores using (cluster_id)"
    )
    reject("coherence", "incoherent", f"from judged where coherence < {MIN_COHERENCE}", "coherence")
    ids = con.sql(f"select distinct cluster_id from judged where coherence >= {MIN_COHERENCE}").to_arrow_table()
    ids = ids.append_column("split", pa.array(arrays.splits(ids["cluster_id"].to_numpy()), pa.string()))
    con.register("split_of", ids)
    con.sql(
        """create table believed as select judged.* replace (s.split as split)
        from judged join split_of s using (cluster_id)"""
    )
    con.sql("create table train as from believed where split = 'train'")
    con.sql("create table held_out as from believed where split != 'train'")
    known = "(select question_id from train)"
    reject("leakage", "in_train", f"from held_out where question_id in {known}")
    con.sql(
        f"""create table clean as select *, count(*) over (partition by cluster_id) as size
        from held_out where question_id not in {known}"""
    )
    reject("leakage", "left_alone", "from clean where size = 1")
    con.sql("create table kept as select * exclude (size) from clean where size > 1")
    con.sql("create table finished as from train union all from kept")
    again = SCORE.format("kept")
    con.sql(
        f"create table scores as from all_scores where cluster_id in (select cluster_id from train) union all ({again})"
    )
    large = con.sql(f"select cluster_id, size from scores where size * (size - 1) // 2 > {MAX_PAIRS}").fetchall()
    chosen = arrays.chosen_pairs([cluster for cluster, _ in large], [size for _, size in large])
    con.register("chosen", chosen)
    tables = {
        name: con.sql(query).to_arrow_table()
        for name, query in (("questions", PLACED), ("clusters", CLUSTERS), ("pairs", PAIRS))
    }
    arrays.save(output, {**tables, "rejected": pa.concat_tables(lost)})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
