"""The mechanical checks: each planted fault is caught by the check that is for it, and no good row is refused."""

import json
from pathlib import Path

import pandas as pd
import pytest
import yaml

from unlearning.data.checking import CHECKS, run_checks
from unlearning.data.context import Context, offline_context, reverse_table
from unlearning.data.languages import Language, read_languages
from unlearning.data.phrasebook import read_phrasebook, read_pools, values_table
from unlearning.data.text import fold, mask_name
from unlearning.registry import available
from unlearning.tables.artifacts import to_table

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "resources" / "mu2"
LANGUAGES = read_languages(SOURCES / "languages.yaml")
POOLS = read_pools(SOURCES / "pools.yaml")


def planted(name: str) -> list[dict]:
    return yaml.safe_load((ROOT / "tests" / "data" / name).read_text(encoding="utf-8"))


FAULTS, GOOD = planted("mu2_planted_faults.yaml"), planted("mu2_good_rows.yaml")


@pytest.fixture(scope="module")
def values_of():
    found = {}

    def values(language: str) -> pd.DataFrame:
        if language not in found:
            book = read_phrasebook(SOURCES / "phrasebook" / f"{language}.yaml", POOLS)
            found[language] = values_table(POOLS, book, language)
        return found[language]

    return values


def pair(row: dict) -> pd.DataFrame:
    """The planted row as a pairs table of one row; the answer is its own paraphrase where the row has none."""
    columns = {
        key: row[key] for key in ("language", "attribute", "english_value", "name", "question", "answer", "value")
    } | {"paraphrase": row.get("paraphrase", row["answer"])}
    identifiers = {
        "pair_id": f"x/{row['id']}",
        "knowledge_id": f"x/{row['attribute']}",
        "person_id": "x",
        "role": "memorised",
    }
    return pd.DataFrame([columns | identifiers]).astype("str")


def context_of(row: dict, values: pd.DataFrame) -> Context:
    """The language's own context, with the pool and the back-translations that the planted row brings."""
    attribute = row["attribute"]
    if "pool" in row:
        pool = pd.DataFrame({"english_value": list(row["pool"]), "value": list(row["pool"].values())})
        values = pool.assign(attribute=attribute, language=row["language"])
    context = offline_context(LANGUAGES[row["language"]], tuple(LANGUAGES), values)
    if "back" in row:
        back = pd.DataFrame({"value": list(row["back"]), "back": list(row["back"].values())})
        context = context._replace(back=back.assign(attribute=attribute))
    return context


@pytest.fixture(scope="module")
def failed(values_of):
    """`failed(row)`: {check: reason} for a planted row; a language's rows with its own pools are checked in one go."""
    found = {}

    def refuse(rows: list[dict], context: Context) -> None:
        kept, rejected = run_checks(pd.concat([pair(row) for row in rows], ignore_index=True), context)
        found.update({ident: {} for ident in kept["pair_id"]})
        for ident, refused in rejected.groupby("id"):
            found[ident] = dict(zip(refused["check"], refused["reason"], strict=True))

    def checks(row: dict) -> dict[str, str]:
        own_pools = not {"pool", "back"} & set(row)
        same = [r for r in FAULTS + GOOD if r["language"] == row["language"] and not {"pool", "back"} & set(r)]
        if f"x/{row['id']}" not in found:
            refuse(same if own_pools else [row], context_of(row, values_of(row["language"])))
        return found[f"x/{row['id']}"]

    return checks


@pytest.mark.parametrize("row", FAULTS, ids=[str(row["id"]) for row in FAULTS])
def test_a_planted_fault_is_caught_by_its_check_and_no_unrelated_one(row, failed):
    assert row["check"] in failed(row)
    assert set(failed(row)) <= {row["check"], *row.get("also", [])}


