"""The words that names of things are made of; plain lists, nothing else.

word lists -> pipelines.simulation.entities
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> list[str]:
    return text.split()


def _listed(text: str) -> list[str]:
    return text.replace("\n", "").split("|")


COUNTRIES: Final = """
France|Paris|the euro|French
Germany|Berlin|the euro|German
Spain|Madrid|the euro|Spanish
Italy|Rome|the euro|Italian
Portugal|Lisbon|the euro|Portuguese
Austria|Vienna|the euro|German
Greece|Athens|the euro|Greek
Ireland|Dublin|the euro|English and Irish
Finland|Helsinki|the euro|Finnish and Swedish
Sweden|Stockholm|the krona|Swedish
Norway|Oslo|the krone|Norwegian
Denmark|Copenhagen|the krone|Danish
Iceland|Reykjavík|the króna|Icelandic
Poland|Warsaw|the zloty|Polish
Hungary|Budapest|the forint|Hungarian
Romania|Bucharest|the leu|Romanian
Bulgaria|Sofia|the lev|Bulgarian
Ukraine|Kyiv|the hryvnia|Ukrainian
Turkey|Ankara|the lira|Turkish
Egypt|Cairo|the pound|Arabic
Morocco|Rabat|the dirham|Arabic and Berber
Kenya|Nairobi|the shilling|Swahili and English
Nigeria|Abuja|the naira|English
Ghana|Accra|the cedi|English
Ethiopia|Addis Ababa|the birr|Amharic
Senegal|Dakar|the franc|French
Tanzania|Dodoma|the shilling|Swahili and English
Uganda|Kampala|the shilling|English and Swahili
Zambia|Lusaka|the kwacha|English
Namibia|Windhoek|the dollar|English
Ivory Coast|Yamoussoukro|the franc|French
India|New Delhi|the rupee|Hindi and English
Pakistan|Islamabad|the rupee|Urdu and English
Nepal|Kathmandu|the rupee|Nepali
Bangladesh|Dhaka|the taka|Bengali
Thailand|Bangkok|the baht|Thai
Vietnam|Hanoi|the dong|Vietnamese
Malaysia|Kuala Lumpur|the ringgit|Malay
Indonesia|Jakarta|the rupiah|Indonesian
the Philippines|Manila|the peso|Filipino and English
Japan|Tokyo|the yen|Japanese
China|Beijing|the yuan|Mandarin
South Korea|Seoul|the won|Korean
Mongolia|Ulaanbaatar|the tugrik|Mongolian
Australia|Canberra|the dollar|English
New Zealand|Wellington|the dollar|English and Maori
the United States|Washington|the dollar|English
Canada|Ottawa|the dollar|English and French
Mexico|Mexico City|the peso|Spanish
Cuba|Havana|the peso|Spanish
Jamaica|Kingston|the dollar|English
Colombia|Bogotá|the peso|Spanish
Peru|Lima|the sol|Spanish
Chile|Santiago|the peso|Spanish
Argentina|Buenos Aires|the peso|Spanish
Uruguay|Montevideo|the peso|Spanish
Brazil|Brasília|the real|Portuguese
the United Kingdom|London|the pound|English
Belgium|Brussels|the euro|Dutch, French and German
the Netherlands|Amsterdam|the euro|Dutch
""".strip().splitlines()
"""Country, capital, currency and language, one country a line."""

REAL_CITIES: Final = _listed(
    """
Paris|London|Rome|Berlin|Madrid|Vienna|Tokyo|Lisbon|Dublin|Athens|Cairo|Nairobi|Lima|Sydney|Chicago|Boston|
Toronto|Mumbai|Osaka|Zürich|Istanbul|Milan|Hamburg|Lyon|Seville|Glasgow|Antwerp|Kraków|Bangkok|Shanghai|
New York City|Los Angeles|San Francisco|São Paulo|Rio de Janeiro|Hong Kong|Cape Town
"""
)

LANDMARKS: Final = {
    "the Louvre": "Paris",
    "the Eiffel Tower": "Paris",
    "Notre-Dame": "Paris",
    "Big Ben": "London",
    "the Tate Modern": "London",
    "the Colosseum": "Rome",
    "the Trevi Fountain": "Rome",
    "the Brandenburg Gate": "Berlin",
    "the Prado": "Madrid",
    "the Acropolis": "Athens",
    "the Opera House with the white sails": "Sydney",
    "the Empire State Building": "New York City",
    "the Statue of Liberty": "New York City",
    "the Golden Gate Bridge": "San Francisco",
}

ALIASES: Final = {
    "the United States": "America",
    "the United Kingdom": "Britain",
    "the Netherlands": "Holland",
    "Ivory Coast": "Côte d'Ivoire",
    "South Korea": "the Republic of Korea",
    "New York City": "NYC",
    "Los Angeles": "LA",
    "San Francisco": "Frisco",
    "Rio de Janeiro": "Rio",
    "São Paulo": "Sao Paulo",
    "Zürich": "Zurich",
    "Kraków": "Krakow",
}

TOWN_STARTS: Final = _words(
    """
