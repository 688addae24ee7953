"""The guard of answer types."""

import pytest

from model.guards.answer_types.difference import answer_type_differs
from model.guards.reading import Reading

DIFFERENT = [
    ("How do I renew my library card?", "How often do I renew my library card?"),
    ("How much is a child ticket to Bath?", "Where do I buy a child ticket to Bath?"),
    ("Could you tell me how much the season ticket costs?", "Could you tell me where I can get the season ticket?"),
    ("I'd like to know how long the visa is valid", "I'd like to know how much the visa costs"),
    ("price of parking at terminal 2", "phone number of parking at terminal 2"),
    ("opening hours ikea croydon", "address ikea croydon"),
    ("What is the battery capacity of the Pixel 8?", "What is the screen size of the Pixel 8?"),
    ("What's the application deadline for the course?", "What's the application fee for the course?"),
    ("what languages are spoken in belgium", "how many languages are spoken in belgium"),
    ("Which platform does the train to Hull leave from?", "What time does the train to Hull leave?"),
    ("When did Mozart die?", "How did Mozart die?"),
    ("How long do elephants live?", "Where do elephants live?"),
    ("how wide is the sofa lund", "how deep is the sofa lund"),
    ("How far away is the Moon?", "How old is the Moon?"),
    ("What is the sofa made of?", "What colour is the sofa?"),
    ("Which countries is the visa valid for?", "How long is the visa valid for?"),
    ("If I lose my key, who do I call?", "If I lose my key, how much do I pay?"),
    ("who can apply for a parking permit?", "where can I apply for a parking permit?"),
    ("How is flu treated?", "How long does flu last?"),
    ("how far is the airport from lisbon", "how do i get to the airport from lisbon"),
    ("whens the next bus to Cork", "wheres the next bus to Cork"),
    ("whats the weight limit for a parcel", "whats the size limit for a parcel"),
    ("Please send me the address of the clinic", "Please send me the phone number of the clinic"),
    ("Why should I worm my puppy?", "How should I worm my puppy?"),
    ("What are your opening hours?", "What is your address?"),
    ("Can you tell me what the sauna costs?", "Can you tell me where the sauna is?"),
    ("Which flour do I use for pizza?", "How much flour do I use for pizza?"),
    ("What is the area of the park?", "Where is the park?"),
    ("What is a smart meter?", "How much is a smart meter?"),
    ("What is Vesak?", "When is Vesak?"),
    ("What causes shingles?", "What helps against shingles?"),
    ("Who discovered Titan?", "How was Titan discovered?"),
    ("In which museum is the mask?", "How old is the mask?"),
    ("From which direction does the wind come?", "How strong is the wind?"),
    ("How often do I take the drops?", "How many of the drops do I take?"),
    ("Whom do I send the form to?", "What do I put in the form?"),
    ("How thick should the insulation be?", "What material should the insulation be?"),
]
SAME = [
    ("What is an atheist?", "Who is an atheist?"),
    ("What is last entry?", "When is last entry?"),
    ("Where is Ladin spoken?", "In which areas do people speak Ladin?"),
    ("How much is 20 dollars in euros?", "In euros, what do 20 dollars come to?"),
    ("What are the terms and conditions for the contract?", "What requirements does the contract have?"),
    ("What are the terms of the loan?", "What are the requirements of the loan?"),
    ("Where is my top-up?", "When will my top-up arrive?"),
    ("What exactly makes yeast dough rise?", "Why does yeast dough rise?"),
    ("Who is more powerful, India or Pakistan?", "Which country is more powerful, India or Pakistan?"),
    ("How much hours does a pilot fly?", "How many hours does a pilot fly?"),
    ("How are professors of law paid?", "How much are professors of law paid?"),
    ("When will my parcel arrive?", "How long does my parcel take?"),
    ("How do I get to the museum?", "Where is the museum?"),
    ("When are you open?", "What are your opening hours?"),
    ("What time does it close?", "When does it close?"),
    ("How come my payment is pending?", "Why is my payment pending?"),
    ("Why is my payment still pending?", "When will my payment go through?"),
    ("Why isn't my order here?", "Where is my order?"),
    ("What is the cost of a ticket?", "How much is a ticket?"),
    ("In which city was Mozart born?", "Where was Mozart born?"),
    ("How many days does shipping take?", "How long does shipping take?"),
    ("How many pounds does a hippo weigh?", "How heavy is a hippo?"),
    ("How do I know when my order ships?", "When will my order ship?"),
    ("Can you tell me when the shop where I bought it opens?", "Where does the shop open?"),
    ("When I pay by card, the payment fails", "Why does the payment fail by card?"),
    ("Who makes the drill?", "What is the brand of the drill?"),
    ("How old is Madonna?", "When was Madonna born?"),
    ("What is a good website for books?", "Where do I find books?"),
    ("I don't like your company. Delete my account.", "How do I delete my account?"),
    ("Where can I change my password?", "How can I change my password?"),
    ("Who won the 2014 World Cup?", "Which country won the 2014 World Cup?"),
    ("What do I use a VPN for?", "Why use a VPN?"),
    ("change the instalment amount", "How can I change the instalment?"),
    ("Why is roaming in Turkey expensive?", "How expensive is roaming in Turkey?"),
    ("When does water boil?", "At what temperature does water boil?"),
    ("Where is my new card?", "When will I get my new card?"),
    ("What can I do to earn money online?", "How can I earn money online?"),
    ("On which date CAT 2016 will be held?", "When will CAT 2016 be held?"),
    ("What might cause spots in the eye?", "What causes spots in the eye?"),
    ("Which phone is better, Pixel or iPhone?", "What are the benefits of a Pixel or iPhone?"),
    ("How far in advance should I book?", "When should I book?"),
    ("What is the fee for a visa?", "How do I pay the fee for a visa?"),
    ("Do disposable cameras expire? Why?", "When do disposable cameras expire?"),
    ("distance paris lyon", "population paris lyon"),
    ("Which areas do you deliver to?", "Where do you deliver?"),
    ("What can I pay my bill with?", "How can I pay my bill?"),
    ("With what can I pay my bill?", "Where can I pay my bill?"),
]


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_another_property_of_the_same_thing_is_seen(one, two):
    assert answer_type_differs(Reading(one), Reading(two))
    assert answer_type_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(("one", "two"), SAME)
