"""Lay out a benchmark's data as they can be published, with their card."""


def card(
    template: str, card: str, about: dict, sources: list[str] = (), prompts: list[str] = (), **tables: str | list[str]
) -> None:  # fmt: skip
    """Make the folder of `card` (README.md): copies of `tables`, and the card from them and what `about` says."""
    from pathlib import Path

    from unlearning.data.card import publish

    publish(Path(card).parent, Path(template).read_text(encoding="utf-8"), tables, sources, prompts, about)


if __name__ == "__main__":
    from job import run

    run(snakemake, card)  # noqa: F821