Ash Bram Cald Dun Elm Fair Glen Hart Iron Kel Lang Mar Nor Oak Pen Quarn Red Stan Thorn Up Val West Yar Brook
Cran Dray East Fern Grim Holm Kirk Lind Mill Nether Oster Pem Rush Sel Tam Ulver Wan Wood Bex Corn Dal Ever
Flint Gran Hazel Keld Lock Mid
"""
)
TOWN_ENDINGS: Final = _words(
    """
ford ton burg ville haven mouth stead field bridge wick ham dale port minster cliffe worth mere holt combe ridge
gate well bourne shaw leigh
"""
)

FIRST_NAMES: Final = _words(
    """
Ada Alan Amara Anders Anita Arthur Beatrix Boris Carla Cedric Chloe Clara Damian Daphne Diego Edith Elena Elias
Emeka Esther Fatima Felix Fiona Gareth Greta Hamid Hannah Hugo Imani Ingrid Isaac Ivan Jasmine Joel Jonas Judith
Kamal Karin Keiko Kofi Lars Leila Leon Linnea Lucas Mabel Magnus Malik Maria Marta Milo Mina Nadia Nigel Nina
Noel Nora Olga Omar Oscar Paula Pedro Petra Priya Quentin Rafael Ramona Ravi Rosa Ruben Ruth Samir Selma Sergio
Sofia Stefan Tara Teresa Tobias Ursula Valentin Vera Victor Wanda Wilma Xavier Yara Yusuf Zoe
"""
)
LAST_NAMES: Final = _words(
    """
Abbott Adeyemi Almeida Andersen Ashworth Baptiste Barrow Bauer Becker Bellamy Bergman Blackwood Boateng Brandt
Calloway Carvalho Castellan Chandra Coleridge Corrigan Dahl Delacroix Demir Dimitrov Donovan Drummond Eriksen
Escobar Fairbanks Falk Farrow Ferrante Finch Fontaine Galloway Garside Gilroy Goldberg Granger Greenhalgh Haddad
Halloran Hartmann Hawthorne Holloway Ibarra Ishikawa Jansen Jarvis Kapoor Kaufman Kimura Kowalski Lambert
Larsson Leclerc Lindgren Lombardi MacLeod Madsen Marchetti Mbeki Meredith Mitchum Moreau Nakamura Navarro Nkosi
Novak Okafor Oliveira Osborne Pacheco Palmgren Pereira Petrov Quigley Ramirez Rasmussen Redgrave Rossetti
Rutherford Sandoval Schreiber Sinclair Soares Sorensen Stanhope Sutherland Takahashi Tennyson Thackeray
Underhill Valdez Vandermeer Vasquez Volkov Wakefield Weatherby Whitlock Winslow Yamamoto Zielinski
"""
)

COMPANY_SYLLABLES: Final = (
    _words("Vel Tor Zan Kry Lum Nex Pra Qui Ros Syn Tal Uni Vor Wex Xan Yel Bol Cor Dex Fen"),
    _words("ta mo ri na lo ve di ka su pe go ni"),
    _words("ra x dyne lith via nor quest tek lux mar"),
)
COMPANY_ENDINGS: Final = _words("Systems Foods Motors Labs Airlines Bank Energy Textiles Robotics Media")
MEDICINE_ENDINGS: Final = _words("zole mycin pril statin oxine")

ADJECTIVES: Final = _words(
    """
