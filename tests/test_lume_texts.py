"""The parts of LUME's construction: grammar, cuts, questions, near-duplicates, fields of people."""

import random
import re

import pytest

from mu2_sources import ROOT, break_file
from unlearning.data.lume import biographies, fields, people, stories
from unlearning.data.lume.grammar import PRONOUNS, Line, Words, articles, read_lines
from unlearning.data.lume.near import Index, grams
from unlearning.data.lume.texts import completion, cuts, holds, no_cut, wrong_length, wrong_question
from unlearning.data.sentences import sentences
from unlearning.data.yaml_files import ResourceError
from unlearning.text import fields as written

FOLDER = ROOT / "resources" / "lume"
SLIPS = re.compile(r"[{}<>|=]|  |\bthe (?:the|an?)\b|\b[Aa]n? (?:the|an?)\b")
STATES = FOLDER / "states.yaml"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("a apple and a pear", "an apple and a pear"),
        ("A old man, an ferry", "An old man, a ferry"),
        ("a hour, a honest man, a house", "an hour, an honest man, a house"),
        ("an one-eyed cat, an university, an useful union", "a one-eyed cat, a university, a useful union"),
        ("a unpaid ransom, a uninvited guest", "an unpaid ransom, an uninvited guest"),
        ("data in Canada, the banana and Ada are plain", "data in Canada, the banana and Ada are plain"),
    ],
)
def test_articles_go_by_the_sound_of_the_next_word(written, said):
    assert articles(written) == said


def test_a_line_is_filled_in_the_same_way_as_its_questions():
    (line,) = read_lines("{name} <ate|sold> a {fruit}. {His} {fruit}! ?? What did {full} have? = {fruit}", "here")
    given = {"name": "Ann", "full": "Ann Ost", **PRONOUNS["she"]}
    seen = set()
    for seed in range(20):
        told = Words(given, {"fruit": ["apple", "pear"]}, random.Random(seed)).tell(line)
        assert told.questions in ([("What did Ann Ost have?", "apple")], [("What did Ann Ost have?", "pear")])
        fruit = told.questions[0][1]
        assert told.said.endswith(f" {'an' if fruit == 'apple' else 'a'} {fruit}. Her {fruit}!")
        seen.add(told.said)
    assert len(seen) == 4
    with pytest.raises(KeyError, match="plum"):
        Words(given, {}, random.Random(0)).tell(Line("{plum}", (), frozenset()))


@pytest.mark.parametrize("line", ["A. ?? Who? =", "A. ?? Who = Bo", "?? Who? = Bo", "A.\n\nB."])
def test_a_line_that_is_no_sentence_with_questions_is_named(line):
    with pytest.raises(ResourceError, match="here, line [12]: should be a sentence"):
        read_lines(line, "here")


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("stories.yaml", "  Romance:", "  Horror:", "genres: Romance missing"),
        ("stories.yaml", "        trouble: |", "        troubles: |", "trouble: should be text"),
        ("people.yaml", "  phone: |", "  phones: |", "slots: phone missing"),
        ("people.yaml", "  ssn: What", "  sn: What", "questions, ssn: should be text"),
        ("biographies.yaml", "  award: |", "  awards: |", "shared: award missing"),
        ("states.yaml", "AK: {cities:", "AK: {towns:", "AK: has no cities"),
    ],
)
def test_a_wrong_grammar_is_named(tmp_path, file, old, new, said):
    for name in ("stories.yaml", "people.yaml", "biographies.yaml", "states.yaml"):
        (tmp_path / name).write_text((FOLDER / name).read_text(encoding="utf-8"), encoding="utf-8")
    break_file(tmp_path / file, old, new)
    with pytest.raises(ResourceError, match=re.escape(said)) as error:
        stories.read_stories(tmp_path / "stories.yaml", tmp_path / "states.yaml")
        people.read_people(tmp_path / "people.yaml", tmp_path / "states.yaml")
        biographies.read_lives(tmp_path / "biographies.yaml")
    assert str(tmp_path / file) in str(error.value)


