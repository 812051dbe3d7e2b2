"""What a run would do, as a short table: rule, number of jobs, and what they make (first outputs). For `make dry`."""

import logging
import re
import sys


class Jobs(logging.Filter):
    """Collects (rule, first output) of each job that the dry run announces; lets warnings and errors through."""

    def __init__(self):
        super().__init__()
        self.found: list[tuple[str, str]] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Called by the logger for each record."""
        if hasattr(record, "rule_name") and getattr(record, "output", None):
            self.found.append((record.rule_name, str(record.output[0])))
        return record.levelno >= logging.WARNING


def pattern(paths: list[str]) -> str:
    """One line for `paths` of equally many pieces: {a,b} where they differ, {12 names} where more than 8 do."""
    pieces = [list(dict.fromkeys(column)) for column in zip(*map(_pieces, paths), strict=True)]
    return "".join(names[0] if len(names) == 1 else _braces(names) for names in pieces)


def _pieces(path: str) -> list[str]:
    return re.split(r"([/.])", path)


def _braces(names: list[str]) -> str:
    return "{" + (",".join(sorted(names)) if len(names) <= 8 else f"{len(names)} names") + "}"


def table(jobs: list[tuple[str, str]]) -> str:
    """The table: one line for each rule, further ones where a rule's outputs are not named alike."""
    groups: dict[tuple[str, int], list[str]] = {}
    for rule, path in jobs:
        groups.setdefault((rule, len(_pieces(path))), []).append(path)
    if not groups:
        return "Nothing to do: everything is up to date."
    rows = [(rule, str(len(paths)), pattern(paths)) for (rule, _), paths in groups.items()]
    rows = [("rule", "jobs", "what they make"), *rows, ("all", str(len(jobs)), "")]
    width, digits = (max(len(row[i]) for row in rows) for i in (0, 1))
    return "\n".join(f"{rule:<{width}}  {count:>{digits}}  {made}".rstrip() for rule, count, made in rows)


def main(arguments: list[str]) -> int:
    """Snakemake's dry run with `arguments`, told as a table; its exit status."""
    from snakemake.cli import main as snakemake
    from snakemake.logging import logger

    jobs = Jobs()
    logger.addFilter(jobs)
    try:
        snakemake(["--dry-run", *arguments])
    except SystemExit as end:
        if end.code:
            return end.code
    print(table(jobs.found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
