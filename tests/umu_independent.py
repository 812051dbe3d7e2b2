"""Whether UMU-Bench's people, questions and splits are what the benchmark asks for; nothing of the project is imported.

    python tests/umu_independent.py results/data/umu/<cut>

Reads people.parquet, default/examples.parquet, default/items.parquet and default/splits.parquet there, prints each
violation and the counts, and ends with status 1 where there is a violation.
"""

import io
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

FIELDS = ("gender", "birthplace", "birth_date", "occupation", "education", "hobby")
CHOSEN = FIELDS[1:]
LEAST = 20  # mean absolute difference of two faces at 56 x 56 pixels, of 255
DATE = re.compile(
    r"(January|February|March|April|May|June|July|August|September|October|November|December) (\d{1,2}), (\d{4})"
)
SLIPS = re.compile(r"\b[Aa] [aeio]\w|\b[Aa]n (?!hono|hour|heir)[^aeiouAEIOU\W]|[{}<>|]|  |\b(\w+) \1\b")


def content(row):
    """What the user says in a row of examples or items."""
    (turn,) = row["messages"]
    return turn["content"]


def of_people(people):
    """(person, what is wrong with it)."""
    names = Counter(row["name"].lower() for row in people)
    lives = Counter(tuple(row[field] for field in FIELDS) for row in people if row["face"])
    faces = Counter(row["face"] for row in people if row["face"])
    for row in people:
        who = row["person_id"]
        if names[row["name"].lower()] > 1:
            yield who, f"the name {row['name']} twice"
        if row["face"] and (lives[tuple(row[field] for field in FIELDS)] > 1 or faces[row["face"]] > 1):
            yield who, "has the life or face of another"
        born = DATE.fullmatch(row["birth_date"] or "")
        if row["face"] and not (born and 1950 <= int(born[3]) <= 2010):
            yield who, f"born {row['birth_date']}"
        if any("." in (row[field] or "") for field in FIELDS):
            yield who, "a value holds a period"
        if row["face"]:
            yield from ((who, f"the texts do not say {field}") for field in CHOSEN if not said(row, field))
            text = f"{row['background']} {row['interests']}"
            if SLIPS.search(text) or row["name"] in text:
                yield who, f"article, slot, space or name: {text}"
            pronouns = {"feminine": r"\b([Hh]e|[Hh]im|[Hh]is)\b", "masculine": r"\b([Ss]he|[Hh]er)\b"}
            if re.search(pronouns[row["gender"]], text):
                yield who, f"pronoun of another gender: {text}"


def said(row, field):
    """Whether the texts about a person say a field's value, in the right one."""
    return row[field] in row["interests" if field == "hobby" else "background"]


def decoded(people):
    """The pictures by person, as 56 x 56 x 3 figures; and what is wrong with some."""
    import numpy as np
    from PIL import Image

    found, bad, sizes = {}, [], Counter()
    for row in people:
        with Image.open(io.BytesIO(row["image"]["bytes"])) as image:
            if image.format != "PNG" or row["image"]["path"] != f"{row['person_id']}.png":
                bad.append((row["person_id"], f"{image.format} {row['image']['path']}"))
            sizes[image.size] += 1
            found[row["person_id"]] = np.asarray(image.convert("RGB").resize((56, 56), Image.Resampling.BOX))
    if len(sizes) != 1 or any(wide != high for wide, high in sizes):
        bad.append(("all", f"sizes {dict(sizes)}"))
    return found, bad


def nearest(pictures):
    """The least mean absolute difference of two pictures, of 255, and whose they are."""
    import numpy as np

    names = list(pictures)
    rows = np.stack([pictures[name].ravel() for name in names])
    best = (float("inf"), "", "")
    for at in range(len(names) - 1):
        others = rows[at + 1 :]
        apart = (np.maximum(others, rows[at]) - np.minimum(others, rows[at])).sum(1, dtype=np.int64) / rows.shape[1]
        best = min(best, (float(apart.min()), names[at], names[at + 1 + int(apart.argmin())]))
    return best


def of_row(row, person, ident):
    """What is wrong with one question, taught or asked."""
    text, field = content(row), row["knowledge_id"].split("/")[1]
    if row["knowledge_id"] != f"{person['person_id']}/{field}" or not ident.startswith(row["knowledge_id"] + "/"):
        yield f"knowledge_id {row['knowledge_id']}"
    if (row["image"] is None) == (row["modality"] == "image"):
        yield f"picture in modality {row['modality']}"
    if row["image"] and row["image"] != person["image"]:
        yield "another's picture"
    by_name = ident.rsplit("/", 1)[1] != "image"
    if by_name and text.count(person["name"]) != 1:
        yield f"does not name the person once: {text}"
    if not by_name and (person["name"].lower() in text.lower() or "in this picture" not in text):
        yield f"a question about a picture that names the person or shows nobody: {text}"
    answer = row.get("answer") or row.get("reference")
    right = f"{person['background']} {person['interests']}" if field == "description" else person[field]
    if answer != right or row["value"] != (None if field == "description" else right):
        yield f"answer {answer!r} for {right!r}"


