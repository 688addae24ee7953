"""Options and other codes in which each sign counts."""

import pytest

from model.guards.reading import Reading
from model.guards.symbols import symbols_differ


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("What does chmod +x do?", "What does chmod -x do?"),
        ("What does grep -v do?", "What does grep -V do?"),
        ("What does rm -r do?", "What does rm -f do?"),
        ("What does git push -f do?", "What does git push do?"),
        ("What does :q! do in vim?", "What does :q do in vim?"),
        ("What does *31# do?", "What does #31# do?"),
        ("What does \\d match?", "What does \\D match?"),
        ("What does $# mean in bash?", "What does $? mean in bash?"),
        ("What is $!", "What is $?"),
        ("What does <3 mean?", "What does </3 mean?"),
        ("What does cd .. do?", "What does cd . do?"),
        ("AA batteries", "AAA batteries"),
        ("What is r/python?", "What is u/python?"),
        ("A burger w/ onions?", "A burger w/o onions?"),
        ("A room with a balcony?", "A room w/o a balcony?"),
        ("A room w/ a balcony?", "A room without a balcony?"),
        ("What is 12/4?", "What is 12*4?"),
        ("What is 12 divided by 4?", "What is 12 times 4?"),
        ("What is 7 x 8?", "What is 7 + 8?"),
        ("A burger w/ onions?", "A burger w/out onions?"),
        ("What is a ratio of 5:1?", "What is a ratio of 1:5?"),
        ("Is ?: in Kotlin?", "Is ?. in Kotlin?"),
        ("What is the use of :: in Java?", "When do I write : in Java?"),
        ("What does >out do?", "What does <out do?"),
        ("How do I solve 2x + 5 = 9?", "How do I solve 2x - 5 = 9?"),
        ("Is a USB-A stick fast?", "Is a USB-C stick fast?"),
        ("May I work on an F-1 visa?", "May I work on a J-1 visa?"),
        ("Is 50 Mb/s enough?", "Is 50 MB/s enough?"),
        ("What is 2d6+3?", "What is 2d6-3?"),
        ("Solve x² - 9 = 0", "Solve x² + 9 = 0"),
        ("What is measured in N·m?", "What is measured in N/m?"),
    ],
)
def test_another_code_is_another_question(one, two):
    assert symbols_differ(Reading(one), Reading(two))
    assert symbols_differ(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("How do I use the -r flag of grep?", "How do I use the r flag of grep?"),
        ("What does ls -l -a show?", "What does ls -a -l show?"),
        ("What does grep -v do?", "How does the option -v of grep work?"),
        ("What does git push -f do?", "What does git push do if I force it?"),
        ("What does :wq do?", "What does wq do?"),
        ("Is a AAA rating good?", "Is a triple-A rating good?"),
        ("What is /r/python?", "What is r/python?"),
        ("A burger w/o onions?", "A burger without onions?"),
        ("A burger w/o onions?", "A burger w/out onions?"),
        ("A burger w/onions?", "A burger with onions?"),
        ("A burger w/onions?", "A burger w/onions please?"),
        ("Is −x a number?", "Is -x a number?"),
        ("Tea w/ milk, w/o sugar?", "Tea with milk and without sugar?"),
        ("Tea w/ milk, w/o sugar?", "Tea with milk, no sugar?"),
        ("Is it open 24/7?", "Is it open 24-7?"),
        ("What is 12/4?", "What is 12 ÷ 4?"),
        ("What is 4x6?", "What is 4*6?"),
        ("Did they win 2:0?", "Did they win 2-0?"),
        ("Is 1:1 the ratio?", "Is the ratio 1:1?"),
        ("What does ls -l -a show?", "What does ls -l show me?"),
        ("A burger with ham and/or cheese?", "A burger without ham and/or cheese?"),
        ("What is x ÷ y?", "What is x / y?"),
        ("Help : my card is lost", "Help - my card is lost"),
        ("It broke . What now?", "It broke - what now?"),
        ("My card is lost -", "My card is lost :"),
        ("& what now?", "- what now?"),
    ],
)
def test_the_same_code_in_another_spelling_is_no_difference(one, two):
    assert not symbols_differ(Reading(one), Reading(two))
    assert not symbols_differ(Reading(two), Reading(one))