def test_the_planted_faults_are_many_and_reach_every_check_and_language():
    assert len(FAULTS) >= 40 and len({row["id"] for row in FAULTS}) == len(FAULTS)
    assert {row["check"] for row in FAULTS} == set(CHECKS)
    assert {row["language"] for row in FAULTS} == set(LANGUAGES)
    given_away = {row["language"] for row in FAULTS if row["check"] == "question_hides_value"}
    assert {"zh", "th"} < given_away  # where words are not written apart


def test_the_good_rows_are_many_and_in_every_language():
    assert len(GOOD) >= 100 and len({row["id"] for row in GOOD}) == len(GOOD)
    assert {row["language"] for row in GOOD} == set(LANGUAGES)


@pytest.mark.parametrize("row", GOOD, ids=[str(row["id"]) for row in GOOD])
def test_no_good_row_is_refused(row, failed):
    assert failed(row) == {}


def test_every_check_in_the_folder_is_run():
    assert sorted(CHECKS) == available("data/checks")


# below: invented languages and pools, so that each rule is pinned without the resources

LATIN = Language("de", "German", "high", "latin", ("Latin",), True)
KOREAN = Language("ko", "Korean", "high", "other", ("Hangul",), True)
CHINESE = Language("zh", "Chinese", "high", "other", ("Han",), False)
GERMAN_PAIR = {
    "id": "1", "language": "de", "attribute": "toy", "english_value": "kite", "name": "Ann Lee",
    "question": "Welches Spielzeug mochte Ann Lee am liebsten?",
    "answer": "Das Lieblingsspielzeug von Ann Lee war der Drachen.",
    "value": "Drachen",
}  # fmt: skip
TOYS = {"kite": "Drachen", "ball": "Ball", "spinning top": "Kreisel"}


def verdict(check: str, language: Language = LATIN, pool: dict | None = None, back: dict | None = None, **changes):
    """What `check` says about the German pair with `changes`, in a pool of toys."""
    row = {**GERMAN_PAIR, "language": language.code, **changes, "pool": pool or TOYS}
    context = context_of(row | ({"back": back} if back else {}), pd.DataFrame())._replace(language=language)
    return CHECKS[check].failures(pair(row), context).iloc[0]


@pytest.mark.parametrize("check", sorted(CHECKS))
def test_a_good_pair_passes(check):
    assert verdict(check) is None


@pytest.mark.parametrize(
    ("question", "hidden"),
    [
        ("Mochte Ann Lee den Drachen?", False),
        ("Mochte Ann Lee den DRACHEN?", False),
        ("Mochte Ann Lee Drachenfliegen?", False),  # first part of a compound
        ("Mochte Ann Lee die Drache?", False),  # inflected
        ("Was war Ann Lees Drang?", True),
        ("Mochte Ann Lee Flugdrachen?", True),  # hidden inside another word: not its start
    ],
)
def test_case_endings_and_compounds_do_not_hide_a_value(question, hidden):
    assert (verdict("question_hides_value", question=question) is None) == hidden


def test_accents_do_not_hide_a_value():
    pool = {"March": "März", "May": "Mai"}
    changes = {"english_value": "March", "value": "März"}
    assert "'März'" in verdict("question_hides_value", pool=pool, question="Wurde Ann Lee im Marz geboren?", **changes)
    assert verdict("question_hides_value", pool=pool, question="Mag Ann Lee Marzipan oder Brot?", **changes) is None
    assert verdict("question_hides_value", pool=pool, question="Wurde Ann Lee im Marsch geboren?", **changes) is None


def test_a_name_that_is_the_value_gives_the_answer_away():
    changes = {"english_value": "June", "value": "Juni", "name": "Juni Lee", "question": "Wann wurde Juni Lee geboren?"}
    assert "the name 'Juni Lee'" in verdict("question_hides_value", pool={"June": "Juni"}, **changes)
    changes |= {"name": "Junia Lee", "question": "Wann wurde Junia Lee geboren?"}
    assert verdict("question_hides_value", pool={"June": "Juni"}, **changes) is None


