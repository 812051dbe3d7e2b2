"""Pools and phrasebooks: the pairs they give, every mistake in them, and the real ones."""

import pandas as pd
import pytest

from mu2_sources import GERMAN, POOLS, SOURCES, WORDS, break_file, pairs_of, people, write_sources
from unlearning.data.languages import read_languages
from unlearning.data.phrasebook import english_pairs, read_phrasebook, read_pools, translate, values_table
from unlearning.data.profiles import words_of_values
from unlearning.data.text import fold
from unlearning.data.yaml_files import ResourceError
from unlearning.tables.artifacts import to_table


@pytest.fixture
def sources(tmp_path):
    return write_sources(tmp_path)


@pytest.fixture
def pairs(sources):
    return pairs_of(sources)


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


def test_every_phrasebook_is_complete_and_every_pair_passes_every_check():
    from unlearning.data.checking import run_checks
    from unlearning.data.context import offline_context

    pools, languages = read_pools(SOURCES / "pools.yaml"), read_languages(SOURCES / "languages.yaml")
    found = {path.stem: read_phrasebook(path, pools) for path in sorted((SOURCES / "phrasebook").glob("*.yaml"))}
    assert set(found) == set(languages) and len(found) == 12
    every = [(f"p{i}", "Kim Doe", "memorised", a, v) for a, pool in pools.items() for i, v in enumerate(pool)]
    profiles = pd.DataFrame(every, columns=["person_id", "name", "role", "attribute", "value"])
    for code, phrasebook in found.items():
        values = values_table(pools, phrasebook, code)
        pairs = translate(english_pairs(profiles, found["en"]), values, phrasebook)
        kept, rejected = run_checks(pairs, offline_context(languages[code], tuple(languages), values))
        assert rejected[["id", "check", "reason"]].to_dict("records") == []
        assert len(kept) == sum(map(len, pools.values()))
