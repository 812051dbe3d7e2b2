"""The acceptance list on UMU-Bench: construction at full size, and what the small overlay's models know and forget."""

from pathlib import Path

import pandas as pd

SMALL, SCORES, PAGE = "config/umu_small.yaml", "results/report/scores.parquet", "results/report/index.html"
FIVE = ("ga_mixed", "gd_mixed", "kl_mixed", "po_mixed", "npo_mixed")
ALONE = {"gd_text": "gd_image", "npo_text": "npo_image"}
TASKS = ("classification", "cloze")


def small(show, make, folder: Path) -> None:
    """The small LLaVA: what it is taught, whether it looks at the picture, what each mix of modalities forgets."""
    seconds, mib, _ = make(folder, "run", f"CONFIG={SMALL}", "ONLY=umu")
    show(f"make run CONFIG={SMALL} ONLY=umu, seconds", seconds, "< 1200", seconds < 1200)
    show(f"make run CONFIG={SMALL} ONLY=umu, peak MiB of all processes", mib, "< 4096", mib < 4096)
    scores = pd.read_parquet(folder / SCORES)

    def value(
        method: str, metric: str, group: str = "forget", task: str = "classification", attack: str = "none"
    ) -> float:
        rows = scores[(scores["method"] == method) & (scores["metric"] == metric) & (scores["attack"] == attack)]
        (found,) = rows.loc[(rows["group"] == group) & (rows["task"] == task), "value"]
        return float(found)

    for metric, side in (("acc_mul", "image"), ("acc_uni", "text")):
        figure = value("target", metric, "retain")
        show(f"target: classification on retain, {side}", figure, ">= 0.9", figure >= 0.9)
    for group in ("retain", "real_people"):
        for task in TASKS:
            told, meant = (value("target", f"picture_{part}", group, task, "shuffled") for part in ("acc", "predicted"))
            plain = value("target", "acc_mul", group, task)
            show(f"shuffled pictures: {task}, {group}: accuracy ({plain:.3f} before); predicted {meant:.3f}", told,
                 "within 0.05", abs(told - meant) <= 0.05)  # fmt: skip
    for text, image in ALONE.items():
        for method, own, other, side in ((text, "uni", "mul", "text"), (image, "mul", "uni", "image")):
            gone, left = (value(method, f"delta_{part}") for part in (own, other))
            show(f"{method}: fall of classification on forget in {side}, and in the other ({left:.3f})", gone,
                 "0.3 more", gone - left >= 0.3)  # fmt: skip
            stays = value(method, f"acc_{other}")
            show(f"{method}: what the other modality still answers of forget", stays, ">= 0.6", stays >= 0.6)
    for method in ("gd", "npo"):
        mixed, text, image = (value(f"{method}_{mix}", "delta_f") for mix in ("mixed", "text", "image"))
        show(f"{method}: delta of Acc F, classification: both modalities; text {text:.3f}, image {image:.3f}", mixed,
             "above both", mixed > max(text, image))  # fmt: skip
    told = {m: [*(value(m, "acc_f", "forget", t) for t in TASKS), value(m, "rl_f", task="generation")] for m in FIVE}
    done = [method for method, three in told.items() if min(three) >= 0]
    show("methods on both modalities with Acc F and RL F", len(done), "= 5", len(done) == 5)
    page = (folder / PAGE).read_text(encoding="utf-8")
    there = [words for words in ("Misalignment", "Every face with the name below") if words in page]
    show("the report shows misalignment and the sheet of faces", len(there), "= 2", len(there) == 2)
