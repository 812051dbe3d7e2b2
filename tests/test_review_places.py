"""Files of people's decisions that nothing would read are told at once, with the name they should have."""

import pytest
import yaml

from mu2_sources import SOURCES
from unlearning.review.places import decision_files, elsewhere, misplaced

LANGUAGES = {c: f["name"] for c, f in yaml.safe_load((SOURCES / "languages.yaml").read_text("utf-8")).items()}

MU2 = {"mu2": True, "tofu": False}  # whether people review it


def put(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("id,decision\n")


@pytest.mark.parametrize("name, words", [
    ("mu2/macedonian.csv", "name it mk.csv"),
    ("mu2/th (1).csv", "name it th.csv"),  # a browser's second download
    ("mu2/Copy of th.xlsx", "name it th.xlsx"),
    ("mu2/review_Thai_final.xlsx", "name it th.xlsx"),
    ("mu2/tha.csv", "name it th.csv"),
    ("mu2/th.CSV", "name it th.csv"),
    ("mu2/th.xls", "files ending in .xls are not read; save it as {}/mu2/th.xlsx"),
    ("mu2/th.txt", "files ending in .txt are not read; save it as {}/mu2/th.csv"),
    ("mu2/th", "files ending in nothing are not read; save it as {}/mu2/th.csv"),
    ("MU2/th.csv", "move it to {}/mu2/th.csv"),
    ("th.json", "move it to {}/mu2/th.json"),
    ("mu2/small/th.csv", "move it to {}/mu2/th.csv"),
    ("mu2/th.csv/th.csv", "move it to {}/mu2/th.csv"),
    ("my/mu2/th.csv", "move it to {}/mu2/th.csv"),
    ("tofu/th.csv", "put it into the folder of the benchmark whose data it reviews; there are: mu2"),
    ("Lume/th.csv", "put it into the folder of the benchmark whose data it reviews; there are: mu2"),
    ("mu2/decisions.csv", "name it by its language; there are: en (English), de (German)"),
    ("mu2/th and mk.csv", "name it by its language"),
])  # fmt: skip
def test_a_file_that_nothing_reads_is_told_with_the_name_it_should_have(tmp_path, name, words):
    put(tmp_path, name)
    (problem,) = misplaced(tmp_path, MU2, LANGUAGES)
    assert problem.startswith(f"{tmp_path / name}: {words.format(tmp_path)}")


def test_a_second_file_of_a_language_is_told_to_be_put_into_the_first(tmp_path):
    put(tmp_path, "mu2/th.csv", "mu2/th (1).csv")
    (problem,) = misplaced(tmp_path, MU2, LANGUAGES)
    assert problem.startswith(f"{tmp_path}/mu2/th (1).csv: {tmp_path}/mu2/th.csv is there too; put the rows")


def test_with_several_benchmarks_a_file_beside_their_folders_is_told_which_there_are(tmp_path):
    put(tmp_path, "th.csv", "own/th.csv")
    (problem,) = misplaced(tmp_path, {"mu2": True, "own": True}, LANGUAGES)
    assert "th.csv: put it into the folder of the benchmark" in problem and problem.endswith("there are: mu2, own")


def test_right_names_are_read_whether_their_language_is_in_use_or_not_and_what_is_no_sheet_is_passed_over(tmp_path):
    put(tmp_path, "mu2/th.csv", "mu2/th.xlsx", "mu2/ur.tsv", "mu2/ko.json")
    put(tmp_path, ".gitkeep", "README.md", "mu2/~$th.xlsx", "mu2/.~lock.th.xlsx#", "mu2/th.csv~", "mu2/.old/th.csv",
        "mu2/Thumbs.db", "notes.md")  # fmt: skip
    assert misplaced(tmp_path, MU2, LANGUAGES) == []
    assert decision_files(tmp_path, "mu2", "th") == [f"{tmp_path}/mu2/th.csv", f"{tmp_path}/mu2/th.xlsx"]
    assert decision_files(tmp_path, "mu2", "de") == []


def test_decisions_about_a_benchmark_that_only_another_overlay_defines_are_left_alone_and_told(tmp_path):
    put(tmp_path, "lume/th.csv", "lume/old/th (1).csv", "mu/th.csv", "mu2/th.csv", "tofu/README.md", "lume/notes.md")
    assert misplaced(tmp_path, MU2, LANGUAGES) == []
    lume, mu = elsewhere(tmp_path, MU2)
    assert lume == (f"{tmp_path}/lume: this configuration has no benchmark 'lume', so people's decisions in it "
                    "(2 files) are not read.")  # fmt: skip
    assert mu.startswith(f"{tmp_path}/mu: ") and mu.endswith("(1 file) are not read. Did you mean 'mu2'?")


def test_without_a_folder_nothing_is_wrong(tmp_path):
    assert misplaced(tmp_path / "none", MU2, LANGUAGES) == [] == elsewhere(tmp_path / "none", MU2)
