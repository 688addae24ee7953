import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from model.reranking.features import PAIR
from model.reranking.reranker import OtherEncoder, Reranker, RerankerSettings, logits, weight_shapes
from model.reranking.saved_reranker import load_reranker, save_reranker
from model.reranking.term_statistics import WordCounts, worded
from model.search.opening import open_index
from model.search.searcher import open_searcher
from schemas.artifacts.writer import Output
from schemas.errors import QprError
from schemas.text_arrays import key_all
from tests.support.commands import run
from tests.support.manifests import edit_manifest

TEXTS = ["pay my bill", "pay the bill now", "cancel my flight", "cancel a flight", "rent a car", "rent a bike", "what"]
DEPTH = 4


@pytest.fixture(scope="module")
def place(tmp_path_factory, make_model):
    folder = tmp_path_factory.mktemp("reranker")
    for number, name in enumerate(("model", "other")):
        make_model(folder / name, encoder="subword", seed=number)
    pq.write_table(pa.table({"text": TEXTS}), folder / "q.parquet")
    for model in ("model", "other"):
        given = ("--questions", folder / "q.parquet", "--model", folder / model, "--output", folder / f"index-{model}")
        assert run("index", *given, "--shards", 2) == 0
    return folder


@pytest.fixture
def make_reranker(place):
    """Return a function that saves a reranker which loves one feature of pairs alone, and its URL."""

    def make(url, feature="jaccard", *, encoders=(), sign=1.0):
        index = open_index(str(place / "index-model"))
        counts = WordCounts.of(key_all(pa.array(TEXTS)))
        settings = RerankerSettings(
            model_digest=index.settings.model_digest,
            depth=DEPTH,
            encoders=tuple(OtherEncoder(url=str(place / name), digest=digest) for name, digest in encoders),
            hidden=1,
            questions=counts.questions,
            mean_length=counts.mean_length,
        )
        weights = {name: np.zeros(shape, np.float32) for name, shape in weight_shapes(settings).items()}
        weights["deviation"] += 1
        weights["hidden.weight"][0, 3 * (1 + len(encoders)) + PAIR.index(feature)] = sign
        weights["out.weight"][0] = 1
        save_reranker(Output(str(url), "reranker"), settings, counts, weights, inputs=[], counters={})
        return str(url)

    return make


@pytest.fixture
def opened(place, make_reranker, tmp_path):
    return open_searcher(str(place / "index-model"), rerank=make_reranker(tmp_path / "r"))


def test_the_nearest_are_ordered_by_its_score_and_the_rest_follow_in_their_order(opened):
    plain = open_searcher(opened.index.url)
    query = ["cancel my bill"]
    before, after = plain.rank(query, 7), opened.rank(query, 7)
    assert sorted(after.ids[0, :DEPTH]) == sorted(before.ids[0, :DEPTH])
    assert (after.ids[0, DEPTH:] == before.ids[0, DEPTH:]).all()
    assert (np.diff(after.scores[0]) <= 0).all()
    texts = opened.index.questions(after.rows[0, :DEPTH])["text"].to_pylist()
    shared = [len({"cancel", "my", "bill"} & set(text.split())) for text in texts]
    assert shared == sorted(shared, reverse=True)


def test_fewer_hits_are_the_first_of_more(opened):
    query = ["rent my flight", "pay a bike"]
    many = opened.rank(query, 7)
    for k in (1, 3, DEPTH, DEPTH + 1):
        few = opened.rank(query, k)
        assert (few.ids == many.ids[:, :k]).all()
        assert few.scores == pytest.approx(many.scores[:, :k])


def test_a_query_is_ordered_as_if_it_were_alone(opened, monkeypatch):
    queries = [f"{verb} {thing}" for verb in ("pay", "cancel", "rent") for thing in ("bill", "flight", "car")]
    monkeypatch.setattr("model.reranking.reranker.QUERIES", 2)
    together = opened.rank(queries, 5)
    for number, query in enumerate(queries):
        alone = opened.rank([query], 5)
        assert (alone.ids[0] == together.ids[number]).all()
        assert alone.scores[0].tobytes() == together.scores[number].tobytes()


def test_missing_hits_and_other_queries_change_no_feature(place, make_reranker, tmp_path):
    digest = open_index(str(place / "index-other")).settings.model_digest
    index, asked = open_index(str(place / "index-model")), pa.array(["rent a bike", "rent a bike"])
    url = make_reranker(tmp_path / "r", encoders=[("other", digest)])
    reranker = load_reranker(url, model_digest=index.settings.model_digest)
    rows = np.array([[0, 1, 2, 3], [4, 6, -1, -1]])
    scores = np.where(rows >= 0, np.float32([[-0.1, -0.2, -0.3, -0.4]]), np.float32(-np.inf))
    together = reranker.features(index, asked, rows, scores)
    alone = reranker.features(index, asked[1:], rows[1:, :2], scores[1:, :2])
    assert together[1, :2] == pytest.approx(alone[0], abs=1e-6)


