"""Write the card of a benchmark's data."""


def card(
    tables: list[str], template: str, card: str, about: dict, pairs: list[str] = (), rejected: list[str] = (),
    sources: list[str] = (), prompts: list[str] = (),
) -> None:  # fmt: skip
    """Write `card`, README.md in the data's folder, from the data's own tables and what `about` says of them."""
    from pathlib import Path

    from unlearning.data import card as cards
    from unlearning.tables.artifacts import write_text

    paths = [[Path(path) for path in group] for group in (tables, pairs, rejected, sources, prompts)]
    text = cards.card(Path(template).read_text(encoding="utf-8"), Path(card).parent, *paths, about)
    write_text(card, text)


if __name__ == "__main__":
    from job import run

    run(snakemake, card)  # noqa: F821
