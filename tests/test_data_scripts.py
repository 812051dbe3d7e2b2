"""The data-building scripts, from files to files, as the rules call them."""

import subprocess
import sys
from pathlib import Path

import pytest

from mu2_sources import POOLS, ROLES, ROOT, SOURCES, WORDS, break_file, write_sources
from unlearning.tables.artifacts import read_table

sys.path.append(str(ROOT / "workflow" / "scripts"))


@pytest.fixture
def sources(tmp_path):
    return write_sources(tmp_path)


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
            cut="small",
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