def test_questions_that_may_have_one_answer_are_left(one, two):
    assert not answer_type_differs(Reading(one), Reading(two))
    assert not answer_type_differs(Reading(two), Reading(one))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("How old is the castle in Prague?", "How tall is the giraffe in Nairobi?"),
        ("When does the pool open?", "Where can I renew a passport?"),
    ],
)
def test_questions_about_different_things_are_left_to_the_confidence_model(one, two):
    assert not answer_type_differs(Reading(one), Reading(two))


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("Why is the museum closed on Mondays?", "Is the museum closed on Mondays?"),
        ("Why is it so hard to learn Finnish?", "Is it hard to learn Finnish?"),
        ("Why do cats purr?", "Do cats purr?"),
        ("How do penguins sleep?", "Do penguins sleep?"),
        ("How did the Dutch save the village?", "Did the Dutch really save the village?"),
        ("Hi, why has the fare gone up?", "Has the fare gone up?"),
        ("Why will the bridge be rebuilt?", "Will the bridge be rebuilt?"),
    ],
)
def test_an_answer_to_whether_does_not_serve_who_asks_why(asked, known):
    assert answer_type_differs(Reading(asked), Reading(known))
    assert not answer_type_differs(Reading(known), Reading(asked))


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("How do I cancel my order?", "Can I cancel my order?"),
        ("How can a tourist open an account?", "Can a tourist open an account?"),
        ("Why should I insure my bike?", "Should I insure my bike?"),
        ("How is the weather in Oslo?", "Is the weather in Oslo good?"),
        ("Why is the museum closed on Mondays?", "Is the museum in Bonn closed on Mondays?"),
        ("Why isn't the lift working?", "Is the lift working?"),
        ("When does the pool open?", "Is the pool open?"),
    ],
)
def test_a_question_whether_is_left_where_its_answer_may_serve(asked, known):
    assert not answer_type_differs(Reading(asked), Reading(known))
    assert not answer_type_differs(Reading(known), Reading(asked))
