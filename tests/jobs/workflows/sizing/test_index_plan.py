"""The size of the inputs of an index, from which its cost is predicted."""

import csv

import pytest

from jobs.workflows.confidence import MOST_QUERIES
from jobs.workflows.sizing.index_plan import size_of
from jobs.workflows.sizing.indexed_model import IndexedModel
from pipelines.graphs.settings import IndexConfig
from pipelines.reading.index_inputs import question_files
from pipelines.reading.sources import expand
from schemas.artifacts import storage
from schemas.artifacts.manifest import MANIFEST, read_manifest


@pytest.fixture
def size(tmp_path, make_model):
    """Return a function that returns the size of questions at a URL."""
    make_model(tmp_path / "model")
    model = IndexedModel.of(str(tmp_path / "model"))

    def of(url):
        names = IndexConfig().column_names
        inputs = question_files(
            [url], names, files_of=lambda one: expand([one]), file_options=[], filters=IndexConfig().filters
        )
        return size_of(inputs, model, bm25=True, timed=False)

    return of


@pytest.mark.parametrize(
    ("wordings", "answers", "queries"),
    [(3, 50, 150), (1, 300, 0), (2, 40, 0), (2, 3_000, MOST_QUERIES)],
    ids=["several wordings", "one each", "too few", "more than are used"],
)
def test_the_queries_of_the_confidence_model_are_wordings_of_answers_that_have_several(
    tmp_path, size, wordings, answers, queries
):
    with open(tmp_path / "faq.csv", "w", newline="") as file:
        rows = [(f"question {n} in wording {w}", f"answer {n}") for w in range(wordings) for n in range(answers)]
        csv.writer(file).writerows([("question", "answer"), *rows])
    assert size(str(tmp_path / "faq.csv")).queries == queries


@pytest.mark.parametrize(("counted", "queries"), [(99, 0), (120, 120), (10**6, MOST_QUERIES)])
def test_the_queries_of_the_confidence_model_are_the_validation_questions_of_a_dataset(
    tmp_path, size, make_training_data, counted, queries
):
    url = make_training_data(str(tmp_path / "dataset"), [("train", ["how do I pay", "paying"])])
    manifest = read_manifest(url, "dataset")
    changed = manifest.model_copy(update={"counters": {"members_validation": counted}})
    storage.write_bytes(storage.join(url, MANIFEST), changed.content)
    assert size(url).queries == queries
