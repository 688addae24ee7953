from benchmarks.training.answer_at_one import Asked, word_cosine

LOG = [Asked("where is my card", "arrival"), Asked("the card was stolen", "theft"), Asked("what is the rate", "rates")]


def test_the_nearest_question_by_words_gives_the_answer():
    requests = [Asked("my card is where", "arrival"), Asked("someone has stolen it", "theft"), Asked("rate", "theft")]
    assert word_cosine(LOG, requests) == 2 / 3
