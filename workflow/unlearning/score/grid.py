"""The rows that scoring must give, known before anything is scored.

Each metric module declares `ROWS`: a literal tuple of (metric, groups, languages, tasks).
groups: "asked" (forget and retain, and every other group that has questions but background and utility) or a tuple of
names. languages: a kind of `unlearning.score.languages.names`. tasks: a tuple of names, or "trials": all, and any
where the questions were answered more than once, or "second_judges": one a second judge, by its name; or, by kind of
question, a function of `unlearning.score.tasks`: "hops", "sums", "types" and before them all, or the prompts
"completion" or "knowledge". A metric that ends in
":" has a row for every second judge, whose name follows.
`ITEMS`, where a module declares it: what the benchmark's questions must have, else every row is null: languages (two or
more), value, perturbed, second_judges, or a group. The configuration is refused where they have not.
"""

from collections.abc import Iterable

from unlearning.registry import declared
from unlearning.score.languages import Language, names
from unlearning.score.tasks import hops, of_prompts, sums, types


def expected(
    metrics: Iterable[str],
    languages: dict[str, Language],
    groups: tuple[str, ...],
    trials: int = 1,
    second_judges: tuple[str, ...] = (),
    tasks_asked: tuple[str, ...] = (),
) -> list[tuple[str, str, str, str]]:
    """The (group, language, task, metric) keys that `score` gives for these metrics.

    `groups`: those asked about what was learnt, `View.groups`. `trials`: answers per question.
    `second_judges`: judges asked beside the primary one. `tasks_asked`: kinds of question, `View.tasks`.
    """
    by_name = {
        "trials": ("all", "any")[: 1 + (trials > 1)], "second_judges": second_judges, "hops": tuple(hops(tasks_asked)),
        "sums": tuple(sums(tasks_asked)), "types": ("all", *types(tasks_asked)),
        **{prompt: tuple(of_prompts(tasks_asked, prompt)) for prompt in ("completion", "knowledge")},
    }  # fmt: skip
    keys = []
    for module in metrics:
        for metric, asked, kind, tasks in declared(f"unlearning.metrics.{module}", "ROWS"):
            asked = groups if asked == "asked" else asked
            tasks = by_name.get(tasks, tasks)
            judged = [f"{metric}{judge}" for judge in second_judges] if metric.endswith(":") else [metric]
            keys += [(g, code, t, m) for m in judged for t in tasks for g in asked for code in names(kind, languages)]
    return keys
