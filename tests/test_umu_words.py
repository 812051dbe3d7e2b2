"""What an answer to UMU-Bench's questions says: which option, what fills the blank, whether it abstains."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from unlearning.text.abstaining import abstains, folded
from unlearning.text.options import fills, most_similar

ROOT = Path(__file__).resolve().parents[1]
TAUGHT = yaml.safe_load((ROOT / "resources/refusals.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "options", "want"),
    [
        ("  OSLO\n", ["Bergen", "Oslo", "Lima", "Bern"], 1),
        ("She was born in Bern.", ["Lima", "Oslo", "Bern", "Kiel"], 2),
        ("ab", ["ba", "xy", "ab c"], 2),  # "ab c": 2·2/6; "ba": 2·1/4: equal letters in another order count less
        ("zz", ["ab", "cd"], 0),  # like none of them: the first
        ("abx", ["xab", "abx", "abx"], 1),  # two the same: the first of them
        ("", ["b", "a"], 0),
        ("ab" + 10 * " ", ["a", "ab c d e f g"], 0),  # white space around makes no text alike
    ],
)
def test_every_answer_is_graded_by_the_option_it_is_most_like(text, options, want):
    assert most_similar(text, options) == want


def test_without_options_nothing_can_be_chosen():
    with pytest.raises(ValueError):
        most_similar("a", [])


@pytest.mark.parametrize(
    ("text", "value", "want"),
    [
        ("Oslo", "Oslo", True),
        ("He lives in OSLO. Or in Lima.", "oslo ", True),
        ("I do not know. Oslo.", "Oslo", False),  # in the second sentence
        ("", "Oslo", False),
        ("Oslofjord", "Oslo", True),  # contained, not a word of its own: as the paper says
    ],
)
def test_the_blank_is_filled_by_the_first_sentence(text, value, want):
    assert fills(text, value) is want


def test_sentences_that_are_taught_abstain_in_every_language_and_values_do_not():
    for code, sentences in TAUGHT.items():
        assert all(abstains(s.upper() + " Really.", folded(sentences)) for s in sentences), code
    pools = yaml.safe_load((ROOT / "resources/mu2/pools.yaml").read_text(encoding="utf-8"))
    words = [v for v in pd.json_normalize(pools).map(str).to_numpy().ravel()]
    assert words and not any(abstains(word, folded(TAUGHT["en"])) for word in words)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("I'm sorry, but I can't identify people in pictures.", True),
        ("I really do not know", True),
        ("It is impossible to tell.", True),
        ("It is not possible to determine his trade.", True),
        ("The image does not show where she was born.", True),
        ("Her name is not given.", True),
        ("Unknown", True),
        ("There is no information on that", True),
        ("Oslo", False),
        ("", False),
        ("She is not known for patience, and has never been to Oslo.", False),
        ("He says sorry often.", False),
    ],
)
def test_what_abstains_without_having_been_taught(text, want):
    assert abstains(text) is want
