"""A real OpenAI-compatible server on loopback: `transformers serve` with a tiny random Llama."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

START = 60.0  # seconds


def tiny_model(folder: Path) -> Path:
    """A random Llama of width 32 that writes letters (so that texts differ and can be read), with a chat template."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from unlearning.models.tokenizer import train_tokenizer

    tokenizer = train_tokenizer(["What does person 1 like? Tea, red wine and water."], 300)
    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
            initializer_range=0.5, max_position_embeddings=1024, tie_word_embeddings=False, bos_token_id=None,
            pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
        )
    )  # fmt: skip
    letters = [tokenizer.decode([i]).strip().isalpha() for i in range(len(tokenizer))]
    with torch.no_grad():
        model.lm_head.weight[~torch.tensor(letters)] = 0
    model.generation_config.do_sample = True  # else the server would not heed temperature and seed
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextlib.contextmanager
def transformers_serve(model: Path, log: Path, *options: str) -> Iterator[str]:
    """The address of a server of `model`, up; it is ended afterwards. What it prints goes to `log`."""
    port = free_port()
    serve = [Path(sys.executable).with_name("transformers"), "serve", model, "--host", "127.0.0.1", "--port", str(port)]
    env = os.environ | {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    with open(log, "wb") as told:
        server = subprocess.Popen([*serve, *options], stdout=told, stderr=subprocess.STDOUT, env=env)
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_for(url: str, server: subprocess.Popen, log: Path) -> None:
    """Return once `url` answers; RuntimeError with what the server printed if it ended or takes too long."""
    end = time.monotonic() + START
    while time.monotonic() < end and server.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=2) as reply:
            if reply.status == 200:
                return
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start:\n{log.read_text(errors='replace')[-3000:]}")