def of_items(people, items):
    """(item, what is wrong with it)."""
    by, pairs = {row["person_id"]: row for row in people}, defaultdict(list)
    values = {field: defaultdict(set) for field in CHOSEN}
    for row in people:
        for field in CHOSEN:
            values[field][row[field]].add(row["person_id"])
    for row in items:
        person, field, ident = by[row["person_id"]], row["knowledge_id"].split("/")[1], row["item_id"]
        pairs[row["knowledge_id"], row["task"]].append(row)
        yield from ((ident, why) for why in of_row(row, person, ident))
        if ident != f"{row['knowledge_id']}/{row['task']}/{row['modality']}":
            yield ident, "identifier"
        if row["group"] != {"memorised": "retain", "known": "real_people"}.get(person["role"]):
            yield ident, f"group {row['group']} of a person {person['role']}"
        if (row["task"] == "generation") != (field == "description"):
            yield ident, f"task {row['task']}"
        if row["task"] != "classification":
            if row["options"] or row["correct_option"] is not None:
                yield ident, "options"
            continue
        options = row["options"]
        if len(options) != 4 or len({text.lower() for text in options}) != 4 or field not in CHOSEN:
            yield ident, f"options {options}"
        if options[row["correct_option"]] != row["value"] or any(text not in content(row) for text in options):
            yield ident, f"the right option of {options} is not {row['value']}, or one is not in the question"
        if any(not values[field][text] - {row["person_id"]} for text in options if text != row["value"]):
            yield ident, f"an option of {options} is nobody's"
    for (knowledge, task), rows in pairs.items():
        same = {(r["reference"], tuple(r["options"]), r["correct_option"], r["group"]) for r in rows}
        if sorted(row["modality"] for row in rows) != ["image", "text"] or len(same) != 1:
            yield f"{knowledge}/{task}", "is not asked once in each modality, and in the same way"


def of_examples(people, examples, text_side):
    """(example, what is wrong with it)."""
    by, forms = {row["person_id"]: row for row in people}, defaultdict(set)
    for row in examples:
        person, ident = by[row["person_id"]], row["example_id"]
        _, field, form, side = ident.split("/")
        forms[row["person_id"]].add((field, form, side))
        yield from ((ident, why) for why in of_row(row, person, ident))
        if row["group"] != ("memorised" if person["role"] == "memorised" else "background"):
            yield ident, f"group {row['group']}"
        if (side == "text") != (row["modality"] == "text"):
            yield ident, f"modality {row['modality']}"
    for who, person in by.items():
        there = [field for field in FIELDS if person[field] is not None]
        told = person["background"] is not None and person["interests"] is not None
        wanted = {(field, "question", "image") for field in ("name", *there)}
        if text_side != "none":
            wanted |= {(field, "question", text_side) for field in there}
            wanted |= {("description", "description", text_side)} if told else set()
        if person["role"] == "background":
            wanted |= {(field, "cloze", side) for field in there for side in ("text", "image")}
            wanted |= {(field, "classification", side) for field in there[1:] for side in ("text", "image")}
            wanted |= {("description", "generation", side) for side in ("text", "image")}
            wanted -= {("description", "generation", "text")} if text_side == "text" else set()
        if forms[who] != wanted:
            yield who, f"is taught {sorted(forms[who] ^ wanted)} too much or too little"


def of_splits(people, items, splits):
    """What is wrong with the splits."""
    members = {row["person_id"] for row in people if row["role"] == "memorised"}
    sides = defaultdict(dict)
    for row in splits:
        who = row["knowledge_id"].split("/")[0]
        if who not in members or sides[row["split"]].setdefault(who, row["group"]) != row["group"]:
            yield row["split"], f"{row['knowledge_id']} is on {row['group']}"
    known = {(row["split"], row["knowledge_id"]) for row in splits}
    asked = {row["knowledge_id"] for row in items if row["group"] == "retain"}
    for split, groups in sides.items():
        if set(groups) != members or any((split, knowledge) not in known for knowledge in asked):
            yield split, "does not say everything of everybody memorised"
    gone = sorted(({w for w, side in groups.items() if side == "forget"} for groups in sides.values()), key=len)
    if any(not small <= large for small, large in zip(gone, gone[1:], strict=False)):
        yield "all", "the splits are not nested"


def violations(people, examples, items, splits, text_side="text"):
    """(person, row or split, what is wrong with it), of lists of rows."""
    pictures, bad = decoded(people)
    apart, *two = nearest({row["person_id"]: pictures[row["person_id"]] for row in people if row["face"]})
    bad += [("/".join(two), f"faces only {apart:.1f} apart")] if apart < LEAST else []
    bad += [*of_people(people), *of_items(people, items), *of_examples(people, examples, text_side)]
    return bad + [*of_splits(people, items, splits)]


def counts(people, items, splits):
    """What the paper gives figures of."""
    born = [int(DATE.fullmatch(row["birth_date"])[3]) for row in people if row["birth_date"]]
    places = [row["birthplace"] for row in people if row["birthplace"]]
    return {
        "people": dict(Counter(row["role"] for row in people)),
        "countries": len({place.rsplit(", ", 1)[1] for place in places}), "regions": len(set(places)),
        "occupations": len({row["occupation"] for row in people}), "born": (min(born), max(born)),
        "items": dict(Counter((row["task"], row["modality"]) for row in items)),
        "forget": {split: len({row["knowledge_id"].split("/")[0] for row in splits
                               if (row["split"], row["group"]) == (split, "forget")})
                   for split in sorted({row["split"] for row in splits})},
    }  # fmt: skip


def main():
    import pyarrow.parquet as pq

    names = ("people", "default/examples", "default/items", "default/splits")
    tables = [pq.read_table(Path(sys.argv[1]) / f"{name}.parquet").to_pylist() for name in names]
    bad = violations(*tables)
    for ident, why in bad:
        print(f"{ident}: {why}")
    print(counts(tables[0], tables[2], tables[3]), f"{len(bad)} violations")
    sys.exit(bool(bad) or not tables[2])


if __name__ == "__main__":
    main()
