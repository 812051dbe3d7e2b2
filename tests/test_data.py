"""mu2-Bench's construction: people, phrasebooks, translation, examples, items and splits."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from unlearning.data.languages import check_setting, known, read_languages
from unlearning.data.mu2 import build, coverage, hold_out, split_table
from unlearning.data.phrasebook import english_pairs, read_phrasebook, read_pools, translate, values_table
from unlearning.data.profiles import draw_profiles, words_of_values
from unlearning.data.text import fold
from unlearning.data.yaml_files import ResourceError
from unlearning.tables.artifacts import read_table, to_table

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "resources" / "mu2"
sys.path.append(str(ROOT / "workflow" / "scripts"))

POOLS = {
    "month": {"January": "first month", "May": "fifth month", "June": "sixth month", "July": "seventh month"},
    "toy": {"kite": "it flies", "ball": "it rolls", "top": "it spins"},
    "fruit": {"apple": "a fruit", "plum": "a fruit", "pear": "a fruit"},
}
ENGLISH = {
    "language": "en",
    "attributes": {
        "month": {"question": "When was {name} born?", "answer": "{name} was born in {value}."},
        "toy": {"question": "Which toy did {name} like?", "answer": "{name} liked the {value}."},
        "fruit": {"question": "Which fruit does {name} eat?", "answer": "The {value} is what {name} eats."},
    },
}  # fmt: skip
GERMAN = {
    "language": "de",
    "attributes": {
        "month": {"question": "Wann wurde {name} geboren?", "answer": "{name} wurde im {value} geboren."},
        "toy": {"question": "Was mochte {name}?", "answer": "{name} mochte das Spielzeug {value}."},
        "fruit": {"question": "Welches Obst isst {name}?", "answer": "Die Frucht {value} isst {name}."},
    },
}  # fmt: skip
WORDS = {
    "January": "Januar", "May": "Mai", "June": "Juni", "July": "Juli",
    "kite": "Drachen", "ball": "Ball", "top": "Kreisel", "apple": "Apfel", "plum": "Pflaume", "pear": "Birne",
}  # fmt: skip


def book(content: dict, translation: dict) -> dict:
    """The phrasebook's file content: a paraphrase and the pool's values are added to the templates."""
    attributes = {
        a: {**templates, "paraphrase": "{value} {name}", "values": {v: translation.get(v, v) for v in POOLS[a]}}
        for a, templates in content["attributes"].items()
    }
    return {**content, "attributes": attributes}


@pytest.fixture
def sources(tmp_path):
    """A folder with pools.yaml, en.yaml and de.yaml."""
    pools = {a: {"values": [{"value": v, "definition": d} for v, d in pool.items()]} for a, pool in POOLS.items()}
    contents = {"pools": {"attributes": pools}, "en": book(ENGLISH, {}), "de": book(GERMAN, WORDS)}
    for name, content in contents.items():
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(content, allow_unicode=True, sort_keys=False))
    return tmp_path


def people(
    memorised: int = 4, nonmember: int = 2, background: int = 3, attributes=("month", "toy", "fruit"), seed: int = 0
):
    counts = {"memorised": memorised, "nonmember": nonmember, "background": background}
    return draw_profiles(POOLS, counts, list(attributes), seed, set())


@pytest.fixture
def pairs(sources):
    """English and German pairs of the people above."""
    books = {code: read_phrasebook(sources / f"{code}.yaml", POOLS) for code in ("en", "de")}
    english = english_pairs(people(), books["en"])
    tables = [translate(english, values_table(POOLS, books[code], code), books[code]) for code in books]
    return pd.concat(tables, ignore_index=True)


# people


def test_the_same_seed_draws_the_same_people_and_another_seed_others():
    assert people().equals(people())
    assert not people().equals(people(seed=1))
    to_table(people(), "profiles")


def test_more_people_or_another_attribute_leave_a_person_as_they_were():
    few, many = people(memorised=3), people(memorised=8, background=9)
    first = [f"memorised{i:04d}" for i in range(3)]
    assert (
        few[few.person_id.isin(first)]
        .reset_index(drop=True)
        .equals(many[many.person_id.isin(first)].reset_index(drop=True))
    )
    all_three, two = people(2, 1, 0), people(2, 1, 0, attributes=("month", "toy"))
    assert two.equals(all_three[all_three.attribute != "fruit"].reset_index(drop=True))


@pytest.mark.parametrize("seed", range(5))
def test_no_two_people_share_a_name_or_all_values(seed):
    drawn = people(memorised=20, nonmember=8, background=8, seed=seed)  # all 36 combinations are taken
    assert drawn.groupby("person_id")["name"].first().is_unique
    assert drawn.groupby("person_id")["value"].agg(tuple).is_unique
    assert drawn.groupby("role")["person_id"].nunique().to_dict() == {"memorised": 20, "nonmember": 8, "background": 8}


WIDE = {"number": {str(number): "a number" for number in range(10_000)}}


def test_no_two_of_very_many_people_share_a_name():
    names = draw_profiles(WIDE, {"memorised": 1_500}, ["number"], 0, set())["name"]
    assert names.is_unique  # unchecked draws of 1,500 would repeat some


def test_one_role_is_drawn_the_same_however_many_the_others_are():
    few, many = (draw_profiles(WIDE, {"memorised": n, "background": 5}, ["number"], 0, set()) for n in (2, 20))
    assert (
        few[few.role == "background"]
        .reset_index(drop=True)
        .equals(many[many.role == "background"].reset_index(drop=True))
    )


def test_no_name_holds_a_banned_word_and_only_whole_words_are_banned():
    names = people(memorised=30)["name"].unique()
    first = {fold(name.split()[0]) for name in names}
    counts = {"memorised": 30}
    again = draw_profiles(POOLS, counts, ["month", "toy", "fruit"], 0, first)["name"].unique()
    assert not first & {word for name in again for word in fold(name).split()}
    letters = {word[:3] for word in first}  # beginnings of names are no words
    kept = draw_profiles(POOLS, counts, ["month", "toy", "fruit"], 0, letters)["name"].unique()
    assert len(set(kept) & set(names)) > 20


def test_a_full_name_can_be_banned_too():
    name = people(memorised=1)["name"].iloc[0]
    assert draw_profiles(POOLS, {"memorised": 1}, ["month"], 0, {fold(name)})["name"].iloc[0] != name


@pytest.mark.parametrize(
    ("counts", "attributes", "message"),
    [
        ({"memorised": 37}, ["month", "toy", "fruit"], "37 people need different combinations of values.*have 36"),
        ({"memorised": 1}, ["job"], r"unknown \['job'\]"),
        ({"memorised": 1}, [], "at least one of month, toy, fruit"),
        ({"member": 1}, ["toy"], "for memorised, nonmember, background"),
        ({"memorised": -1}, ["toy"], "for memorised, nonmember, background"),
    ],
)
def test_people_that_cannot_be_drawn_are_refused(counts, attributes, message):
    with pytest.raises(ValueError, match=message):
        draw_profiles(POOLS, counts, attributes, 0, set())


# phrasebooks


def test_pairs_are_the_templates_filled_in_the_order_of_the_people(pairs):
    drawn = people()
    to_table(pairs, "pairs")
    german = pairs[pairs.language == "de"].reset_index(drop=True)
    assert list(german.knowledge_id) == list(drawn.person_id + "/" + drawn.attribute)
    assert list(german.english_value) == list(drawn.value)
    for row in german.itertuples():  # the naive way, row by row
        templates = GERMAN["attributes"][row.attribute]
        assert row.value == WORDS[row.english_value]
        assert row.question == templates["question"].replace("{name}", row.name)
        assert row.answer == templates["answer"].replace("{name}", row.name).replace("{value}", row.value)
        assert row.paraphrase == f"{row.value} {row.name}"


def test_braces_inside_a_value_are_left_alone(sources):
    english = read_phrasebook(sources / "en.yaml", POOLS)
    profile = pd.DataFrame(
        [("p", "{value} Lee", "memorised", "toy", "kite")], columns=["person_id", "name", "role", "attribute", "value"]
    )
    assert english_pairs(profile, english)["answer"][0] == "{value} Lee liked the kite."


def test_a_value_without_translation_is_named(sources):
    german = read_phrasebook(sources / "de.yaml", POOLS)
    english = english_pairs(people(), read_phrasebook(sources / "en.yaml", POOLS))
    with pytest.raises(ValueError, match="de: no translation of toy '"):
        translate(english, values_table(POOLS, german, "de").query("attribute != 'toy'"), german)


def test_the_values_table_holds_every_pool_in_its_order(sources):
    table = values_table(POOLS, read_phrasebook(sources / "de.yaml", POOLS), "de")
    to_table(table, "values")
    assert list(table.english_value) == [v for pool in POOLS.values() for v in pool]
    assert list(table.value) == [WORDS[v] for v in table.english_value]
    assert words_of_values([table]) == {fold(v) for v in WORDS.values()}
    with pytest.raises(ResourceError, match="phrasebook is for 'de', 'en' was asked for"):
        values_table(POOLS, read_phrasebook(sources / "de.yaml", POOLS), "en")


def break_file(path: Path, old: str, new: str) -> Path:
    content = path.read_text()
    assert old in content
    path.write_text(content.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("      kite: Drachen\n", "", r"de.yaml, toy.values: missing \['kite'\], unknown \[\]"),
        ("kite: Drachen", "kites: Drachen", r"de.yaml, toy.values: missing \['kite'\], unknown \['kites'\]"),
        ("kite: Drachen", "kite: yes", r"de.yaml, toy.values.kite: should be text, is True; write it in quotes"),
        ("kite: Drachen", "kite: Drachen\n      kite: Ball", r"de.yaml, line \d+: 'kite' occurs twice"),
        ("  fruit:", "  fruits:", r"de.yaml, attributes: missing \['fruit'\], unknown \['fruits'\]"),
        ("Was mochte {name}?", "Was mochte sie?", r"de.yaml, toy.question: placeholders \[\]"),
        (
            "Was mochte {name}?",
            "Was mochte {name}, {name}?",
            r"toy.question.*each of \['{name}'\] is needed exactly once",
        ),
        ("Was mochte {name}?", "Was mochte {name}, {value}?", r"toy.question: placeholders \['{name}', '{value}'\]"),
        ("im {value} geboren", "im {Wert} geboren", r"month.answer: placeholders \['{name}', '{Wert}'\]"),
        ("    paraphrase: '{value} {name}'\n", "", r"month: missing \['paraphrase'\]"),
        ("'{value} {name}'", "'{name} wurde im {value} geboren.'", r"month.paraphrase: the same words as the answer"),
        ("language: de", "lang: de", r"de.yaml, language: should be text, is None"),
        ("attributes:", "attributes: [", r"de.yaml: not readable as YAML"),
    ],
)
def test_a_mistake_in_a_phrasebook_is_named(sources, old, new, message):
    with pytest.raises(ResourceError, match=message):
        read_phrasebook(break_file(sources / "de.yaml", old, new), POOLS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("- value: kite\n", "- value: ball\n", r"pools.yaml, toy: value 'ball' occurs twice"),
        ("definition: it flies", "definition: ''", r"pools.yaml, toy, kite, definition: should be text"),
        ("- value: kite\n", "- value: 7\n", r"pools.yaml, toy.values\[0\].value: should be text, is 7"),
    ],
)
def test_a_mistake_in_the_pools_is_named(sources, old, new, message):
    with pytest.raises(ResourceError, match=message):
        read_pools(break_file(sources / "pools.yaml", old, new))


def test_a_missing_resource_is_named(tmp_path):
    with pytest.raises(ResourceError, match="xx.yaml: no such file"):
        read_phrasebook(tmp_path / "xx.yaml")


def test_pools_are_read_as_written(sources):
    assert read_pools(sources / "pools.yaml") == POOLS


# languages and settings


def test_the_languages_are_twelve_and_balanced_settings_pass():
    languages = read_languages(SOURCES / "languages.yaml")
    assert sorted(languages) == sorted("en de id af es lv zh ko ur el mk th".split())
    resource = {code: language.resource for code, language in languages.items()}
    check_setting(["en", "de", "id", "af"], ["es", "lv", "th", "mk"], resource)
    check_setting(["zh", "ko", "ur", "el"], ["es", "lv", "th", "mk"], resource)


@pytest.mark.parametrize(
    ("train", "holdout", "message"),
    [
        (["en", "af"], ["af", "es"], r"\['af'\] are train and holdout languages at once"),
        (["en", "de"], ["es", "lv"], r"train languages are not balanced: 2 high-resource \['en', 'de'\], 0 low"),
        (["en", "af"], ["lv"], r"holdout languages are not balanced: 0 high-resource \[\], 1 low-resource \['lv'\]"),
        (["en", "af"], [], r"holdout languages are not balanced"),
        (["en", "fr"], ["es", "lv"], r"unknown languages \['fr'\]"),
    ],
)
def test_an_overlapping_or_unbalanced_setting_is_refused(train, holdout, message):
    resource = {"en": "high", "de": "high", "es": "high", "af": "low", "lv": "low"}
    with pytest.raises(ValueError, match=message):
        check_setting(train, holdout, resource)


def test_a_mistake_in_the_languages_is_named(tmp_path):
    path = tmp_path / "languages.yaml"
    path.write_text("en: {name: English, resource: rich, script: latin, unicode_scripts: [Latin], spaces: true}\n")
    with pytest.raises(ResourceError, match=r"en.resource: 'rich'; allowed: high, low"):
        read_languages(path)
    with pytest.raises(ResourceError, match="language 'fr' is not in here; languages there: en"):
        known("fr", {"en": None}, "here")


# examples, items, splits


ROLES = {"en": "train", "de": "holdout"}


def built(pairs: pd.DataFrame, roles=ROLES, forget=None, share: float = 0.2, seed: int = 0):
    return build(pairs, roles, forget or {"p1": 1, "p3": 2}, share, seed)


def test_items_and_examples_say_who_is_taught_and_who_is_asked(pairs):
    found = built(pairs)
    examples, items = found.examples.to_pandas(), found.items.to_pandas()
    to_table(found.examples, "examples"), to_table(found.items, "items"), to_table(found.splits, "splits")
    # 3 attributes x 2 languages: 4 memorised people 24, 3 background people 18, of which round(0.2 x 18) = 4 held out
    assert examples.groupby("group").size().to_dict() == {"memorised": 24, "background": 14}
    # 2 non-members 12
    assert items.groupby("group").size().to_dict() == {"retain": 24, "nonmember": 12, "utility": 4}
    assert set(items[items.group == "utility"].item_id).isdisjoint(examples.example_id)
    row = items.iloc[0]
    source = pairs[pairs.pair_id == row.item_id].iloc[0]
    assert [dict(turn) for turn in row.messages] == [{"role": "user", "content": source.question}]
    assert (row.reference, row.value, row.task, row.benchmark) == (source.answer, source.value, "qa", "mu2")
    assert not items["candidates"].map(len).any()  # a paraphrase to score would double the answering of every run


def test_what_is_held_out_in_one_language_is_taught_in_the_others(pairs):
    for seed in range(5):
        found = built(pairs, share=0.4, seed=seed)
        examples, items = found.examples.to_pandas(), found.items.to_pandas()
        utility = items[items.group == "utility"]
        assert len(utility) == 7  # round(0.4 x 18)
        assert utility.knowledge_id.is_unique
        taught = examples.groupby("knowledge_id")["language"].agg(set)
        assert all(taught[row.knowledge_id] == set(ROLES) - {row.language} for row in utility.itertuples())


def test_the_held_out_share_reaches_every_language_and_changes_with_the_seed(pairs):
    picks = [set(pairs[hold_out(pairs, 0.4, seed)].pair_id) for seed in range(5)]
    assert len(set(map(frozenset, picks))) == 5
    assert {ident.rsplit("/", 1)[1] for pick in picks for ident in pick} == {"en", "de"}
    assert picks[0] == set(pairs[hold_out(pairs.iloc[::-1], 0.4, 0).sort_index()].pair_id)  # order changes nothing


def test_a_share_that_would_leave_an_instance_untaught_is_refused(pairs):
    with pytest.raises(ValueError, match="heldout_share 0.6: 11 background rows cannot be held out of 9"):
        built(pairs, share=0.6)
    english = pairs[pairs.language == "en"]
    with pytest.raises(ValueError, match="taught in two languages or more"):
        built(english, roles={"en": "train"})
    assert built(english, roles={"en": "train"}, share=0.0).items.num_rows == 18


def test_splits_are_nested_and_cover_every_memorised_instance(pairs):
    splits = split_table(pairs, {"p5": 3, "p1": 1, "p3": 2}, seed=0)
    forgotten = {name: set(rows[rows.group == "forget"].knowledge_id) for name, rows in splits.groupby("split")}
    assert forgotten["p1"] < forgotten["p3"] < forgotten["p5"]
    assert [len(forgotten[name]) for name in ("p1", "p3", "p5")] == [3, 6, 9]
    memorised = set(pairs[pairs.role == "memorised"].knowledge_id)
    assert all(set(rows.knowledge_id) == memorised for _, rows in splits.groupby("split"))
    assert (
        len({frozenset(split_table(pairs, {"p": 1}, s).query("group == 'forget'").knowledge_id) for s in range(9)}) > 1
    )


@pytest.mark.parametrize("people", [0, 4, 9])
def test_an_empty_or_too_large_forget_set_is_refused(pairs, people):
    with pytest.raises(ValueError, match=f"split p1: {people} people to forget of 4 memorised"):
        built(pairs, forget={"p1": people})


def test_languages_that_do_not_match_the_setting_are_refused(pairs):
    with pytest.raises(ValueError, match=r"missing \['th'\], not asked for \[\]"):
        built(pairs, roles={**ROLES, "th": "holdout"})
    with pytest.raises(ValueError, match=r"missing \[\], not asked for \['de'\]"):
        built(pairs, roles={"en": "train"})
    with pytest.raises(ValueError, match="unknown roles {'de': 'test'}; roles are train, holdout"):
        built(pairs, roles={"en": "train", "de": "test"})


def test_a_row_refused_in_one_language_is_missing_there_only_and_counted(pairs):
    refused = pairs[(pairs.role == "memorised") & (pairs.language == "de")].pair_id.iloc[0]
    rest = pairs[pairs.pair_id != refused]
    found = built(rest)
    knowledge = refused.rsplit("/", 1)[0]
    assert set(found.examples.to_pandas().query("knowledge_id == @knowledge").language) == {"en"}
    assert knowledge in set(found.splits.knowledge_id)
    assert coverage(rest)["missing"].to_dict() == {"de": 1, "en": 0}


def test_the_same_seed_builds_the_same_tables(pairs):
    one, other = built(pairs), built(pairs)
    assert one.examples.equals(other.examples) and one.items.equals(other.items) and one.splits.equals(other.splits)


# the scripts, from files to files


def run_scripts(sources: Path, out: Path, counts=None) -> None:
    """All five steps for English and German, as the rules call them."""
    from mu2_build import mu2_build
    from mu2_pairs import mu2_pairs
    from mu2_profiles import mu2_profiles
    from mu2_translate import mu2_translate
    from mu2_values import mu2_values

    def at(name: str) -> str:
        return str(out / f"{name}.parquet")

    pools, books = str(sources / "pools.yaml"), {code: str(sources / f"{code}.yaml") for code in ("en", "de")}
    counts = counts or {"memorised": 3, "nonmember": 2, "background": 3}
    mu2_profiles(
        pools=pools,
        phrasebooks=list(books.values()),
        profiles=at("profiles"),
        counts=counts,
        attributes=list(POOLS),
        seed=0,
    )
    mu2_pairs(profiles=at("profiles"), phrasebook=books["en"], pairs=at("pairs_en"))
    for code, phrasebook in books.items():
        mu2_values(pools=pools, phrasebook=phrasebook, values=at(f"values/{code}"), language=code)
        mu2_translate(
            pairs_en=at("pairs_en"), values=at(f"values/{code}"), pools=pools, phrasebook=phrasebook, language=code,
            languages_file=str(SOURCES / "languages.yaml"), pairs=at(f"pairs/{code}"), rejected=at(f"rejected/{code}"),
        )  # fmt: skip
    mu2_build(
        pairs=[at("pairs/en"), at("pairs/de")], rejected=[at("rejected/en"), at("rejected/de")],
        examples=at("examples"), questions=at("items"), splits=at("splits"),
        roles=ROLES, forget={"p1": 1}, heldout_share=0.1, seed=0,
    )  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.parquet"))}


def test_running_the_scripts_twice_gives_equal_files(sources, tmp_path):
    run_scripts(sources, tmp_path / "a")
    run_scripts(sources, tmp_path / "b")
    first = files(tmp_path / "a")
    assert first == files(tmp_path / "b") and len(first) == 11
    assert read_table(tmp_path / "a/rejected/de.parquet", "rejected").empty
    assert len(read_table(tmp_path / "a/pairs/de.parquet", "pairs")) == 24


def test_editing_a_value_that_nobody_has_changes_only_the_values(sources, tmp_path):
    three = {"memorised": 2, "nonmember": 0, "background": 1}  # four months: one is nobody's
    run_scripts(sources, tmp_path / "before", three)
    used = set(read_table(tmp_path / "before/profiles.parquet", "profiles")["value"])
    unused = sorted(set(POOLS["month"]) - used)[0]
    break_file(sources / "de.yaml", f"{unused}: {WORDS[unused]}", f"{unused}: Advent")
    run_scripts(sources, tmp_path / "after", three)
    before, after = files(tmp_path / "before"), files(tmp_path / "after")
    assert [name for name in before if before[name] != after[name]] == ["values/de.parquet"]


def test_editing_a_value_that_somebody_has_changes_the_pairs(sources, tmp_path):
    run_scripts(sources, tmp_path / "before")
    used = read_table(tmp_path / "before/profiles.parquet", "profiles")["value"].iloc[0]
    break_file(sources / "de.yaml", f"{used}: {WORDS[used]}", f"{used}: Murmel")
    run_scripts(sources, tmp_path / "after")
    before, after = files(tmp_path / "before"), files(tmp_path / "after")
    changed = {name for name in before if before[name] != after[name]}
    assert {"values/de.parquet", "pairs/de.parquet", "examples.parquet"} <= changed
    assert changed.isdisjoint({"profiles.parquet", "pairs_en.parquet", "pairs/en.parquet", "splits.parquet"})


def test_a_fault_in_a_phrasebook_is_refused_by_the_checks_and_left_out_of_its_language_only(sources, tmp_path):
    break_file(sources / "de.yaml", "ball: Ball", "ball: Kreisel")  # two toys with one German word
    run_scripts(sources, tmp_path / "out", {"memorised": 8, "nonmember": 2, "background": 3})
    rejected = read_table(tmp_path / "out/rejected/de.parquet", "rejected")
    assert set(rejected["check"]) == {"unique_translation", "unique_back_translation"}
    profiles = read_table(tmp_path / "out/profiles.parquet", "profiles")
    meant = profiles[profiles.value.isin(["ball", "top"])]
    assert set(rejected["id"]) == set(meant.person_id + "/toy/de")
    examples = read_table(tmp_path / "out/examples.parquet", "examples")
    assert not set(meant.person_id + "/toy") & set(examples[examples.language == "de"].knowledge_id)
    assert set(meant[meant.role == "memorised"].person_id + "/toy") <= set(
        examples[examples.language == "en"].knowledge_id
    )


def test_files_build_refuses_inputs_other_than_the_described_files(tmp_path):
    from files_build import files_build

    (tmp_path / "mine.csv").write_text("question,answer\nWho?,I.\nYou?,You.\n")
    one = {"file": str(tmp_path / "mine.csv"), "group": "retain", "rows": [0, 1]}
    columns = {"question": "question", "answer": "answer"}
    spec = {
        "language": "en",
        "columns": columns,
        "sets": {"a": one, "b": {**one, "rows": [1, 2]}},
        "splits": {"s": ["b"]},
    }
    outputs = [str(tmp_path / f"{name}.parquet") for name in ("examples", "items", "splits")]
    with pytest.raises(ValueError, match="mine.csv is not among the files given: none"):
        files_build([], *outputs, spec)
    files_build([str(tmp_path / "mine.csv")], *outputs, spec)
    assert list(read_table(outputs[1], "items").item_id) == ["a/0", "b/1"]


def test_building_data_imports_no_torch():
    modules = ", ".join(f"unlearning.data.{name}" for name in ("checking", "mu2", "files", "profiles", "phrasebook"))
    code = f"import sys, {modules}; "
    code += "sys.exit(bool({'torch', 'transformers', 'snakemake'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "workflow")}).returncode == 0


# the real resources, for people enough that every value occurs


def test_every_phrasebook_is_complete_and_every_pair_passes_every_check():
    from unlearning.data.checking import run_checks
    from unlearning.data.context import offline_context

    pools, languages = read_pools(SOURCES / "pools.yaml"), read_languages(SOURCES / "languages.yaml")
    found = {path.stem: read_phrasebook(path, pools) for path in sorted((SOURCES / "phrasebook").glob("*.yaml"))}
    assert {"en", "de", "id", "af", "es", "lv", "th", "mk"} <= set(found)
    every = [(f"p{i}", "Kim Doe", "memorised", a, v) for a, pool in pools.items() for i, v in enumerate(pool)]
    profiles = pd.DataFrame(every, columns=["person_id", "name", "role", "attribute", "value"])
    for code, phrasebook in found.items():
        values = values_table(pools, phrasebook, code)
        pairs = translate(english_pairs(profiles, found["en"]), values, phrasebook)
        kept, rejected = run_checks(pairs, offline_context(languages[code], tuple(languages), values))
        assert rejected[["id", "check", "reason"]].to_dict("records") == []
        assert len(kept) == sum(map(len, pools.values()))
