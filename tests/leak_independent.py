"""Whether any multi-hop question contains what its type forbids; nothing of the project is imported.

    python tests/leak_independent.py results/data/leak/<cut>/multihop.parquet results/data/leak/<cut>/facts.parquet

Prints each question that does, with the string, and ends with status 1 where there is one. The forbidden strings are
made here from the facts' names, by the benchmark's own table: bridge and answer (hs, mp), bridge (mt), subject's name
and object (ll), shared object (cc); in ds the answer may stand among the candidates and nowhere else.
"""

import functools
import re
import sys
import unicodedata


@functools.cache
def plain(text, keep_case):
    """`text` without accents and, unless `keep_case`, in lower case; typographic apostrophes made plain."""
    text = text if keep_case else text.casefold()
    letters = [c for c in unicodedata.normalize("NFKD", text) if not "\u0300" <= c <= "\u036f"]
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", "".join(letters)).replace("’", "'")).strip()


def count(name, question):
    """Whole-word occurrences; a name of one or two characters is told from a common word by its case alone."""
    keep_case = len(plain(name, False)) <= 2
    needle, hay, found, at = plain(name, keep_case), plain(question, keep_case), 0, 0
    while needle and (at := hay.find(needle, at)) >= 0:
        before, after = hay[at - 1 : at], hay[at + len(needle) : at + len(needle) + 1]
        joined = (_inside(before) and _inside(needle[0])) or (_inside(after) and _inside(needle[-1]))
        found += not joined
        at += 1
    return found


def _inside(character):
    return bool(character) and (character.isalnum() or character == "_")


def names_of(facts):
    """Entity -> all its names."""
    names = {}
    for fact in facts:
        for end in ("subject", "object"):
            names.setdefault(fact[f"{end}_id"], {})[fact[end]] = None
            names[fact[f"{end}_id"]].update(dict.fromkeys(fact[f"{end}_aliases"]))
    return {entity: list(found) for entity, found in names.items()}


def forbidden(row, names, facts):
    """What `row`'s question must not contain, by its type; of facts alone, not of what the row says is forbidden."""
    used = [facts[ident] for ident in row["fact_ids"]]
    if row["type"] in ("hs", "mp"):
        return names[used[0]["object_id"]] + names[used[1]["object_id"]]
    if row["type"] == "mt":
        return names[used[0]["object_id"]]
    if row["type"] == "ll":
        return [used[0]["subject"], *names[used[0]["object_id"]]]
    return names[used[0]["object_id"]] if row["type"] == "cc" else []


def violations(questions, facts):
    """(match_id, string) of each question, or paraphrase, that contains a forbidden string."""
    names, by_id = names_of(facts), {fact["fact_id"]: fact for fact in facts}
    found = []
    for row in questions:
        for text in [row["question"], *row["paraphrases"]]:
            found += [(row["match_id"], name) for name in forbidden(row, names, by_id) if count(name, text)]
            if row["type"] == "ds":
                others = [name for name in row["candidates"] if name != row["answer"]]
                if count(row["answer"], text) != 1 or any(count(name, text) < 2 for name in others):
                    found.append((row["match_id"], row["answer"]))
        if not any(by_id[ident]["group"] == "forget" for ident in row["fact_ids"]):
            found.append((row["match_id"], "uses no fact to be forgotten"))
    return found


def main():
    import pyarrow.parquet as pq

    questions, facts = (pq.read_table(path).to_pylist() for path in sys.argv[1:3])
    bad = violations(questions, facts)
    for ident, name in bad:
        print(f"{ident}: {name}")
    print(f"{len(questions)} questions, {len(bad)} violations")
    sys.exit(bool(bad) or not questions)


if __name__ == "__main__":
    main()
