"""Whether LUME's documents, cuts and questions are what the benchmark asks for; nothing of the project is imported.

    python tests/lume_independent.py results/data/lume/<cut>

Reads documents.parquet, continuations.parquet and knowledge.parquet there, prints each violation, and ends with status
1 where there is one.
"""

import datetime
import re
import sys
from collections import Counter
from pathlib import Path

MONTHS = "January February March April May June July August September October November December".split()
UNITS = {"task1": 1, "task2": 5, "task3": 1}  # questions of a document
ZIPS = {  # the first figure of a state's ZIP codes
    "0": "CT MA ME NH NJ RI VT", "1": "DE NY PA", "2": "DC MD NC SC VA WV", "3": "AL FL GA MS TN", "4": "IN KY MI OH",
    "5": "IA MN MT ND SD WI", "6": "IL KS MO NE", "7": "AR LA OK TX", "8": "AZ CO ID NM NV UT WY",
    "9": "AK CA HI OR WA",
}  # fmt: skip
SLIPS = re.compile(r"\b[Aa] [aeio]\w|\b[Aa]n (?!hono|hour|heir)[^aeiouAEIOU\W]|[{}<>|]|  |\b(\w+) \1\b")
UNIQUE = ("name", "ssn", "phone", "email", "address")


def person(row):
    """A row of task 2 with its name and full address."""
    address = f"{row['street']}, {row['city']}, {row['state']}, {row['zip']}"
    return row | {"name": row["characters"][0], "address": address}


def of_person(row):
    """What is wrong with one person's fields and text."""
    born, text = row["birth_date"], row["text"]
    if not re.fullmatch(r"900\d{6}", row["ssn"]):
        yield f"SSN {row['ssn']}"
    if not "1964-01-01" <= datetime.date.fromisoformat(born).isoformat() <= "1991-01-01":
        yield f"born {born}"
    if not re.fullmatch(r"\d{10}", row["phone"]):
        yield f"phone {row['phone']}"
    first, _, last = row["name"].lower().partition(" ")
    if row["email"] != f"{re.sub('[^a-z]', '', first)}_{re.sub('[^a-z]', '', last)}@me.com":
        yield f"e-mail {row['email']} of {row['name']}"
    if row["street_state"] == row["state"]:
        yield f"street and city in {row['state']}"
    if row["state"] not in ZIPS[row["zip"][0]].split() or not re.fullmatch(r"\d{5}", row["zip"]):
        yield f"ZIP {row['zip']} in {row['state']}"
    year, month, day = (int(part) for part in born.split("-"))
    name = MONTHS[month - 1]
    forms = {
        "name": [row["name"]],
        "birth date": [born, f"{name} {day}, {year}", f"{day} {name} {year}", f"{month:02d}/{day:02d}/{year}"],
        "e-mail": [row["email"]],
        "address": [row["address"], f"{row['street']}, {row['city']}, {row['state']} {row['zip']}"],
    }
    for field, ways in forms.items():
        if not any(way in text for way in ways):
            yield f"no {field} in the text"
    figures = {re.sub(r"\D", "", found) for found in re.findall(r"[\d(][\d ().-]{7,}\d", text)}
    for field in ("ssn", "phone"):
        if row[field] not in figures:
            yield f"no {field} in the text"


def of_cut(row, before, after):
    """What is wrong with where a document is cut."""
    text = row["text"]
    if not (text.startswith(before) and text.endswith(after)) or "".join(text.split()) != "".join(
        (before + after).split()
    ):
        yield "cut: the parts are not the document"
    elif 2 * len(before.split()) < len(text.split()) or not after:
        yield f"cut after {len(before.split())} of {len(text.split())} words"
    elif not re.search(r"[.!?…][\"”')\]]*$", before) or not re.match(r"[\"“'(\[]*[A-Z0-9ÄÖÜ]", after):
        yield f"cut within a sentence: {before[-20:]!r} {after[:20]!r}"


def violations(documents, continuations, knowledge):
    """(document, what is wrong with it), of lists of rows."""
    found, cuts = [], {row["document_id"]: row for row in continuations}
    asked = Counter(row["document_id"] for row in knowledge)
    texts = {row["document_id"]: row for row in documents}
    people = [person(row) for row in documents if row["task"] == "task2"]
    for field in UNIQUE:
        twice = [value for value, n in Counter(row[field] for row in people).items() if n > 1]
        found += [(row["document_id"], f"{field} {row[field]} twice") for row in people if row[field] in twice]
    for row in people:
        found += [(row["document_id"], why) for why in of_person(row)]
    for row in documents:
        ident, n = row["document_id"], len(row["text"].split())
        low, high = {"task1": (150, 200), "task3": (100, 200)}.get(row["task"], (1, 200))
        if not low <= n <= high or n != row["n_words"]:
            found.append((ident, f"{n} words, said to be {row['n_words']}"))
        if row["role"] == "nonmember":
            found += [(ident, "a non-member is asked about")] * bool(asked[ident] or ident in cuts)
            continue
        if asked[ident] != UNITS[row["task"]]:
            found.append((ident, f"{asked[ident]} questions"))
        if ident not in cuts:
            found.append((ident, "is not cut"))
        else:
            found += [(ident, why) for why in of_cut(row, cuts[ident]["input"], cuts[ident]["reference"])]
        if re.search(
            r"\b[Aa] [aeio]\w|\b[Aa]n (?!hono|hour|heir)[^aeiouAEIOU\W]|[{}<>|]|  ", row["text"].replace("a one-", "")
        ):
            found.append((ident, "article, slot or space"))
    for row in knowledge:
        text = texts[row["document_id"]]
        if text["task"] != "task2" and not re.search(
            rf"(?<!\w){re.escape(row['answer'].lower())}(?!\w)", text["text"].lower()
        ):
            found.append((row["document_id"], f"the answer {row['answer']!r} is not in the text"))
    doubled = [q for q, n in Counter(row["question"] for row in knowledge).items() if n > 1]
    return found + [(question, "is asked of two documents") for question in doubled]


def counts(documents, continuations, knowledge):
    """Prompts there are, and prompts there should be of so many memorised documents."""
    members = {row["document_id"]: row["task"] for row in documents if row["role"] == "memorised"}
    there = sum(row["document_id"] in members for row in [*continuations, *knowledge])
    by = Counter(members.values())
    return there, (by["task1"] + by["task3"]) * 2 + by["task2"] * 6


def main():
    import pyarrow.parquet as pq

    names = ("documents", "continuations", "knowledge")
    tables = [pq.read_table(Path(sys.argv[1]) / f"{name}.parquet").to_pylist() for name in names]
    bad, (there, expected) = violations(*tables), counts(*tables)
    for ident, why in bad:
        print(f"{ident}: {why}")
    print(f"{len(tables[0])} documents, {there} prompts of {expected}, {len(bad)} violations")
    sys.exit(bool(bad) or there != expected or not there)


if __name__ == "__main__":
    main()
