"""The description of someone's own data (files, columns, groups, splits); checked here, read in `files`.

language: en
columns: {question: question, answer: answer, paraphrase: paraphrased_answer, perturbed: perturbed_answer}
sets:
  retain: {file: full.json, rows: [0, 400], align: retain_perturbed.json, group: retain, rows_per_person: 20}
  forget01: {file: full.json, rows: [3960, 4000], align: forget01_perturbed.json, group: forget}
  world_facts: {file: world_facts_perturbed.json, group: world_facts}
splits: {forget01: [forget01]}

A set of forget or retain that is not trained on (train: false) asks about what the other sets of its side taught.

A set's own `columns` stand instead of the common ones. LIST_COLUMNS hold lists of texts, every other column one text.
In a CSV a list is written out, by JSON (["a", "b"]) or as pandas writes it (['a', 'b']); a text without brackets is a
list of one.
"""

TEXT_COLUMNS = (
    "question", "answer", "paraphrase", "value", "knowledge_id", "person_id", "document", "correct_option",
    "prompt", "continuation",
)  # fmt: skip
LIST_COLUMNS = ("perturbed", "options", "aliases")
COLUMNS = (*TEXT_COLUMNS, *LIST_COLUMNS)
MEMBER_GROUPS = ("forget", "retain")
TAUGHT_GROUPS = (*MEMBER_GROUPS, "background", "real_authors", "world_facts")
UNSEEN_GROUPS = ("nonmember", "utility")
SET_DEFAULTS = {
    "rows": None, "align": None, "train": True, "rows_per_person": None, "chunk_words": None, "answer_words": None,
    "columns": None,
}  # fmt: skip
PASSAGE = "passage"
"""The task of items that give the beginning of a text to go on with."""

SCHOOL = "school:"
"""What a set's file begins with where it is built here, before one of SUBJECTS; see `unlearning.data.school`."""
SUBJECTS = ("biology", "chemistry", "cybersecurity")
SCHOOL_COLUMNS = {role: role for role in ("question", "options", "correct_option", "answer")}
SCHOOL_ROLES = ("writer", "verifier_1", "verifier_2")


class FilesError(ValueError):
    """The data or its description is wrong; the message names the file, key or row, what is allowed, how to mend it."""


def checked(spec: dict, where: str = "files") -> dict:
    """`spec`, which stands at the key `where`, with every set's defaults filled in.

    FilesError says which key is wrong and what is allowed.
    """
    _keys(spec, ("language", "columns", "sets", "splits"), ("language", "columns", "sets", "splits"), where)
    needed = ("document",) if "document" in spec["columns"] else ("question", "answer")
    passages = ("prompt", "continuation") if {"prompt", "continuation"} & spec["columns"].keys() else ()
    _keys(spec["columns"], (*needed, *passages), COLUMNS, f"{where}.columns")
    if not spec["sets"] or not spec["splits"]:
        raise FilesError(f"{where}: sets and splits must name at least one each")
    sets = {name: _set(f"{where}.sets.{name}", entry) for name, entry in spec["sets"].items()}
    for split, names in spec["splits"].items():
        _split(f"{where}.splits.{split}", names, sets)
    unused = [
        n
        for n, s in sets.items()
        if s["group"] == "forget" and all(n not in names for names in spec["splits"].values())
    ]
    if unused:
        raise FilesError(
            f"{where}.sets: {unused} have group forget and stand in no split; add them to one or use group retain"
        )
    return {**spec, "sets": sets}


def school_file(subject: str) -> str:
    """Where the questions of `subject` that are built here lie, below the folder of the benchmark's data."""
    return f"school/{subject}.parquet"


def source_files(spec: dict) -> list[str]:
    """Every file that `spec` reads, once each, in order: the inputs of the job that builds from it."""
    found = (entry.get(key) for entry in spec["sets"].values() for key in ("file", "align"))
    return list(dict.fromkeys(path for path in found if path))


def located(spec: dict, sources: list[str]) -> dict:
    """`spec` with every file name replaced by the path among `sources` that ends with it; splits of a data set of the
    Hub, named <configuration>/<split>, are Parquet files. FilesError if none does.
    """

    def path(name: str | None) -> str | None:
        found = [source for source in sources if name and ("/" + source).endswith((f"/{name}", f"/{name}.parquet"))]
        if name and not found:
            raise FilesError(f"files: {name} is not among the files given: {', '.join(sources) or 'none'}")
        return found[0] if found else None

    sets = {n: s | {key: path(s.get(key)) for key in ("file", "align")} for n, s in spec["sets"].items()}
    return {**spec, "sets": sets}


def _keys(found: dict, needed: tuple[str, ...], allowed: tuple[str, ...], where: str) -> None:
    missing = [key for key in needed if key not in found]
    unknown = [key for key in found if key not in allowed]
    if missing or unknown:
        raise FilesError(f"{where}: missing {missing}, unknown {unknown}; allowed: {', '.join(allowed)}")


def _set(where: str, entry: dict) -> dict:
    _keys(entry, ("file", "group"), ("file", "group", *SET_DEFAULTS), where)
    entry = {**SET_DEFAULTS, **entry}
    group, rows = entry["group"], entry["rows"]
    if group not in TAUGHT_GROUPS + UNSEEN_GROUPS:
        raise FilesError(f"{where}.group: {group!r}; allowed: {', '.join(TAUGHT_GROUPS + UNSEEN_GROUPS)}")
    if not isinstance(entry["train"], bool):
        raise FilesError(f"{where}.train: {entry['train']!r}; allowed: true, false")
    if entry["train"] and group in UNSEEN_GROUPS:
        raise FilesError(f"{where}: group {group} is what the model never saw; set train: false")
    if rows is not None and not (isinstance(rows, (list, tuple)) and len(rows) == 2 and 0 <= rows[0] < rows[1]):
        raise FilesError(
            f"{where}.rows: {rows!r}; give [first, end) from 0 with first < end, or leave it out for all rows"
        )
    for key in ("rows_per_person", "chunk_words", "answer_words"):
        if entry[key] is not None and (not isinstance(entry[key], int) or entry[key] < 1):
            raise FilesError(f"{where}.{key}: {entry[key]!r}; give a whole number from 1, or leave it out")
    return entry


def _split(where: str, names: list[str], sets: dict) -> None:
    if not names:
        raise FilesError(f"{where}: the forget set is empty; name at least one set")
    for name in names:
        if name not in sets:
            raise FilesError(f"{where}: no set {name!r}; sets are {', '.join(sets)}")
        if sets[name]["group"] not in MEMBER_GROUPS:
            raise FilesError(
                f"{where}: set {name} needs group forget or retain to be forgotten, has group {sets[name]['group']}"
            )
    if not any(sets[name]["train"] for name in names):
        raise FilesError(f"{where}: of {names} nothing is taught (train: false); name a set that is trained on")
    kept = [name for name, s in sets.items() if s["group"] in MEMBER_GROUPS and s["train"] and name not in names]
    if not kept:
        raise FilesError(f"{where}: {names} are all there is; keep a set of group retain that is trained on")
    for name, other in ((n, k) for n in names for k in kept):
        if _overlap(sets[name], sets[other]):
            raise FilesError(
                f"{where}: sets {name} (forgotten) and {other} (retained) share rows of {sets[name]['file']}; "
                "give each rows: [first, end) of its own"
            )


def _overlap(one: dict, other: dict) -> bool:
    """Whether two sets are rows of one file that have some in common."""
    (first, end), (start, stop) = (s["rows"] or (0, float("inf")) for s in (one, other))
    return one["file"] == other["file"] and first < stop and start < end