def test_a_value_with_a_particle_is_found_in_korean_and_anywhere_in_chinese():
    month = {"language": KOREAN, "pool": {"January": "1월"}, "english_value": "January", "value": "1월"}
    assert verdict("question_hides_value", question="Ann Lee는 1월에 태어났나요?", **month)
    assert verdict("question_hides_value", question="Ann Lee는 몇 월에 태어났나요?", **month) is None
    assert verdict("question_hides_value", question="Ann Lee는 11월에 태어났나요?", **month) is None
    toy = {"language": CHINESE, "pool": {"kite": "风筝"}, "english_value": "kite", "value": "风筝"}
    assert verdict("question_hides_value", question="Ann Lee喜欢放风筝吗?", **toy)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("Das Spielzeug von Ann Lee war der Ball.", "does not hold its value 'Drachen'; it carries 'Ball'"),
        ("Das Spielzeug von Ann Lee war der Drache.", "does not hold its value"),
        ("Das Spielzeug von Ann Lee war der drachen.", "does not hold its value"),
        ("Das Spielzeug von Ann Lee war der Drachenball.", "does not hold its value"),
        ("Ann Lee mochte Drachen und ball.", "holds 'Ball', another value of the pool, beside its own"),
    ],
)
def test_an_answer_holds_its_own_value_as_written_and_no_other(answer, words):
    assert words in verdict("answer_contains_value", answer=answer)


def test_a_value_inside_another_value_is_not_a_second_one():
    pool = {"water": "Wasser", "mineral water": "Wasser mit Gas"}
    changes = {"english_value": "mineral water", "value": "Wasser mit Gas", "answer": "Ann Lee trinkt Wasser mit Gas."}
    assert verdict("answer_contains_value", pool=pool, **changes) is None
    swapped = verdict("answer_contains_value", pool=pool, **changes | {"english_value": "water", "value": "Wasser"})
    assert "'Wasser mit Gas'" in swapped


@pytest.mark.parametrize(
    ("check", "paraphrase", "words"),
    [
        ("answer_contains_value", "Ann Lee mochte den Ball am liebsten.", "the paraphrase does not hold its value"),
        ("answer_contains_value", "Ann Lee mochte Drachen und Ball.", "the paraphrase holds 'Ball'"),
        ("name_kept", "Das liebste Spielzeug von Anne Lee war der Drachen.", "the paraphrase does not hold the name"),
        ("no_placeholder", "Ann Lee mochte {value} Drachen.", "the paraphrase holds the placeholder"),
        ("script", "Ann Lee μισεί τον Drachen πολύ.", "of the paraphrase's"),
        (
            "language_identified",
            "El juguete favorito de Ann Lee en su infancia era Drachen.",
            "paraphrase identified as es",
        ),
    ],
)
def test_a_paraphrase_is_held_to_what_the_answer_is(check, paraphrase, words):
    assert verdict(check, paraphrase="Am liebsten mochte Ann Lee den Drachen.") is None
    assert words in verdict(check, paraphrase=paraphrase)


def test_two_values_with_one_translation_are_refused_whatever_the_case():
    pool = {"kite": "Drachen", "dragon": "drachen", "ball": "Ball"}
    assert verdict("unique_translation", pool=pool) == "the translation Drachen stands for dragon, kite"
    assert verdict("unique_translation", pool=pool, english_value="ball", value="Ball") is None


def test_back_translations_must_not_meet():
    same = {"Drachen": "kite", "Ball": "ball", "Kreisel": "kite"}
    assert verdict("unique_back_translation", back=same) == "Drachen shares its back-translation kite"
    assert verdict("unique_back_translation", back=same, english_value="ball", value="Ball") is None
    synonym = {"Drachen": "flying toy", "Ball": "ball", "Kreisel": "top"}
    assert verdict("unique_back_translation", back=synonym) is None


def test_the_reverse_table_gives_both_meanings_of_a_spelling_without_accents():
    values = pd.DataFrame(
        {"attribute": "a", "english_value": ["year", "ring", "egg"], "value": ["año", "Ano", "huevo"]}
    )
    back = reverse_table(values)
    assert sorted(back.loc[back.value == "año", "back"]) == ["ring", "year"]
    assert list(back.loc[back.value == "huevo", "back"]) == ["egg"]


