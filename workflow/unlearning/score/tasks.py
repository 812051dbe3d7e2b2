"""Kinds of question: single-hop and the multi-hop types of leak-resistant unlearning; the prompts of LUME's tasks."""

from collections.abc import Iterable

MULTI = {
    "hs": "hypothetical syllogism",
    "mt": "modus tollens",
    "ds": "disjunctive syllogism",
    "ll": "Leibniz's law",
    "mp": "modus ponens",
    "cc": "conjunctive composition",
}
"""Multi-hop tasks in the order of the paper's Table 2; every other task is single-hop."""

HOPS = ("single_hop", "multi_hop")


def ordered(tasks: Iterable[str]) -> tuple[str, ...]:
    """The distinct tasks: single-hop ones by name, then multi-hop ones in the order of `MULTI`."""
    found, places = set(tasks), {task: i for i, task in enumerate(MULTI)}
    return tuple(sorted(found, key=lambda task: (places.get(task, -1), task)))


def hops(tasks: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """single_hop and multi_hop -> their tasks; only those with any."""
    tasks = ordered(tasks)
    split = ([t for t in tasks if t not in MULTI], [t for t in tasks if t in MULTI])
    return {name: tuple(own) for name, own in zip(HOPS, split, strict=True) if own}


def types(tasks: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Name -> tasks: each task by itself; nothing where there is but one, as there is nothing to tell apart."""
    tasks = ordered(tasks)
    return {task: (task,) for task in tasks} if len(tasks) > 1 else {}


def of_prompts(tasks: Iterable[str], prompt: str) -> dict[str, tuple[str, ...]]:
    """all -> the tasks named `<name>_<prompt>` (LUME's completion or knowledge), and each by its name alone."""
    found = {task.removesuffix(f"_{prompt}"): (task,) for task in ordered(tasks) if task.endswith(f"_{prompt}")}
    return {"all": tuple(task for own in found.values() for task in own), **found}


def sums(tasks: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Name -> tasks: all; multi_hop where there are single-hop ones too; and each of `types`."""
    tasks = ordered(tasks)
    pooled = hops(tasks)
    return {"all": tasks, **({"multi_hop": pooled["multi_hop"]} if len(pooled) > 1 else {}), **types(tasks)}
