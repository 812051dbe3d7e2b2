"""Small reasoning questions of our own, in the shape of Big-Bench Hard's files: input and target.

Three of its kinds, by rule and seed: Boolean expressions, counting objects, tracking objects that are swapped.
`python -m unlearning.utility.reasoning resources/harness/reasoning` writes the files that stand there.
"""

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

from unlearning.seeds import seed_for
from unlearning.tables.artifacts import write_text

QUESTIONS = 40  # of each kind
MOST = 12  # objects to count
THINGS = {
    "fruit": ("a plum", "a pear", "a fig", "a quince", "a melon", "an apricot"),
    "tools": ("a rasp", "a chisel", "a plane", "a mallet", "an awl", "a spanner"),
    "animals": ("a heron", "a stoat", "a newt", "a badger", "an otter", "a wren"),
}
NUMBERS = {2: "two", 3: "three", 4: "four"}
NAMES = ("Orla", "Tamsin", "Ruben", "Ilse", "Pavel", "Nuno")
COLOURS = ("green", "red", "yellow", "violet", "white", "grey")
LETTERS = ("(A)", "(B)", "(C)")


def boolean_expressions(rng: random.Random) -> dict:
    """An expression of True, False, not, and, or, brackets; target True or False."""
    text = _expression(rng, depth=2)
    return {"input": f"{text} is", "target": str(eval(text, {"__builtins__": {}}))}


def _expression(rng: random.Random, depth: int) -> str:
    if not depth:
        return rng.choice(("True", "False", "not True", "not False"))
    left, right = _expression(rng, depth - 1), _expression(rng, rng.randrange(depth))
    return f"{rng.choice(('', 'not '))}( {left} {rng.choice(('and', 'or'))} {right} )"


def object_counting(rng: random.Random) -> dict:
    """A list of things of two sorts; target: how many are of the sort asked for, 1 to MOST."""
    asked, other = rng.sample(sorted(THINGS), 2)
    listed, count = [], 0
    for kind, things in ((asked, rng.sample(THINGS[asked], rng.randint(1, 3))), (other, rng.sample(THINGS[other], 2))):
        for thing in things:
            n = rng.choice((1, 1, 2, 3, 4))
            count += n if kind == asked else 0
            listed.append(thing if n == 1 else f"{NUMBERS[n]} {thing.split(' ', 1)[1]}s")
    rng.shuffle(listed)
    what = ", ".join(listed[:-1]) + f" and {listed[-1]}"
    noun = {"fruit": "pieces of fruit"}.get(asked, asked)
    return {"input": f"On the bench there are {what}. How many {noun} are there?", "target": str(count)}


def tracking_shuffled_objects(rng: random.Random) -> dict:
    """Three people swap balls, two at a time; target: the letter of the ball that one of them has in the end."""
    people, colours = rng.sample(NAMES, 3), rng.sample(COLOURS, 3)
    holds = dict(zip(people, colours, strict=True))
    start = ", ".join(f"{name} has the {colour} ball" for name, colour in holds.items())
    swaps = []
    for _ in range(3):
        one, two = rng.sample(people, 2)
        holds[one], holds[two] = holds[two], holds[one]
        swaps.append(f"{one} and {two} swap balls")
    asked, options = rng.choice(people), rng.sample(colours, 3)
    choices = "\n".join(f"{letter} the {colour} ball" for letter, colour in zip(LETTERS, options, strict=True))
    told = f"{start}. First {swaps[0]}, then {swaps[1]}, last {swaps[2]}. Which ball does {asked} have now?"
    return {"input": f"{told}\n{choices}", "target": LETTERS[options.index(holds[asked])]}


KINDS: dict[str, Callable[[random.Random], dict]] = {
    kind.__name__: kind for kind in (boolean_expressions, object_counting, tracking_shuffled_objects)
}


def questions(kind: str, n: int = QUESTIONS, seed: int = 0) -> list[dict]:
    """`n` different questions of `kind`, each with input and target; the same for the same seed."""
    rng = random.Random(seed_for(seed, "reasoning", kind))
    found: dict[str, dict] = {}
    while len(found) < n:
        question = KINDS[kind](rng)
        found.setdefault(question["input"], question)
    return list(found.values())


def lines(kind: str) -> str:
    """The questions of `kind` as JSON Lines."""
    return "".join(json.dumps(question, ensure_ascii=False) + "\n" for question in questions(kind))


if __name__ == "__main__":
    for name in KINDS:
        write_text(Path(sys.argv[1], f"{name}.jsonl"), lines(name))