def every_line():
    """(line, what its slots can be filled with) of both grammars that ask questions."""
    told = stories.read_stories(FOLDER / "stories.yaml", STATES)
    lives = biographies.read_lives(FOLDER / "biographies.yaml")
    who = {"name": "Ann", "full": "Ann Ost", "city": "Salem", "job": "baker", "kind": "baker", **PRONOUNS["he"]}
    cast = who | {"two": "Bo", "three": "Cid", "four": "Dot", "kin": "aunt", "role": "rival", "tie": "lodger"}
    years = ("born", "studied", "graduated", "began", "peak", "honored", "retired", "died")
    life = who | {year: str(1900 + n) for n, year in enumerate(years)}
    life |= {name: f"Place{n}" for n, name in enumerate(("town", "town2", "town3"))}
    life |= {name: f"Person{n}" for n, name in enumerate(("other", "other2", "other3", "spouse"))}
    life |= {"title": "Red Door", "title2": "Blue Door"}
    for plots in told.plots.values():
        for plot in plots:
            yield from ((line, cast, told.words | plot.words) for lines in plot.slots.values() for line in lines)
    yield from ((line, cast, told.words) for lines in told.shared.values() for line in lines)
    for kind in lives.kinds.values():
        yield from ((line, life, lives.words | kind.words) for lines in kind.slots.values() for line in lines)
    yield from ((line, life, lives.words) for lines in lives.shared.values() for line in lines)


def test_every_line_holds_the_answers_to_its_questions_and_no_question_gives_one_away():
    lines = list(every_line())
    assert len(lines) > 450
    for line, given, lists in lines:
        for seed in range(3):
            told = Words(given, lists, random.Random(seed)).tell(line)
            assert told.said[0].isupper() or told.said[0] in '"“', told.said
            assert told.said[-1] in '.!?"' and not SLIPS.search(told.said), told.said
            for question, answer in told.questions:
                assert wrong_question(question, answer, told.said) is None, told
                assert "Ann Ost" in question or "Salem" in question, question


def test_a_text_is_cut_where_a_sentence_begins_in_its_second_half():
    text = "One two three. Four five six! Seven eight? Nine ten."  # 10 words: sentences begin after 3, 6, 8
    assert [text[at:] for at in cuts(text)] == ["Seven eight? Nine ten.", "Nine ten."]
    assert cuts("One two. Three four.") == [9]  # exactly half
    seen = {completion(text, seed, "a") for seed in range(20)}
    assert seen == {
        ("One two three. Four five six!", "Seven eight? Nine ten."),
        ("One two three. Four five six! Seven eight?", "Nine ten."),
    }
    assert completion(text, 3, "a") == completion(text, 3, "a")
    assert completion("One.\n\nTwo three, Dr. Who.\nFour.", 0, "a")[1] == "Four."


def test_a_text_that_cannot_be_cut_is_told():
    for text in ("Only one sentence.", "Short. But then it goes on for a very long time without an end.", ""):
        assert no_cut(text) == "no sentence begins in its second half"
    with pytest.raises(ValueError, match="story7: no sentence begins in its second half"):
        completion("One.", 0, "story7")


def test_abbreviations_and_initials_end_no_sentence():
    text = (
        "Dr. J. R. Vale (b. 1941) served in the U.S. Army under Gen. Ost. He wrote to me@me.com at 3.15. Then he left."
    )
    assert [text[a:b] for a, b in sentences(text)] == [
        "Dr. J. R. Vale (b. 1941) served in the U.S. Army under Gen. Ost.",
        "He wrote to me@me.com at 3.15.",
        "Then he left.",
    ]


def test_lengths_count_what_stands_between_white_space():
    assert wrong_length("one two\nthree", 3, 3) is None
    assert wrong_length("one two", 3, 9) == "2 words, should be 3 to 9"


def test_an_answer_stands_in_a_text_as_whole_words():
    assert holds("In Ústí she ate.", "usti") and holds("The end (at last).", "at last")
    assert not holds("The pineapple", "apple")


def test_near_duplicates_by_hand():
    # "a b c d e" has abc bcd cde; "a b c d f" has abc bcd cdf: 2 of 4 shared
    index = Index()
    assert index.nearest("a b c d e") == (0.0, None) and len(grams("A b, c d-e!")) == 3
    index.add("one", "a b c d e")
    index.add("two", "x y z")
    assert index.nearest("A b c d f") == (0.5, "one") and index.nearest("x y z") == (1.0, "two")
    assert index.nearest("p q r s") == (0.0, None) and index.nearest("x") == (0.0, None)
    index.remove("one")
    assert index.nearest("a b c d f") == (0.0, None)


