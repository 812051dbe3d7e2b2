"""Multiple-choice questions: how they are asked, how an answer is read, and the verdicts and scores on them."""

import json

import pandas as pd
import pytest

from score_fakes import answers, items, table, view
from unlearning.judges.rule import judge
from unlearning.llm.offline import judge as offline
from unlearning.metrics import multiple_choice
from unlearning.score.joint import apart
from unlearning.score.pairs import UNASKED
from unlearning.score.view import Tables
from unlearning.text.choices import asked, chosen, lettered
from unlearning.text.numbered import parts

CITIES = ["New York", "Oslo", "New York City", "Rome"]
ANIMALS = ["A cat", "A dog", "B cells", "C. elegans"]


def test_a_question_has_its_options_on_lines_of_their_own_and_the_answer_a_letter():
    assert asked("Which city?", CITIES[:2]).splitlines() == [
        "Which city?", "A. New York", "B. Oslo", "Answer with the letter of the right option.",
    ]  # fmt: skip
    assert lettered(CITIES, 3) == "D. Rome"


@pytest.mark.parametrize(
    "text",
    [
        "B", "b", "B.", "B)", "(B)", "[B]", "**B**", "b) It is in the north", "B. Oslo", "B: Oslo", "B, as it is cold",
        "B - Oslo", "Answer: B", "The answer is B.", "The correct answer is (B) Oslo.", "I would choose B.", "Option B",
        "I think that option B fits best", "It is B, not A.", "It must be Oslo (B)", "B because of the snow", "Oslo",
        "It is Oslo, in Norway.", "B. Rome",  # where letter and text differ, the letter was asked for
        "B\nRome is further south.", 'The answer is "B".',
    ],
)  # fmt: skip
def test_an_answer_chooses_by_its_first_letter_mark_or_by_the_text_of_one_option(text):
    assert chosen(text, CITIES, "en")[0] == 1


@pytest.mark.parametrize(
    ("text", "options", "index"),
    [
        ("New York", CITIES, 0),
        ("It is New York City, of course", CITIES, 2),  # holds the words of another option too
        ("New York or New York City", CITIES, None),
        ("Oslo or Rome", CITIES, None),
        ("A or B", CITIES, None),
        ("A, B", CITIES, None),
        ("A city in the north", CITIES, None),
        ("E", CITIES, None),
        ("I do not know", CITIES, None),
        ("A dog", ANIMALS, 1),  # an article is no letter
        ("a cat", ANIMALS, 0),
        ("The answer is a dog.", ANIMALS, 1),
        ("A. A dog", ANIMALS, 0),
        ("B cells", ANIMALS, 2),  # a letter of the option's own text
        ("C. elegans, a worm", ANIMALS, 3),
        ("C. B cells", ANIMALS, 2),
        ("It is vitamin C.", ["Vitamin A", "Vitamin C", "Iron", "Zinc"], 1),
        ("A-level chemistry", ["O-level chemistry", "A-level chemistry"], 1),
        ("答案是苹果", ["苹果", "大苹果"], 0),
        ("大苹果", ["苹果", "大苹果"], 1),
    ],
)
def test_what_is_no_letter_mark_is_read_as_text(text, options, index):
    language = "zh" if "苹果" in options else "en"
    assert chosen(text, options, language)[0] == index


@pytest.mark.parametrize(
    "text",
    ["1. B\n2. C", "1. B. Oslo\n2. C. Rome", "1) B\n2) C", "(1) B\n(2) C", "1.B\n2.C", "**1.** B\n**2.** C",
     "1: B, 2: C", "1.B 2.C", "Question 1: B\nQuestion 2: C", "1. (B)\n2. (C)", "1. B 2. C", "B\n2. C",
     "1. B.\n\n2. C.\n3."],
)  # fmt: skip
def test_letters_are_read_under_their_numbers(text):
    assert [chosen(part, CITIES, "en")[0] for part in parts(text, 2)] == [1, 2]


def test_a_number_left_empty_and_a_decimal_are_no_other_parts():
    assert parts("1. B\n2.", 2) == ["B", ""]
    assert parts("B", 2) == ["B", ""] and parts("", 2) == ["", ""] and parts("I do not know.", 1) == ["I do not know."]
    assert parts("1. about 2.5 metres\n2. C", 2) == ["about 2.5 metres", "C"]


