"""What the keys of a benchmark of kind umu say about each other."""

from collections.abc import Iterable

from unlearning.config.problems import repeated
from unlearning.config.umu import Umu

OPTIONS = 4  # of a classification question, each the value of another person
FACES = 2000  # so many different faces were drawn; far more make drawing slow and end in an error


def check(key: str, benchmark: Umu) -> Iterable[str]:
    """Splits that leave nobody, too few or too many people, fields named twice, real people without their folder."""
    people = benchmark.people
    for split, n in benchmark.forget.items():
        if n >= people.memorised:
            yield (
                f"{key}.forget.{split}: {n} people to forget leave none of the {people.memorised} memorised to retain; "
                "forget fewer, or raise people.memorised"
            )
    drawn = people.memorised + people.background + (0 if benchmark.real else people.known)
    if drawn < OPTIONS:
        yield (
            f"{key}.people: {drawn} people have too few values for the {OPTIONS} options of a question; ask for "
            f"{OPTIONS} or more"
        )
    if drawn > FACES:
        yield f"{key}.people: {drawn} people take more different faces than can be drawn; ask for at most {FACES}"
    if benchmark.fields != "all":
        if not benchmark.fields:
            yield f"{key}.fields: the list is empty; name at least one field, or write all"
        if twice := repeated(benchmark.fields):
            yield f"{key}.fields: listed twice: {twice}; list each once"
    if benchmark.real and benchmark.source is None:
        yield f"{key}.source: give the key of `sources` that names the folder of {benchmark.real!r}"
    if benchmark.source is not None and not benchmark.real:
        yield f"{key}.source: {benchmark.source!r} is not read without real; leave it out, or say real: profiles.csv"
