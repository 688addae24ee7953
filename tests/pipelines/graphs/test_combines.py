"""Combined values are the same whatever an engine combines first, with empty accumulators and any compaction."""

import functools
import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.duplicates import connected_components
from pipelines.duplicates.connected_components import MergeComponents
from pipelines.duplicates.held_out_split import hold_out
from pipelines.duplicates.rows import COMPONENTS, SIZES
from pipelines.duplicates.settings import HeldOut
from pipelines.duplicates.transform import Dealing, merge_dealings
from pipelines.engine.combining import VALUES, StepwiseCombine
from pipelines.linkage.scoring.answer_sample import Sample, first_answers, first_places, place_of
from pipelines.linkage.standings import FrequentAnswer, LogAgreement
from pipelines.linkage.transform import total_of_kinds
from pipelines.questions.token_frequencies import count_tokens, merge
from schemas.ragged import pairs_in_runs

PAIRS = 12


def combine(function, elements, random):
    """Return the result of a random tree of merges; accumulators are pickled as if they were sent."""
    left = random.sample(elements, len(elements))
    accumulators = []
    while left or not accumulators:
        taken, left = left[: (number := random.randint(0, 4))], left[number:]
        accumulator = functools.reduce(function.add_input, taken, function.create_accumulator())
        accumulators.append(sent(function, accumulator, random))
    while len(accumulators) > 1 or random.random() < 0.3:
        random.shuffle(accumulators)
        number = random.randint(1, len(accumulators))
        merged = function.merge_accumulators(accumulators[:number])
        accumulators = [*accumulators[number:], sent(function, merged, random)]
    return function.extract_output(accumulators[0])


def sent(function, accumulator, random):
    return pickle.loads(pickle.dumps(function.compact(accumulator) if random.random() < 0.5 else accumulator))


def plain(value):
    """Return a value that can be compared: arrays and tables as their contents."""
    if isinstance(value, pa.Table):
        return value.to_pydict()
    if isinstance(value, np.ndarray):
        return value.dtype.kind, value.shape, value.tolist()
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return plain(tuple(vars(value).values())) if hasattr(value, "__dict__") else value


def ids(random):
    return iter(random.sample(range(1, 10**6), 600))


def token_counts(random):
    lists = [[random.sample(range(9), random.randint(0, 5)) for _ in range(random.randint(0, 4))] for _ in range(8)]
    return [count_tokens(pa.array(of_part, pa.list_(pa.int64()))) for of_part in lists]


def agreements(random):
    answers = ids(random)
    return [
        {
            kind: LogAgreement(
                *(random.randint(0, 9) for _ in range(2)),
                frequent=tuple(FrequentAnswer(next(answers), random.randint(1, 4), 0) for _ in range(20)),
            )
            for kind in range(random.randint(0, 2))
        }
        for _ in range(random.randint(0, 8))
    ]


def samples(random, columns=()):
    """Return a sample of the answers of each part, with the number of the answer as the value of its pairs."""
    answers, found = ids(random), []
    for size in [random.randint(0, 4) for _ in range(random.randint(0, 8))]:
        of_part = np.array([next(answers) for _ in range(size)], np.int64)
        effort = np.array([random.randint(1, 5) for _ in range(size)], np.int64)
        chosen = np.sort(first_places(place_of(of_part), effort, PAIRS)) if size else np.zeros(0, np.int64)
        pairs = np.repeat(np.arange(len(chosen)), effort[chosen])
        values = np.broadcast_to(of_part[chosen][pairs].reshape(-1, *(1 for _ in columns)), (len(pairs), *columns))
        found.append(Sample(place_of(of_part[chosen]), effort[chosen], pairs, pairs * 0, pairs * 0 + 1, values * 1.0))
    return found


def samples_of_features(random):
    return samples(random, columns=(3,))


def dealings(random):
    answers, found = ids(random), []
    for sizes in [[random.randint(2, 5) for _ in range(random.randint(0, 6))] for _ in range(random.randint(0, 8))]:
        table = pa.table([[next(answers) for _ in sizes], sizes], schema=SIZES)
        found.append(Dealing(table, len(sizes), sum(sizes), int(pairs_in_runs(np.array(sizes, np.int64)).sum())))
    return found


def edges(random):
    ends = [[[random.randint(-9, 9) for _ in range(size)] for _ in range(2)] for size in (0, 1, 2, 5, 7)]
    return [pa.table(of_part, schema=COMPONENTS) for of_part in ends]


HELD_OUT = HeldOut(pairs=3)
CALLED = {
    token_counts: merge,
    agreements: total_of_kinds,
    samples: functools.partial(first_answers, pairs=PAIRS),
    samples_of_features: functools.partial(first_answers, pairs=PAIRS),
    dealings: functools.partial(merge_dealings, held_out=HELD_OUT),
}


@pytest.mark.parametrize("make", CALLED)
@given(random=st.randoms(use_true_random=True))
def test_a_function_combines_parts_in_any_tree(make, random):
    function, elements = StepwiseCombine(CALLED[make]), make(random)
    whole, found = CALLED[make](elements), combine(function, elements, random)
    if make is dealings:  # a row that cannot be held out may be left out at any time
        whole, found = ((part[1:], hold_out(part.sizes, part.pairs, HELD_OUT)) for part in (whole, found))
    if make is samples_of_features and not len(whole.values):  # without a pair there is no column either
        whole, found = (part._replace(values=part.values.reshape(-1, 3)) for part in (whole, found))
    assert plain(found) == plain(whole)


@pytest.mark.parametrize("number", [0, 1, VALUES, VALUES + 1, 500])
def test_a_stepwise_combination_calls_its_function_with_few_values(number):
    sizes = []
    step = StepwiseCombine(lambda values: sizes.append(len(values)) or sum(values))
    assert step.extract_output(step.merge_accumulators([value] for value in range(number))) == sum(range(number))
    assert max(sizes) <= VALUES + 1


@given(random=st.randoms(use_true_random=True), least=st.sampled_from([1, 4, 100]))
def test_components_are_the_same_in_any_tree(random, least):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connected_components, "MIN_EDGES", least)
        elements = edges(random)
        whole = connected_components.components(elements)
        assert combine(MergeComponents(), elements, random).equals(whole)
