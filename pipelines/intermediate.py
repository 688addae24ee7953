"""Row types that travel between the steps of a pipeline, before they become the tables of a dataset.

logs:  ASKED -> QUESTIONS, MEMBERS -> (SURPLUS, PLACED_QUESTIONS -> NEIGHBOURS -> STANDINGS) -> clusters
       -> SETS, SPELLINGS, LEAKS, MENTIONS -> MEMBERSHIPS -> QUESTIONS
pairs: the rows of `duplicates.rows` -> ASKED, then as logs

Every step can add REJECTS and `Written`. Tables that are stored are declared in `schemas.tables`.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from schemas.tables import QUESTIONS, REJECTED
from schemas.text_arrays import ENCODED

_TIME: Final = QUESTIONS.field("first_seen").type

LOG_ANSWER_ID: Final = pa.field("log_answer_id", pa.string())
"""The id of an answer in the log, null where it has none; ``answer_id`` is a hash of it, or else of the text."""

ASKED: Final = pa.schema(
    [
        ("question_id", pa.int64()),
        ("key", pa.string()),
        ("text", pa.string()),  # one surface form of the question
        ("answer_id", pa.int64()),  # hash of the answer; of labelled pairs the id of the question's component
        ("answer", ENCODED),  # one surface form of that answer
        LOG_ANSWER_ID,
        ("events", pa.int64()),  # log rows with exactly these forms
        ("first_seen", _TIME),
        ("last_seen", _TIME),
    ]
)
"""One combination of question form, answer form and input batch.

Producers: `questions.row_filters.validate`, `duplicates.labelled_pairs.validate_pairs` (without answers) and
`duplicates.held_out_split.place_questions` (``question_id`` and ``answer_id`` only).
Consumer: `questions.aggregation.name_questions`.
"""

ANSWER_FORMS: Final = pa.schema(
    [ASKED.field(name) for name in ("answer_id", LOG_ANSWER_ID.name, "answer", "events", "first_seen", "last_seen")]
)
"""One form of an answer that has an id in the log.

Producer and consumer: `questions.answer_texts`.
"""

USER: Final = pa.field("user", pa.uint64())
"""Further column of ASKED where users are limited: a hash of who asked; null: unknown.

Producer: `questions.row_filters.validate`. Consumer: `privacy.k_users.limit_users`, which removes it.
"""

ENOUGH: Final = pa.field("enough", pa.bool_())
"""Further column of ASKED and `USER` where users are counted over days: enough users asked the question on its day.

Producer: `graphs.from_days.read_tagged`. Consumer: `privacy.k_users.limit_users`, which removes it.
"""

MEMBERS: Final = pa.schema(
    [
        ("answer_id", pa.int64()),
        ("cluster_id", pa.int64()),  # null until answers are split, but for ids of clusters to inherit
        ("question_id", pa.int64()),
        ("first_seen", _TIME),  # earliest time of the question, also in earlier versions; null: unknown, and on a vote
        ("text", pa.string()),  # null on a vote, and on a train row of which only the id matters
        ("answer", ENCODED),
        LOG_ANSWER_ID,
        ("events", pa.int64()),
        ("token_ids", pa.list_(pa.int64())),  # hash64 of the distinct tokens of the key
        ("bag_id", pa.int64()),  # `schemas.hashing.bag_ids` of its words, repeats included
        ("split", pa.string()),  # null until judged; of labelled pairs and questions of earlier versions never
        ("linkage_probability", pa.float64()),  # mean of its cluster; null until then and where answers are not split
    ]
)
"""One question under one answer, later in one cluster; beside them the votes of `clusters.size_cap.votes`.

Producer: `questions.aggregation.name_questions`.
Consumers: `questions.ambiguity`, `linkage`, `clusters.clustering.cluster` (which sets ``cluster_id``),
`decontamination`, `clusters.pairs.pair`.
"""

NAMED_QUESTIONS: Final = QUESTIONS.set(QUESTIONS.names.index("answer"), QUESTIONS.field("answer").with_type(ENCODED))
"""A row of `schemas.tables.QUESTIONS` whose answer is in memory once for all of its questions.

Producer: `questions.aggregation.name_questions` (without a cluster) and `assign_clusters`.
Consumers: `questions.ambiguity.with_settled_answers`, `writing.parquet.WriteTable`.
"""

MEMBERSHIPS: Final = pa.schema(
    [*(field.with_nullable(True).remove_metadata() for field in NAMED_QUESTIONS), ("events_in_cluster", pa.int64())]
)
"""A question (``cluster_id`` null) or one of its places in a finished cluster (``key`` null).

Producers: `questions.aggregation.as_memberships` and `places`. Consumer: `questions.aggregation.assign_clusters`.
"""

REJECTS: Final = pa.schema([("shard_key", pa.int64()), *REJECTED.remove_metadata()])
"""A row of `schemas.tables.REJECTED` and the hash that selects its file.

