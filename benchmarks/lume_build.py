"""LUME's data at full size without language models: each figure beside its bound.

    python benchmarks/lume_build.py [--seed 0] [--nonmembers 295] [--show 3]

Builds 393 stories, 405 people and 589 biographies with their prompts, prints CPU seconds and the peak memory by step,
the funnel, how much alike the texts are, and with --show some of them.
"""

import argparse
import sys
import time
from pathlib import Path

from measured import peak_mib, show, timed

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow"), str(ROOT / "tests")]
SECONDS, MEMORY, FIRST = 60, 1024, 0.95  # bounds: CPU seconds of all, MiB, share of drafts that pass


def build_all(seed: int, nonmembers: int, shown: int) -> list[bool]:
    """Run every step, printing what each takes; whether each bound is met."""
    from lume_independent import counts, violations
    from unlearning.data.lume import construct, layout
    from unlearning.data.lume.made import ALIKE

    started = time.process_time()
    grammars = timed("read", construct.read_grammars, ROOT / "resources" / "lume")
    made = timed("documents", construct.offline, grammars, construct.PAPER, nonmembers, seed)
    cut = timed("cut", layout.cut, made.documents, seed)
    built = timed("layout", layout.build, made.documents, cut, made.knowledge, "paper")
    took, memory = time.process_time() - started, peak_mib()
    steps = made.funnel.pivot(index="type", columns="step", values="n")
    print(steps[list(dict.fromkeys(made.funnel["step"]))].astype("Int64").to_string())
    print("refused drafts:", made.rejected["check"].value_counts().to_dict())
    rows = [table.to_dict("records") for table in (made.documents, cut, made.knowledge)]
    bad, (prompts, wanted) = violations(*rows), counts(*rows)
    passed = steps["kept"].sum() / steps["drawn"].sum()
    most = {task: alike(made.documents[made.documents["task"] == task]["text"]) for task in ("task1", "task3")}
    print(f"examples {built.examples.num_rows}, items {built.items.num_rows}, splits {len(built.splits)}")
    for row in made.documents.groupby("task").head(shown).itertuples():
        print(f"\n[{row.document_id}] {row.text}")
    return [
        show("all at full size, CPU seconds", took, f"< {SECONDS}", took < SECONDS),
        show("all at full size, peak MiB", memory, f"< {MEMORY}", memory < MEMORY),
        show("prompts", prompts, f"= {construct.prompts({'task1': 393, 'task2': 405, 'task3': 589})}",
             prompts == wanted == 4394),
        show("violations by the independent checker", len(bad), "= 0", not bad),
        show("share of drafts that pass every check", passed, f">= {FIRST}", passed >= FIRST),
        *(show(f"{task}: 3-grams shared by the two most alike", most[task], f"< {ALIKE}", most[task] < ALIKE)
          for task in most),
    ]  # fmt: skip


def alike(texts) -> float:
    """The largest share of word 3-grams that two of `texts` have in common."""
    from unlearning.data.lume.near import Index

    index, found = Index(), 0.0
    for number, text in enumerate(texts):
        found = max(found, index.nearest(text)[0])
        index.add(str(number), text)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0, help="what everything is drawn by")
    parser.add_argument("--nonmembers", type=int, default=295, help="biographies that are never taught")
    parser.add_argument("--show", type=int, default=0, help="documents of each task to print")
    given = parser.parse_args()
    sys.exit(not all(build_all(given.seed, given.nonmembers, given.show)))


if __name__ == "__main__":
    main()