def test_a_question_left_out_stays_out_and_one_without_a_word_finds_nothing(opened):
    own = opened.rank(["pay my bill"], 1).ids[0, 0]
    assert own not in opened.rank(["pay my bill"], 6, exclude=[own]).ids
    for k in (3, DEPTH + 2):
        nothing = opened.rank(["?!"], k)
        assert nothing.ids.tolist() == [[-1] * k]
        assert np.isneginf(nothing.scores).all()


def test_further_encoders_are_asked_and_a_changed_one_is_refused(place, make_reranker, tmp_path):
    digest = open_index(str(place / "index-other")).settings.model_digest
    url = make_reranker(tmp_path / "r", encoders=[("other", digest)])
    opened = open_searcher(str(place / "index-model"), rerank=url)
    asked = pa.array(["pay my bill"])
    hits = open_searcher(opened.index.url).rank(asked, DEPTH)
    table = opened.retrieval.reranker.features(opened.index, asked, hits.rows, hits.scores)
    texts = opened.index.questions(hits.rows[0])["text"]
    for place_of, encoder in ((0, opened.index.encoder), (3, opened.retrieval.reranker.encoders[0])):
        expected = encoder.encode(texts) @ encoder.encode(asked)[0]
        assert table[0, :, place_of] == pytest.approx(expected, abs=1e-5)
        assert table[0, expected.argmax(), place_of + 1] == 0
    wrong = make_reranker(tmp_path / "wrong", encoders=[("other", "0" * 64)])
    with pytest.raises(QprError, match="learned with model 000000000000"):
        open_searcher(str(place / "index-model"), rerank=wrong)


def test_a_reranker_of_another_index_is_refused(place, make_reranker, tmp_path):
    with pytest.raises(QprError, match="was learned with an index of model"):
        open_searcher(str(place / "index-other"), rerank=make_reranker(tmp_path / "r"))


def test_what_is_saved_is_what_is_loaded(opened):
    again = load_reranker(opened.retrieval.reranker.url, model_digest=opened.index.settings.model_digest)
    assert again.settings == opened.retrieval.reranker.settings
    assert again.counts.words == opened.retrieval.reranker.counts.words
    assert all((again.weights[name] == opened.retrieval.reranker.weights[name]).all() for name in again.weights)


@pytest.mark.parametrize("name", ["words.txt", "reranker.safetensors"])
def test_a_flipped_bit_is_noticed(opened, place, tmp_path, name):
    [path] = (tmp_path / "r").rglob(name)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(QprError, match=name):
        open_searcher(str(place / "index-model"), rerank=opened.retrieval.reranker.url)


def test_weights_that_are_no_numbers_are_not_saved(make_reranker, tmp_path):
    with pytest.raises(QprError, match=r"hidden.weight is not finite, so no reranker is written"):
        make_reranker(tmp_path / "r", sign=np.nan)
    assert not (tmp_path / "r" / "manifest.json").exists()


def test_a_model_is_no_reranker(place):
    with pytest.raises(QprError, match="holds a model, not a reranker"):
        open_searcher(str(place / "index-model"), rerank=str(place / "model"))


def test_a_feature_far_from_its_mean_counts_no_more_than_the_largest():
    settings = RerankerSettings(model_digest="m", depth=2, hidden=1, questions=1, mean_length=1)
    weights = {name: np.ones(shape, np.float32) * 0.01 for name, shape in weight_shapes(settings).items()}
    weights["deviation"] += 1
    far = np.full((1, 2, len(weights["mean"])), 1e9, np.float32)
    assert np.isfinite(logits(weights, far)).all()
    assert (logits(weights, far) == logits(weights, far * 2)).all()


def test_a_reranker_is_a_value(opened):
    assert isinstance(opened.retrieval.reranker, Reranker)
    assert opened.retrieval.reranker.depth == DEPTH


def test_a_reranker_without_a_version_of_its_words_compares_by_the_first_one(opened, place, tmp_path):
    assert opened.retrieval.reranker.counts.tokenizer == 2
    edit_manifest(tmp_path / "r", lambda manifest: manifest["configuration"].pop("tokenizer"))
    older = open_searcher(str(place / "index-model"), rerank=opened.retrieval.reranker.url).retrieval.reranker
    [rows], table = worded(pa.array(["is c++ 3.14"]), older.counts, opened.index.encoder)
    assert (rows < len(table.idf) - 1).sum() == len(["is", "c", "3", "14"])


def test_a_configuration_of_another_version_is_named(opened, place, tmp_path):
    edit_manifest(tmp_path / "r", lambda manifest: manifest["configuration"].update(version=2))
    with pytest.raises(QprError, match=r"configuration: version: .*Learn the reranker again"):
        open_searcher(str(place / "index-model"), rerank=opened.retrieval.reranker.url)