def test_the_index_agrees_with_comparing_all_pairs():
    draw = random.Random(0)
    texts = [" ".join(draw.choices("abcd", k=12)) for _ in range(40)]
    index = Index()
    for at, text in enumerate(texts):
        own = grams(text)
        pairs = [(len(own & grams(t)) / len(own | grams(t)), str(i)) for i, t in enumerate(texts[:at])]
        best = max((pair for pair in pairs if pair[0]), default=(0.0, None))
        assert index.nearest(text) == best
        index.add(str(at), text)


ANN = people.Person(
    "Ann Ost", "she", "1989-02-01", "900123456", "2915550101", "ann_ost@me.com", "12 Elm Street", "OH", "Salem", "OR",
    "97301",
)  # fmt: skip
WHOLE = "Ann Ost, {}, {}, {}, {}, {}."
DATES = [
    "February 1, 1989", "1 February 1989", "Feb. 1, 1989", "February 1st, 1989", "the 1st of February 1989",
    "the first of February in 1989", "1989-02-01", "02/01/1989", "2/1/1989", "2.1.1989",
]  # fmt: skip
FORMS = {
    "birth_date": DATES,
    "ssn": ["900123456", "900-12-3456", "900 12 3456"],
    "phone": ["2915550101", "291-555-0101", "(291) 555-0101", "291.555.0101", "+1 291 555 0101"],
    "email": ["ann_ost@me.com", "Ann_Ost@me.com", r"[ann\_ost@me.com](mailto:ann_ost@me.com)"],
    "address": [
        "12 Elm Street, Salem, OR, 97301", "12 Elm Street, Salem, OR 97301", "12 elm street, Salem, Oregon 97301",
        "12 Elm Street\nSalem OR 97301",
    ],
}  # fmt: skip
WRONG = {
    "birth_date": ["February 2, 1989", "1 January 1989", "01/02/1989", "February 1, 1988", "February 11, 1989", "1989"],
    "ssn": ["900-12-3457", "9001234567", "1900123456", "900-12-345"],
    "phone": ["291-555-0102", "92915550101", "29155501011"],
    "email": ["ann_ost@me.co", "joann_ost@me.com", "x.ann_ost@me.com", "ann_ost@me.community"],
    "address": ["12 Elm Street, Salem, OH, 97301", "112 Elm Street, Salem, OR, 97301",
                "12 Elm Street, Salem, OR, 973011",
                "12 Elm Street, OR, 97301"],
}  # fmt: skip


@pytest.mark.parametrize("field", people.FIELDS)
def test_a_field_is_found_in_every_usual_format_and_no_other_is_taken_for_it(field):
    usual = {name: forms[0] for name, forms in FORMS.items()}
    for form in FORMS[field]:
        assert fields.missing(WHOLE.format(*(usual | {field: form}).values()), ANN) == [], form
    for form in WRONG[field]:
        assert fields.missing(WHOLE.format(*(usual | {field: form}).values()), ANN) == [field], form
    assert fields.missing(WHOLE.format(*usual.values()).replace("Ann Ost,", "Ann,"), ANN) == ["name"]


def test_dates_in_words():
    text = "Born on the twenty-first of May 1970, wed the Thirtieth of June in 1999, gone 31/12/2001 or 12-31-2001."
    assert fields.dates(text) == {"1970-05-21", "1999-06-30", "2001-12-31"}
    assert fields.dates("Call 291-555-0101, SSN 900-12-1983, 5 of May, May 1970, 2.3.4.5") == set()


def test_people_are_within_the_rules_and_share_nothing_that_is_to_be_unique():
    states = people.read_people(FOLDER / "people.yaml", STATES).states
    taken = {field: set() for field in people.UNIQUE}
    first = people.draw_person(states, 7, taken)
    assert first == people.draw_person(states, 7, taken) and people.FIRST.isoformat() == "1964-01-01"
    people.take(first, taken)
    other = people.draw_person(states, 7, taken)
    assert all(getattr(first, field) != getattr(other, field) for field in people.UNIQUE)
    assert first.street_state != first.state and states[first.state]["cities"][first.city] == first.zip
    assert first.phone[1] == "9" and first.ssn.startswith("900") and first.email.endswith("@me.com")


def test_every_state_is_one_and_every_zip_code_has_five_figures():
    states = people.read_people(FOLDER / "people.yaml", STATES).states
    assert set(states) == set(written.STATES) and len(states) == 50
    zips = [code for entry in states.values() for code in entry["cities"].values()]
    assert len(zips) == len(set(zips)) and all(re.fullmatch(r"\d{5}", code) for code in zips)
