import numpy as np

from pipelines.linkage.comparison.pair_features import NAMES
from pipelines.linkage.scoring import fellegi_sunter


def invented(random: np.random.Generator, *, answers: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features, answers and truth of pairs: paraphrases are alike, every fourth answer holds none."""
    answer = np.repeat(np.arange(answers), size)
    same = (random.random(len(answer)) < 0.4) & (answer % 4 > 0)
    features = np.zeros((len(answer), len(NAMES)), np.float32)
    alike = np.where(same, random.beta(6, 4, len(answer)), random.beta(1, 9, len(answer)))
    for name in ("stems_here", "grams_here"):
        features[:, NAMES.index(name)] = alike
    features[:, NAMES.index("margin_min")] = np.where(same, 0.1, -0.3) + random.normal(0, 0.15, len(answer))
    return features, answer, same


def test_matches_are_separated_from_non_matches_without_a_label() -> None:
    features, answers, same = invented(np.random.default_rng(0), answers=400, size=10)
    probability = fellegi_sunter.fit(features, answers).probability(features, answers)
    assert np.mean((probability > 0.5) == same) > 0.97


def test_more_similarity_never_lowers_the_probability() -> None:
    features, answers, _ = invented(np.random.default_rng(1), answers=50, size=6)
    for ratio in fellegi_sunter.fit(features, answers).ratios:
        assert (np.diff(ratio) >= 0).all()


def test_an_answer_full_of_matches_raises_the_probability_of_an_unsure_pair() -> None:
    features, answers, _ = invented(np.random.default_rng(2), answers=200, size=10)
    model = fellegi_sunter.fit(features, answers)
    pair = np.zeros((1, len(NAMES)), np.float32)
    pair[0, [NAMES.index("stems_here"), NAMES.index("grams_here")]] = 0.33
    sure, hopeless = pair.copy(), pair.copy()
    sure[0, [NAMES.index("stems_here"), NAMES.index("grams_here"), NAMES.index("margin_min")]] = 0.9
    hopeless[0, NAMES.index("margin_min")] = -0.6
    among_matches = model.probability(np.vstack([pair, *[sure] * 8]), np.zeros(9, np.int64))[0]
    hopeless[0, [NAMES.index("stems_here"), NAMES.index("grams_here")]] = 0
    among_others = model.probability(np.vstack([pair, *[hopeless] * 8]), np.zeros(9, np.int64))[0]
    assert among_matches > among_others
