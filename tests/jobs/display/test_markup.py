import html.parser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.display.markup import document, el

UNWELCOME = [
    '<script>alert("1")</script>',
    "</style><img src=x onerror=alert(1)>",
    "&amp; &lt;",
    "'\"`>",
    "a\0b\x1b[31m",
]


class Seen(html.parser.HTMLParser):
    """Lists what a browser would make of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self.style = [], {}, "", ""
        self.feed(page.decode())
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes[tag] = dict(attributes)

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "style":
            self.style += data
        elif self.tags:
            self.text += data


def seen(*children, **attributes):
    return Seen(document("t", "", el("p", *children, **attributes)))


@pytest.mark.parametrize("text", UNWELCOME)
def test_a_text_stays_a_text_wherever_it_stands(text):
    page = seen(text, el("b", text), text, title=text)
    assert page.tags == ["html", "head", "meta", "meta", "meta", "meta", "title", "style", "body", "p", "b"]
    expected = text.replace("\0", "�").replace("\x1b", "�")
    assert page.text.strip() == "t" + expected * 3
    assert page.attributes["p"]["title"] == expected


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])), st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_text_comes_back(text, attribute):
    page = seen(text, title=attribute)
    assert page.text.rstrip("\n") == f"t{text}".rstrip("\n")
    assert page.attributes["p"]["title"] == attribute


@given(st.text())
def test_no_text_makes_an_element_or_breaks_the_encoding(text):
    assert seen(text).tags[-1] == "p"


def test_names_of_attributes_may_be_words_of_python_and_hold_hyphens():
    page = seen("x", class_="a", aria_label="b", data_n=3)
    assert page.attributes["p"] == {"class": "a", "aria-label": "b", "data-n": "3"}


def test_a_page_forbids_whatever_comes_from_elsewhere_and_fits_a_phone_and_the_dark():
    content = document("t", "p > a {}", el("p", el("br"), "after")).decode()
    assert content.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert '<meta charset="utf-8">' in content
    assert "default-src 'none'; style-src 'unsafe-inline'" in content
    assert 'content="width=device-width, initial-scale=1"' in content
    assert 'content="light dark"' in content
    assert "<style>p > a {}</style>" in content
    assert "<p><br>after</p>" in content