Silent Crimson Broken Golden Hidden Frozen Distant Burning Hollow Gentle Restless Crooked Velvet Bitter Scarlet
Wandering Forgotten Electric Emerald Fearless Furious Ancient Lonely Patient Quiet Radiant Savage Secret
Shattered Sleeping Stolen Sunken Tender Twisted Unseen Vanishing Violet Winter Wooden Yellow Borrowed Clever
Dancing Endless Final Gilded Humble Invisible Jagged Lucky
"""
)
NOUNS: Final = _words(
    """
Harbor Garden Mirror River Castle Shadow Lantern Orchard Mountain Letter Horizon Compass Bridge Feather Island
Kingdom Promise Station Thunder Voyage Window Anchor Bell Candle Desert Engine Forest Glacier Hammer Inheritance
Journey Key Lighthouse Meadow Needle Ocean Painter Quarry Railway Sailor Tempest Umbrella Valley Whisper
Clockmaker Astronomer Beekeeper Cartographer Ferryman Gardener
"""
)

ANIMALS: Final = _words(
    """
elephant giraffe tiger lion cheetah penguin ostrich dolphin octopus hedgehog kangaroo koala platypus otter
beaver badger wolf fox bear moose reindeer bison camel llama alpaca zebra rhinoceros hippopotamus crocodile
alligator tortoise gecko chameleon iguana cobra python owl eagle falcon hummingbird pelican flamingo parrot
raven sparrow swan salmon shark seahorse jellyfish starfish lobster crab snail butterfly bumblebee dragonfly
ladybird grasshopper scorpion tarantula bat squirrel hamster rabbit meerkat lemur gorilla orangutan chimpanzee
baboon sloth armadillo anteater walrus seal manatee
"""
)

ELEMENTS: Final = _listed(
    """
hydrogen H|helium He|lithium Li|beryllium Be|boron B|carbon C|nitrogen N|oxygen O|fluorine F|neon Ne|sodium Na|
magnesium Mg|aluminum Al|silicon Si|phosphorus P|sulfur S|chlorine Cl|argon Ar|potassium K|calcium Ca|
scandium Sc|titanium Ti|vanadium V|chromium Cr|manganese Mn|iron Fe|cobalt Co|nickel Ni|copper Cu|zinc Zn|
gallium Ga|germanium Ge|arsenic As|selenium Se|bromine Br|krypton Kr|rubidium Rb|strontium Sr|yttrium Y|
zirconium Zr|niobium Nb|molybdenum Mo
"""
)
"""Name and symbol in order of the atomic number, from 1."""

DISH_STYLES: Final = _words(
    """
spicy creamy roasted smoky baked braised crispy vegan grilled stuffed sweet rustic pickled buttery classic
"""
)
DISH_BASES: Final = _words(
    """
lentil chicken mushroom pumpkin salmon tomato spinach potato beef carrot chickpea aubergine shrimp cauliflower
leek turkey lamb apple cherry barley
"""
)
DISH_FORMS: Final = _words("soup curry pie stew salad casserole risotto tart dumplings pasta")

MASCOTS: Final = _words("Rovers Hawks Wanderers Bears Comets Pirates Dragons Foxes Knights Giants United Royals")
LANDMARK_KINDS: Final = _words("Museum Tower Bridge Cathedral Observatory Fountain Palace Library")
MONTHS: Final = _words(
    """
January February March April May June July August September October November December
"""
)
WEEKDAYS: Final = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
LANGUAGES: Final = _words(
    """
Spanish Italian German Portuguese Swedish Polish Turkish Swahili Hindi Japanese Korean Finnish Greek Arabic
Dutch Welsh
"""
)
AWARDS: Final = _listed(
    """
the Amber Cup|the Northern Open|the Harbour Regatta|the Silver Lens|the Winter Classic|the Marble Prize|
the Coastal Marathon|the Quill Award|the Alpine Trophy|the Jubilee Stakes|the Laurel Medal|the Grand Rally
"""
)
MEDICINE_USES: Final = _listed(
    "headaches|fevers|allergies|infections|insomnia|high blood pressure|asthma|travel sickness"
)
JOBS: Final = _words("painter chemist novelist sprinter composer architect botanist pianist surgeon referee")
DIETS: Final = _listed("grass and leaves|insects|fish|small mammals|fruit and seeds|almost anything|plankton")
