"""What the keys of a benchmark of kind umu say about each other."""

from collections.abc import Iterable

from unlearning.config.problems import repeated
from unlearning.config.umu import Umu
from unlearning.registry import declared


def check(key: str, benchmark: Umu) -> Iterable[str]:
    """Splits that leave nobody, too few or too many people, fields named twice, real people without their folder."""
    options, most = declared("unlearning.data.umu.lists", "OPTIONS"), declared("unlearning.data.umu.people", "MOST")
    people = benchmark.people
    for split, n in benchmark.forget.items():
        if n >= people.memorised:
            yield (
                f"{key}.forget.{split}: {n} people to forget leave none of the {people.memorised} memorised to retain; "
                "forget fewer, or raise people.memorised"
            )
    drawn = people.memorised + people.background + (0 if benchmark.real else people.known)
    if drawn < options:
        yield (
            f"{key}.people: {drawn} people have too few values for the {options} options of a question; ask for "
            f"{options} or more"
        )
    if drawn > most:
        yield f"{key}.people: {drawn} people take more different faces than can be drawn; ask for at most {most}"
    if benchmark.fields != "all":
        if not benchmark.fields:
            yield f"{key}.fields: the list is empty; name at least one field, or write all"
        if twice := repeated(benchmark.fields):
            yield f"{key}.fields: listed twice: {twice}; list each once"
    if benchmark.real and benchmark.source is None:
        yield f"{key}.source: give the key of `sources` that names the folder of {benchmark.real!r}"
    if benchmark.source is not None and not benchmark.real:
        yield f"{key}.source: {benchmark.source!r} is not read without real; leave it out, or say real: profiles.csv"