Producer: `writing.rejects`, for all steps. Consumer: `writing.parquet.WriteTable`.
"""

SURPLUS: Final = pa.schema([MEMBERS.field(name) for name in ("answer_id", "question_id", "text", "events", "split")])
"""A question beyond the largest cluster, once for each answer, whose most frequent form is not known yet.

Producer: `clusters.size_cap.cut_surplus`. Consumer: `clusters.size_cap.reject_surplus`.
"""

SETS: Final = pa.schema(
    [
        ("shard", pa.int64()),  # in which sets are compared
        ("blocking_keys", pa.list_(pa.int64())),  # keys of this shard; sets are compared if one of these is equal
        ("question_id", pa.int64()),
        ("rank", pa.int8()),  # of its split in `decontamination.near_duplicates.PRECEDENCE`
        ("bag_id", pa.int64()),  # as in MEMBERS
        ("token_ids", pa.list_(pa.int64())),  # null where equal keys of the comparison imply equal sets
    ]
)
"""A shard in which the set of words of a question is compared with others.

Producers: `decontamination.near_duplicates.sets_to_compare` and `decontamination.verification.sets_to_check`.
Consumers: `decontamination.near_duplicates.find_leaks` and `decontamination.verification.count_leaks`.
"""

SPELLINGS: Final = pa.schema(
    [
        # blocking keys are grams; shard and keys are null before
        *map(SETS.field, ("shard", "blocking_keys", "question_id", "rank")),
        ("key", pa.string()),
        ("size", pa.int32()),  # number of its distinct grams; null before
        ("parity", pa.int64()),  # of `decontamination.character_grams.Prefixes`; null before
    ]
)
"""A shard in which the spelling of a question is compared with others.

Producers: `decontamination.similar_spellings.spellings` and `place_spellings`.
Consumer: `decontamination.similar_spellings.find_similar_spellings`.
"""

LEAKS: Final = pa.schema(
    [("question_id", pa.int64()), ("rank", pa.int8()), ("reason", pa.int8()), ("score", pa.float64())]
)
"""A question to remove from the split of ``rank``: index in `near_duplicates.REASONS`, Jaccard index.

Producers: `decontamination.near_duplicates.find_leaks` and `decontamination.similar_spellings.find_similar_spellings`.
Consumer: `decontamination.evidence.accuse`.
"""

MENTIONS: Final = pa.schema([*MEMBERS, LEAKS.field("reason"), LEAKS.field("score")])
"""A member or, where ``reason`` is not null, evidence that its question leaks: question, split, reason and score.

Producers: `decontamination.evidence.mention` and `accuse`. Consumer: `decontamination.evidence.drop_leaked`.
"""

VECTOR: Final = pa.field("vector", pa.large_binary())
"""Further column of MEMBERS and PLACED_QUESTIONS where an encoder is given: the (D,) int8 vector of the question.

Producer: `neighbours.embeddings.with_vectors`. Consumers: `neighbours.join`, `graphs.dataset.judge`.
"""

PLACED_QUESTIONS: Final = pa.schema(
    [
        ("shard", pa.int64()),  # number of a shard of `neighbours.join`
        *(MEMBERS.field(name) for name in ("question_id", "answer_id", "text")),
        ("sketch", pa.binary(32)),  # of `neighbours.sketches`
        ("lone", pa.bool_()),  # the only question of its answer: it is a neighbour but has none
    ]
)
"""A question in a shard where it is compared with others that share a rare stem.

Producer: `neighbours.join.place_in_shards`. Consumer: `neighbours.join.compare_placed`.
"""

NEIGHBOURS: Final = pa.schema(
    [
        ("question_id", pa.int64()),
        ("answer_id", pa.int64()),
        ("neighbour_id", pa.int64()),
        ("neighbour_answer_id", pa.int64()),
        ("similarity", pa.float32()),  # of `neighbours.similarity` or `neighbours.embeddings`, in (0, 1]
    ]
)
"""A question and one of its nearest questions with the same answer or with another one, of each at most k.

A question with several answers counts as one under each.

Producer: `neighbours.transform`. Consumer: `linkage.standings.standings_of`.
"""

STANDINGS: Final = pa.schema(
    [
        ("question_id", pa.int64()),
        ("answer_id", pa.int64()),
        ("same", pa.list_(pa.uint16())),  # similarities of at most 20 nearest questions with its answer, falling:
        ("other", pa.list_(pa.uint16())),  # and with others; multiples of 1 / 65,536, less one such, in (0, 1]
        ("support", pa.float64()),  # as in `linkage.witnesses.Witnesses`
    ]
)
"""A question under an answer among its nearest questions; those without a neighbour have no row.

Producer: `linkage.standings.standings_of`. Consumer: `linkage.witnesses.witnesses_of`.
"""
