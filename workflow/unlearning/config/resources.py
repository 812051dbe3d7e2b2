"""A configuration against the resources of mu2-Bench: the attributes of the pools (SEPS's too), the phrasebooks."""

import math
from collections.abc import Iterable, Mapping

from unlearning.config.benchmarks import Cut, Mu2, People, Seps, Setting
from unlearning.config.problems import known, listed, refuse, repeated
from unlearning.config.schema import Config
from unlearning.data.languages import check_setting
from unlearning.registry import declared


def check_resources(config: Config, attributes: Mapping[str, int], languages: Mapping[str, str]) -> None:
    """ConfigError for attributes and languages that there are none of, or that make no benchmark.

    `attributes`: name -> how many values its pool has. `languages`: usable code -> resource level, high or low.
    """
    mu2 = {f"benchmarks.{name}": b for name, b in config.benchmarks.items() if isinstance(b, Mu2)}
    problems = [p for key, benchmark in mu2.items() for p in _people(f"{key}.cut", benchmark.cut, attributes)]
    seps = {f"benchmarks.{name}": b for name, b in config.benchmarks.items() if isinstance(b, Seps)}
    for key, benchmark in seps.items():
        of_people = _people(f"{key}.people", benchmark.people, attributes)
        problems += of_people or _seps(key, benchmark, attributes)
    for key, benchmark in mu2.items():
        for name, setting in benchmark.settings.items():
            problems += _setting(f"{key}.settings.{name}", setting, languages)
    refuse(problems)


def _people(key: str, cut: Cut | People, attributes: Mapping[str, int]) -> Iterable[str]:
    asked = list(attributes) if cut.attributes == "all" else cut.attributes
    practised = getattr(cut, "practised", [])
    named = (("attributes", asked), ("practised", practised))
    problems = [p for word, own in named for a in own for p in known(f"{key}.{word}", a, attributes, "attribute")]
    for word, own in named:
        if twice := repeated(own):
            problems.append(f"{key}.{word}: listed twice: {twice}; list each once")
    if both := sorted(set(asked) & set(practised)):
        problems.append(f"{key}.practised: {listed(both)} stand in attributes too; practised ones are asked of nobody")
    if not asked:
        problems.append(f"{key}.attributes: the list is empty; name at least one of {listed(attributes)}, or write all")
    counts = cut.model_dump(exclude={"name", "attributes", "practised"})
    people = sum(counts.values()) + counts.get("known", 0)  # known people are drawn twice
    chosen = [*asked, *practised]
    possible = math.prod(attributes.get(word, 1) for word in chosen)
    if not problems and people > possible:
        problems.append(
            f"{key}: {people} people ({', '.join(counts)}) need different values, and the attributes "
            f"{listed(chosen)} have {possible} combinations; ask for fewer people or more attributes"
        )
    return problems


def _seps(key: str, benchmark: Seps, attributes: Mapping[str, int]) -> Iterable[str]:
    """Wrong answers and the stress test take enough values and questions."""
    wrong, line = declared("unlearning.data.tofu_shaped", "WRONG"), declared("unlearning.data.mixed", "LINE")
    people = benchmark.people
    asked = list(attributes) if people.attributes == "all" else people.attributes
    for word, own in (("attributes", asked), ("practised", people.practised)):
        few = [a for a in own if attributes[a] <= wrong]
        if few and (word, people.attributes) != ("attributes", "all"):
            yield (
                f"{key}.people.{word}: {listed(few)} have {wrong} values or fewer, too few for {wrong} wrong answers; "
                "leave them out"
            )
    n = len([a for a in asked if attributes[a] > wrong])
    lines = benchmark.mixed.stress_lines
    for split, forgotten in benchmark.forget.items():
        if forgotten * n < max(line * lines, 2):
            yield (
                f"{key}.mixed.stress_lines: {lines} lines take {line * lines} questions to forget, pairs 2, but "
                f"split {split} has {forgotten * n} ({forgotten} people, {n} attributes); lower it, or forget more"
            )


def _setting(key: str, setting: Setting, languages: Mapping[str, str]) -> Iterable[str]:
    sides = {"train": setting.train, "holdout": setting.holdout}
    what = "language with a phrasebook"
    problems = [p for side, codes in sides.items() for c in codes for p in known(f"{key}.{side}", c, languages, what)]
    if not problems:
        try:
            check_setting(setting.train, setting.holdout, languages)
        except ValueError as error:
            problems = [f"{key}: {str(error).removeprefix('setting: ')}"]
    return problems
