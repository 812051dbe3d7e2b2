"""GPU-hours and disk of the papers' grids, estimated: docs/papers.md has the table that this prints.

    python benchmarks/paper_cost.py

Training takes 6 FLOPs a parameter and token, answering 2, at a stated share of a GPU's peak; every model kept takes
4 bytes a parameter. Examples, questions and tokens are counts of the data at full size, rounded (TOKENS); nothing is
run.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "workflow"), str(ROOT / "tests")]
PEAKS = {"H100": 989e12, "A100": 312e12}  # FLOPs a second in bfloat16, dense
TRAINING, ANSWERING = 0.35, 0.10  # shares of the peak that are reached: our assumption
# Of each benchmark, in tokens: what target and retrained model are taught in an epoch; one unit that a split forgets,
# and how many units each split has; what is read and written to answer and score a model once.
TOKENS = {
    "mu2": (16_000 * 64, 80 * 64, {"p1": 2, "p3": 6, "p5": 10}, 40_000 * 150),
    "leak": (1_100 * 40, 280 * 40, {"forget": 1}, 800 * 100 + 1_350 * 500),
    "lume": (5_800 * 150, 2_900 * 150, {"forget": 1}, 4_700 * 300 + 57 * 20 * 4 * 700),
    "seps": (3_800 * 60, 19 * 60, {"forget01": 2, "forget05": 10, "forget10": 20}, 6_000 * 150),
    "muse_news": (4_000_000, 800_000, {"forget": 1}, 1_000 * 400),
    "muse_books": (1_400_000, 1_100_000, {"forget": 1}, 1_000 * 400),
    "umu": (9_100 * 350, 15 * 25 * 350, {"p5": 1, "p10": 2, "p15": 3}, 15_700 * 400),
}
SIDES = 2  # forget and retain examples in every step; of a bare term that is twice what it takes


def cost(overlay: str) -> tuple[int, int, float, float, float]:
    """Models trained, models asked, FLOPs of training and of answering, bytes of all models of one overlay."""
    from configurations import overlaid
    from unlearning.config.load import load
    from unlearning.config.runs import candidates_of, epochs_of, plan

    config = load(overlaid(overlay))
    trained, asked = {}, set()
    for run in plan(config):
        taught, unit, units, _ = TOKENS[run.benchmark]
        own = run.method in ("target", "retrain")
        split = "all" if run.method == "target" else run.split
        for name in [run.method] if own else candidates_of(config, run.base_model, run.method) or [run.method]:
            key = (run.benchmark, run.base_model, run.setting, split, name, run.seed)
            last = epochs_of(config, run.base_model, name)
            epoch = last if "~" in name else run.epoch
            trained[key] = last * (taught if own else SIDES * unit * units[run.split])
            asked.add((*key, epoch, run.attack))
    size = {name: 1e9 * (entry.billions or 0) for name, entry in config.base_models.items()}
    training = sum(6 * size[key[1]] * tokens for key, tokens in trained.items())
    answering = sum(2 * size[key[1]] * TOKENS[key[0]][3] for key in asked)
    # one model for each epoch that is scored, and one for each attack on weights
    weights = {a for a in asked if a[-1] == "none" or (config.attacks[a[-1]].attack in ("quantize", "relearn"))}
    return len(trained), len(asked), training, answering, sum(4 * size[key[1]] for key in weights)


def main() -> None:
    print(
        "paper   trained  asked  " + "  ".join(f"{gpu} hours" for gpu in PEAKS) + "  (training + answering)  disk, TB"
    )
    for path in sorted((ROOT / "config/paper").glob("*.yaml")):
        trained, asked, training, answering, disk = cost(f"paper/{path.name}")
        hours = {
            gpu: (training / TRAINING / peak / 3600, answering / ANSWERING / peak / 3600) for gpu, peak in PEAKS.items()
        }
        told = "  ".join(f"{a:.0f} + {b:.0f}" for a, b in hours.values())
        print(f"{path.stem:6}  {trained:7}  {asked:5}  {told}  {disk / 1e12:.1f}")


if __name__ == "__main__":
    main()
