"""Multi-hop questions from all of MQuAKE-CF-3k: matchers, composition, checks; each figure beside its bound.

    python benchmarks/leak_build.py [../shared/data/mquake/MQuAKE-CF-3k.json.gz] [--per-type 500] [--all]

Composes 1.5 × per-type matches of each type (with --all every match) and prints CPU seconds and the peak memory by
step, the funnel by type, and how varied what is kept is.
"""

import argparse
import sys
from pathlib import Path

from measured import costed, peak_mib, show

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow"))
RESOURCES = ROOT / "resources" / "leak"
FILE = ROOT.parent / "shared/data/mquake/MQuAKE-CF-3k.json.gz"
MATCHING, COMPOSING, MEMORY = 10, 60, 1024  # bounds: seconds of all matchers, of 3,000 questions; MiB of the matchers


def build_all(path: str, per_type: int, everything: bool) -> list[bool]:
    """Run every step on the file at `path`, printing what each takes; whether each bound is met."""
    from unlearning.data.leak import compose, decompose, select, verify
    from unlearning.data.leak.knowledge import index
    from unlearning.data.leak.matches import TYPES, match_all
    from unlearning.data.leak.mquake import read_mquake
    from unlearning.data.leak.templates import read_phrases

    names = ("templates/mquake.yaml", "frames.yaml", "rules/mquake.yaml")
    phrases = read_phrases(*(RESOURCES / name for name in names))
    facts, _ = costed("read", read_mquake, path)
    knowledge, took = costed("index", index, facts)
    matching = took
    tables = []
    for name in TYPES:
        table, took = costed(f"match {name}", match_all, knowledge, phrases.rules, 0, types=[name])
        tables.append(table)
        matching += took
    import pandas as pd

    matches = pd.concat(tables, ignore_index=True)
    memory = peak_mib()
    drawn = matches if everything else select.draw(matches, per_type * 3 // 2, 0)
    composed, one = costed("compose", compose.compose, drawn, phrases)
    split, two = costed("decompose", decompose.decompose, composed, phrases, knowledge)
    found, three = costed("verify", verify.verify, drawn, composed, split, knowledge)
    kept, funnel = select.balanced(found.questions, found.funnel, per_type, 0, "report")
    rate = (one + two + three) / len(drawn) * 3000
    print(funnel.pivot(index="type", columns="step", values="n")[[*verify.STEPS, "kept"]].loc[list(TYPES)].to_string())
    print("refused wordings:", found.rejected["check"].value_counts().to_dict())
    varied(kept)
    fewest = int(kept["type"].value_counts().reindex(TYPES, fill_value=0).min())
    return [
        show("all matchers, CPU seconds", matching, f"< {MATCHING}", matching < MATCHING),
        show("all matchers, peak MiB", memory, f"< {MEMORY}", memory < MEMORY),
        show("3,000 questions composed and checked, CPU seconds", rate, f"< {COMPOSING}", rate < COMPOSING),
        show("questions kept of the type that has fewest", fewest, f">= {per_type}", fewest >= per_type),
    ]


def varied(kept) -> None:
    """How varied questions and answers are."""
    from unlearning.data.leak.quality import answer_entropy, self_bleu

    print(
        f"self-BLEU {self_bleu(list(kept['question']), 0)[0]:.3f}, entropy {answer_entropy(kept['answer'])[0]:.2f} bits"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", default=FILE, help="MQuAKE's file")
    parser.add_argument("--per-type", type=int, default=500, help="questions of each type to choose")
    parser.add_argument("--all", action="store_true", help="compose every match")
    options = parser.parse_args()
    if not Path(options.path).is_file():
        print(f"{options.path} is not there: no figures on MQuAKE's facts")
        return
    sys.exit(not all(build_all(options.path, options.per_type, options.all)))


if __name__ == "__main__":
    main()
