"""Models on disk: `model.json` beside `weights/`, or a pretrained model by name. Only safetensors are read or written.

`model.json` names the sha256 of every file of `weights/`, so whoever depends on that one file depends on the weights;
they are verified at every load.
"""

import contextlib
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from unlearning.models.pictures import processor_of
from unlearning.tables.artifacts import link, room_for, sha256_file, write_text

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

DTYPES = ("float32", "bfloat16", "float16", "float64")


class ModelError(ValueError):
    """A model cannot be loaded or saved; the message names the file and how to mend it."""


def read_model_json(model_json: Path) -> dict:
    """The record in `model_json`. ModelError where it is missing, not JSON, or of an unknown kind."""
    try:
        record = json.loads(Path(model_json).read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise ModelError(f"{model_json} is not a readable model record ({error}); delete it and run again") from error
    if record.get("kind") not in ("weights", "pretrained"):
        raise ModelError(f"{model_json}: kind {record.get('kind')!r}, should be weights or pretrained")
    return record


def verify_weights(model_json: Path, tensors: bool = True) -> Path:
    """The weights folder of `model_json`, after its files' sha256 were compared. ModelError names what differs.

    `tensors=False` leaves the safetensors out, for whoever reads the tokenizer only.
    """
    record = read_model_json(model_json)
    folder = Path(model_json).parent / record["folder"]
    for name, expected in record["files"].items():
        file = folder / name
        if file.suffix == ".safetensors" and not tensors:
            continue
        if not file.is_file():
            raise ModelError(f"{file} is missing, though {model_json} lists it; delete {model_json} and run again")
        if sha256_file(file) != expected:
            raise ModelError(
                f"{file} is not the file {model_json} was written for (sha256 differs): it was changed or damaged; "
                f"delete {model_json} and run again"
            )
    return folder


def find_device(device: str = "auto") -> str:
    """`auto` takes a GPU where there is one. ModelError if `cuda` is asked for and there is none."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ModelError(
            f"device {device} was asked for, but PyTorch {torch.__version__} finds no GPU here. On a cluster, check "
            "that the job's partition has one and PyTorch is built for it; to run without, set `device: cpu` (or auto)"
        )
    return device


def torch_dtype(dtype: str) -> "torch.dtype":
    """The torch type named `dtype`. ModelError lists the allowed names."""
    import torch

    if dtype not in DTYPES:
        raise ModelError(f"dtype {dtype!r} is unknown; allowed: {', '.join(DTYPES)}")
    return getattr(torch, dtype)


def source_of(model_json: Path, tensors: bool = True) -> tuple[str, dict]:
    """What `from_pretrained` is called with: a verified folder, or a name with its revision."""
    record = read_model_json(model_json)
    if record["kind"] == "weights":
        return str(verify_weights(model_json, tensors)), {"local_files_only": True}
    return record["name"], {"revision": record.get("revision")}


def sees(model_json: Path) -> bool:
    """Whether the model of `model_json` is used with pictures. ModelError where the record cannot be read."""
    return read_model_json(model_json).get("sees", False)


@contextlib.contextmanager
def _explained(model_json: Path, name: str):
    try:
        yield
    except ImportError as error:
        raise ModelError(
            f"{model_json}: {name!r} takes a package that is not installed here (Qwen-VL's processor torchvision, of "
            f"the version that goes with torch); install it: {error}"
        ) from error
    except OSError as error:
        raise ModelError(
            f"{model_json}: cannot load {name!r} ({error}). Check the name and revision; a gated model needs its "
            "licence accepted and HF_TOKEN set; without network give the path of a local copy"
        ) from error


def load_model(model_json: Path, device: str = "cpu", dtype: str = "float32") -> "PreTrainedModel":
    """The causal language model of `model_json`, in evaluation mode; one that sees pictures if its record says so.

    ModelError says what is wrong with the files.
    """
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

    kind = AutoModelForImageTextToText if sees(model_json) else AutoModelForCausalLM
    device, number = find_device(device), torch_dtype(dtype)
    name, options = source_of(model_json)
    with _explained(model_json, name):
        model = kind.from_pretrained(name, dtype=number, use_safetensors=True, trust_remote_code=False, **options)
    return model.to(device).eval()


def load_tokenizer(model_json: Path) -> "PreTrainedTokenizerBase":
    """The tokenizer of `model_json`, with its processor (see `unlearning.models.pictures`) if the model sees.

    ModelError: what is wrong with the files, or that it has no end-of-text token.
    """
    from transformers import AutoProcessor, AutoTokenizer

    name, options = source_of(model_json, tensors=False)
    with _explained(model_json, name):
        if sees(model_json):
            blind = f"{model_json}: {name!r} has no processor for pictures, and the data hold some; name a model that "
            blind += "sees, e.g. llava-hf/llava-1.5-7b-hf"
            try:
                processor = AutoProcessor.from_pretrained(name, trust_remote_code=False, **options)
            except (OSError, ValueError) as error:
                raise ModelError(f"{blind} ({error})") from error
            if not hasattr(processor, "image_token"):
                raise ModelError(blind)
            tokenizer = processor.tokenizer
            tokenizer.processor = processor
        else:
            tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False, **options)
    if tokenizer.eos_token_id is None:
        raise ModelError(f"{model_json}: the tokenizer of {name!r} has no end-of-text token, so answers cannot end")
    return tokenizer


def weights_folder(model_json: Path) -> Path:
    """The folder with the safetensors of `model_json`, verified. ModelError says what is wrong with the files."""
    record = read_model_json(model_json)
    if record["kind"] == "weights":
        return verify_weights(model_json)
    if Path(record["name"]).is_dir():
        return Path(record["name"])
    from huggingface_hub import snapshot_download

    with _explained(model_json, record["name"]):
        return Path(snapshot_download(record["name"], revision=record.get("revision"), allow_patterns="*.safetensors"))


@contextlib.contextmanager
def _replacing_weights(model_json: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes `weights/` beside `model_json`, which goes: its writer writes it again."""
    model_json = Path(model_json)
    folder = model_json.parent / "weights"
    with room_for(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=".weights.", suffix=".tmp", dir=folder.parent))
        try:
            yield temporary
            temporary.chmod(0o755)
            model_json.unlink(missing_ok=True)
            if folder.exists():
                shutil.rmtree(folder)
            temporary.rename(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def save_model(
    model: "PreTrainedModel",
    tokenizer: "PreTrainedTokenizerBase",
    model_json: Path,
    facts: dict | None = None,
    finish: Callable[[Path], None] | None = None,
) -> None:
    """Write `weights/` beside `model_json`, then `model_json` with the files' sha256 and the `trained` facts.

    The folder is completed under a temporary name and renamed: a killed job leaves no half-written model behind a
    valid `model.json`. An adapter must have been merged before. `finish(folder)` may change the saved files. Raises
    NoRoom where the disk is full.
    """
    with _replacing_weights(model_json) as temporary:
        model.save_pretrained(temporary)
        processor = processor_of(tokenizer)
        (processor or tokenizer).save_pretrained(temporary)
        if finish:
            finish(temporary)
        files = sorted(path for path in temporary.rglob("*") if path.is_file())
        record = {
            "kind": "weights",
            "folder": "weights",
            "files": {str(path.relative_to(temporary)): sha256_file(path) for path in files},
            "architecture": type(model).__name__,
            "parameters": model.num_parameters(),
            "trained": facts or {},
            **({"sees": True} if processor else {}),
        }
    write_text(model_json, json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def link_model(source: Path, model_json: Path) -> None:
    """Let `model_json` be the model of `source`, a record of weights: the same bytes, and hard links to its files.

    Equal records are what makes a job that has asked one of them find its answers for the other. ModelError where a
    file is not the one that `source` was written for.
    """
    folder = verify_weights(source)
    with _replacing_weights(model_json) as temporary:
        for name in read_model_json(source)["files"]:
            link(folder / name, temporary / name)
    write_text(model_json, Path(source).read_text(encoding="utf-8"))


def save_pretrained_record(name: str, revision: str | None, model_json: Path, pictures: bool = False) -> None:
    """Write the `model_json` of a model that is used as it is published, with `pictures` if there are any."""
    record = {"kind": "pretrained", "name": name, "revision": revision, **({"sees": True} if pictures else {})}
    write_text(model_json, json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
