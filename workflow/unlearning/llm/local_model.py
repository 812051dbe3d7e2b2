"""What the backends that run a model themselves share: which model it is, a conversation as tokens, a reply's seed."""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from unlearning.llm.requests import Failure, Request, identity_of
from unlearning.models.encode import encode_prompt
from unlearning.models.load import ModelError
from unlearning.seeds import seed_for
from unlearning.tables.artifacts import sha256_file

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

COMMIT = re.compile(r"[0-9a-f]{40}")


def local_identity(settings: Mapping) -> dict[str, str | None]:
    """`identity_of` the settings with the revision found out, and the number type, which changes replies too."""
    revision = revision_of(settings["model"], settings.get("revision"))
    return identity_of({**settings, "revision": revision}) | {"dtype": settings["dtype"]}


def revision_of(model: str, revision: str | None) -> str:
    """The exact version of a model: a hub model's commit; of a folder, the sha256 of its files' names and contents.

    So replies stored under the name of a model are not taken for those of a later version. A folder is read once
    (about a second for each GiB). ModelError where there is no such model, or a folder without safetensors.
    """
    folder = Path(model)
    if folder.is_dir():
        return _folder_hash(folder)
    return revision if COMMIT.fullmatch(revision or "") else _commit(model, revision)


def _folder_hash(folder: Path) -> str:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    if not any(file.suffix == ".safetensors" for file in files):
        raise ModelError(
            f"{folder} holds no .safetensors file, and no other kind of weights is read (a pickle can run code); "
            "save the model again with save_pretrained"
        )
    listed = [[str(file.relative_to(folder)), sha256_file(file)] for file in files]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def _commit(model: str, revision: str | None) -> str:
    """The hub's commit of `revision` (None: the newest), or the one in the local cache where there is no network."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(hf_hub_download(model, "config.json", revision=revision)).parent.name
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise ModelError(
            f"model {model!r}, revision {revision}: no folder here, and not found on the hub ({error}). Check name and "
            "revision; a gated model needs its licence accepted and HF_TOKEN set; without network give the path of a "
            "local copy"
        ) from error


def check_chat(tokenizer: "PreTrainedTokenizerBase", model: str) -> None:
    """ModelError for a model that was never taught to chat: it would continue the instructions, not follow them."""
    if not tokenizer.chat_template:
        raise ModelError(f"model {model!r} has no chat template, so it follows no instructions; name a chat model")


def prompt_ids(tokenizer: "PreTrainedTokenizerBase", request: Request, max_length: int | None) -> list[int] | Failure:
    """The tokens of a conversation by the model's chat template, up to where its reply begins.

    A Failure where the template refuses the conversation, or prompt and reply may not fit in `max_length` tokens.
    """
    from jinja2 import TemplateError

    try:
        ids = encode_prompt(tokenizer, request.messages)
    except TemplateError as error:
        return Failure(f"the model's chat template refuses the conversation: {error}", refused=True)
    wanted = request.sampling.max_tokens
    if max_length is not None and len(ids) + wanted > max_length:
        return Failure(
            f"the prompt has {len(ids)} tokens and the reply may have {wanted} (max_tokens): more than max_length, "
            f"{max_length}; shorten the prompt, lower max_tokens, or raise max_length if the model allows",
            refused=True,
        )
    return ids


def reply_seed(request: Request) -> int:
    """A seed from the conversation and which draw it is: the same in any batch, unrelated between conversations."""
    asked = json.dumps(request.messages, sort_keys=True)
    return seed_for(request.sampling.seed + request.sample, "reply", asked)