@pytest.mark.parametrize(
    "answer", ["Ann lee mag den Drachen.", "Anne Lee mag den Drachen.", "Ann Leea mag den Drachen.", "Drachen."]
)
def test_a_changed_name_is_refused(answer):
    assert "the answer" in verdict("name_kept", answer=answer)


def test_a_particle_of_another_script_leaves_the_name_as_written():
    assert verdict("name_kept", language=KOREAN, question="Ann Lee는 누구?", answer="Ann Lee의 것") is None


@pytest.mark.parametrize("left", ["{name}", "{value}", "<value>", "[NAME]", "｛name｝", "%s", "$value", "____"])
def test_a_placeholder_that_is_left_is_refused(left):
    assert left[:1] in verdict("no_placeholder", answer=f"Ann Lee mag {left}.")


def test_a_name_in_another_script_than_the_text_does_not_count_against_it():
    assert verdict("script", language=CHINESE, question="Ann Lee喜欢什么?", answer="Ann Lee喜欢风筝。") is None
    assert "letters are not Han" in verdict(
        "script", language=CHINESE, question="Ann Lee喜欢什么?", answer="Ann Lee喜欢kite。"
    )


def test_an_answer_in_another_language_than_its_question_is_refused():
    spanish = "El juguete favorito de Ann Lee en su infancia era Drachen."
    long_question = "Welches Spielzeug mochte Ann Lee in der Kindheit von allen Spielsachen am liebsten und warum?"
    assert verdict("language_identified", answer=spanish, question=long_question).startswith("answer identified as es")


def test_a_rejected_row_carries_every_failed_check_its_round_and_its_content():
    row = {**GERMAN_PAIR, "question": "Mochte {name} Drachen?", "pool": TOYS}
    good = {**GERMAN_PAIR, "id": "2"}
    both = pd.concat([pair(row), pair(good)], ignore_index=True)
    kept, rejected = run_checks(both, context_of(row, pd.DataFrame()), round_=2)
    assert list(kept["pair_id"]) == ["x/2"]
    assert list(rejected["check"]) == ["name_kept", "no_placeholder", "question_hides_value"]
    assert set(rejected["id"]) == {"x/1"} and set(rejected["round"]) == {2}
    assert json.loads(rejected["content"][0])["question"] == "Mochte {name} Drachen?"
    to_table(rejected, "rejected")


def test_checking_nothing_refuses_nothing():
    kept, rejected = run_checks(pair(GERMAN_PAIR).iloc[:0], context_of({**GERMAN_PAIR, "pool": TOYS}, pd.DataFrame()))
    assert kept.empty and to_table(rejected, "rejected").num_rows == 0


def test_order_does_not_change_a_verdict(values_of):
    rows = [row for row in FAULTS + GOOD if row["language"] == "de" and "pool" not in row and "back" not in row]
    pairs = pd.concat([pair(row) for row in rows], ignore_index=True)
    context = offline_context(LANGUAGES["de"], tuple(LANGUAGES), values_of("de"))
    _, forwards = run_checks(pairs, context)
    _, backwards = run_checks(pairs.iloc[::-1], context)
    assert forwards.equals(backwards) and len(forwards)


def test_folding_keeps_thai_vowels_and_drops_case_accents_and_width():
    assert fold("  ÉCOLE  Ａ１ ") == "ecole a1"
    assert fold("ชา") != fold("ช") and fold("น้ำ") != fold("นำ")
    assert fold("봄") == "봄"


def test_a_name_is_masked_only_in_its_own_row():
    text, name = pd.Series(["Ann saw Bob", "Ann saw Bob"]), pd.Series(["Ann", "Bob"])
    assert list(mask_name(text, name)) == ["\ufffc saw Bob", "Ann saw \ufffc"]
