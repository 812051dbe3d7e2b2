"""vLLM shown pictures: the small LLaVA's greedy answers are those that transformers gives.

Asked in a process of its own (`python llm_pictures.py ask FOLDER`), in the environment that has vLLM and, for pictures,
torchvision: docs/llm.md. The CPU build of torch lacks two operators that torchvision looks for when it is imported
and pictures never call: `declared` names them, by the interpreter's start-up hook, as vLLM starts processes of its own.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("tests", "workflow", "workflow/scripts")]
HOOK = """import torch
library = torch.library.Library("torchvision", "DEF")
for name in ("nms", "qnms"):
    library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


def ask(folder: Path) -> None:
    """Save a LLaVA, ask it by both ways about six pictures and six texts, and write what it says to answers.json."""
    import torch

    torch.set_num_threads(1)
    import seeing
    from unlearning.answer import vllm
    from unlearning.answer.decoding import Decoding
    from unlearning.answer.generate import generate, stop_ids
    from unlearning.models.load import load_model, load_tokenizer, save_model
    from unlearning.models.small import published_names

    seeing.SHAPE |= {"hidden": 64, "intermediate": 128}  # heads of 32: vLLM's CPU attention has no smaller ones
    model, tokenizer = seeing.llava()
    first, record = folder / "base/model.json", folder / "target/model.json"
    save_model(model, tokenizer, first, finish=published_names)
    save_model(load_model(first), load_tokenizer(first), record)  # a model trained from it keeps the names
    model, tokenizer, items = load_model(record), load_tokenizer(record), seeing.items()
    plain = generate(model, tokenizer, items, Decoding(), 0, 12, 8)
    fast = vllm.generate(record, tokenizer, stop_ids(model, tokenizer), items, Decoding(), 0, 8, "cpu", "float32")
    columns = ["text", "n_tokens", "finish_reason"]
    said = {"plain": plain[columns].to_dict("records"), "vllm": fast[columns].to_dict("records")}
    (folder / "answers.json").write_text(json.dumps(said), encoding="utf-8")


def pictures(show) -> None:
    """The share of equal answers."""
    from smollm2 import python

    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        (folder / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
        path = os.pathsep.join([str(folder), str(ROOT / "workflow")])
        environment = os.environ | {"PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        done = subprocess.run([python(), __file__, "ask", work], env=environment, capture_output=True, text=True)
        if done.returncode:
            show("pictures: vLLM answers the small LLaVA (" + done.stderr.strip().splitlines()[-1][:200] + ")", "no",
                 "yes", False)  # fmt: skip
            return
        said = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    equal = [a == b for a, b in zip(said["plain"], said["vllm"], strict=True)]
    different = len({row["text"] for row in said["plain"]})
    show("pictures: greedy answers of vLLM that are those of transformers", f"{sum(equal)} of {len(equal)}",
         f"all of them ({different} different ones)", all(equal) and different > 4)  # fmt: skip


if __name__ == "__main__":
    ask(Path(sys.argv[2]))