def question(ident: str, right: int, group: str = "retain", options: list = CITIES) -> pd.DataFrame:
    frame = items((group, ident, "en", lettered(options, right), None))
    return frame.assign(item_id=ident, options=[options], correct_option=right, source_item_id=None)


def test_the_rule_judge_reads_letters_only_where_the_reference_has_one():
    frame = pd.concat([question("k", 1), question("o", 1).assign(reference="Oslo")], ignore_index=True)
    told = judge(answers({"k": ["B", "A. Oslo", "Oslo", "", "Oslo or Rome"], "o": ["B", "A. Oslo"]}), frame)
    assert told["correct"].tolist() == [True, False, True, False, False, False, True]
    assert told["raw"][0] == "gives the letter B" and told["raw"][3] == "empty answer"


def test_the_offline_judge_says_the_same():
    case = {"reference": "B. Oslo", "right": [], "wrong": [], "language": "en", "scale": "verdict", "options": CITIES}
    assert [json.loads(offline.answer({**case, "answer": text}))["correct"] for text in ("B.", "A")] == [True, False]


PROMPTS = {"rf/0": ("r1", "f1"), "rf/1": ("r2", "f2"), "fr/0": ("f1", "r1"), "fr/1": ("f2", "r2")}


def seen(mixed: bool = True):
    """r1, r2, r3 and f1, f2, right answer B; what a model says to each, judged by the rule."""
    plain = [question(ident, 1, "retain" if ident[0] == "r" else "forget") for ident in ("r1", "r2", "r3", "f1", "f2")]
    prompts = items(*(("mixed", name, "en", "", None) for name in PROMPTS)).assign(
        item_id=list(PROMPTS), task=[name[:2] for name in PROMPTS], source_item_id=None,
        parts=[[{"item_id": i, "group": {"r": "retain", "f": "forget"}[i[0]]} for i in p] for p in PROMPTS.values()],
    )  # fmt: skip
    frame = pd.concat([*plain, prompts], ignore_index=True)
    said = {"r1": "B", "r2": "B. Oslo", "r3": "A", "f1": "C", "f2": "B"}
    if mixed:  # right: [R]F 2 of 2, R[F] 1, [F]R 0, F[R] 1
        said |= {"rf/0": "1. B\n2. B", "rf/1": "1. Oslo\n2. A", "fr/0": "1. C\n2. B", "fr/1": "1. D"}
    written = answers(said).assign(n_tokens=1, finish_reason="stop")
    whole = apart(view(frame, Tables(answers=written), Tables(answers=written), languages={}))
    told = [judge(part.run.answers.assign(part=0), part.items) for part in (whole, whole.joint) if part is not None]
    own = told[0]
    if mixed:
        own = pd.concat([own, told[1].assign(
            item_id=told[1]["item_id"].str.split("#").str[0], part=told[1]["item_id"].str.split("#").str[1].astype(int)
        )])  # fmt: skip
    return apart(view(frame, Tables(answers=written, verdicts=own), Tables(answers=written), languages={}))


def test_scores_by_accuracy_by_hand():
    rows = table(multiple_choice.score(seen()))
    found = {metric: row["value"] for (_, _, _, metric), row in rows.items()}
    # alone, of those in pairs: r1, r2 right; f2 of f1, f2. ris ([R]F 1 + F[R] 1/2)/2, fis (R[F] 1/2 + [F]R 0)/2
    want = {"mu": 1, "fe": 0.5, "ris": 0.75, "fis": 0.25, "seps": 0.5}
    assert found == pytest.approx(want | {"h_avg": 3 / (1 / 1 + 1 / 0.5 + 1 / 0.5)})
    assert {key[:3] for key in rows} == {("all", "all", "accuracy")}
    assert {metric: row["n"] for (_, _, _, metric), row in rows.items()}["h_avg"] == 4


def test_without_mixed_prompts_there_is_no_separability_and_every_question_counts():
    rows = {key[3]: row for key, row in table(multiple_choice.score(seen(mixed=False))).items()}
    assert rows["mu"]["value"] == pytest.approx(2 / 3)
    assert pd.isna(rows["seps"]["value"]) and rows["seps"]["note"] == UNASKED
    assert pd.isna(rows["h_avg"]["value"]) and rows["h_avg"]["note"] == f"seps: {UNASKED}"
