import pydantic
import pytest

from pipelines.simulation.lexicon import Lexicon, lexicon


def test_every_list_has_words_and_none_twice():
    for field, words in lexicon():
        for listed in words if field == "company_syllables" else [words]:
            assert len(listed) > 2, field
            assert len(set(listed)) == len(listed), field


def test_aliases_belong_to_countries_and_cities_and_differ_from_them():
    named = {country.name for country in lexicon().countries} | set(lexicon().real_cities)
    assert set(lexicon().aliases) <= named
    assert not set(lexicon().aliases.values()) & named


def test_a_list_that_is_missing_or_unknown_is_an_error():
    content = lexicon().model_dump()
    assert Lexicon(**content) == lexicon()
    with pytest.raises(pydantic.ValidationError, match=r"animals\n  Field required"):
        Lexicon(**{field: words for field, words in content.items() if field != "animals"})
    with pytest.raises(pydantic.ValidationError, match=r"plants\n  Extra inputs"):
        Lexicon(**content, plants=("oak",))
