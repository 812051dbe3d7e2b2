"""Asks an endpoint through the door, as a job would: `python llm_client.py URL FOLDER PROMPTS [SETTINGS as JSON]`."""

import json
import sys
from pathlib import Path

import llm_fakes as fakes
from unlearning.llm.complete import complete, open_door
from unlearning.llm.endpoint import batch
from unlearning.tables.artifacts import write_table

SETTINGS = {
    "kind": "openai", "model": "m", "revision": None, "base_url": None, "key_env": "LLM_TEST_KEY", "concurrency": 64,
    "requests_per_minute": None, "tokens_per_minute": None, "timeout": 5.0, "attempts": 6, "structured": "json_schema",
    "batch": False,
}  # fmt: skip


def settings(url: str, **changed) -> dict:
    """The entry of a backend at `url`."""
    return {**SETTINGS, "base_url": url, **changed}


def door_settings(url: str, **changed) -> dict:
    """What a rule hands over."""
    return {"backend": settings(url, **changed), "name": "served", "reask": 2, "cap": None, "price": None}


def prompts(n: int):
    """`n` prompts that differ."""
    return fakes.prompts([f"text {i} of {n}" for i in range(n)])


def main(url: str, folder: Path, n: int, changed: dict) -> None:
    """Complete `n` prompts and write the tables into `folder`."""
    with open_door(door_settings(url, **changed), folder) as door:
        completions, usage = complete(prompts(n), door, progress=False)
    write_table(completions, folder / "completions.parquet", "completions")
    write_table(usage, folder / "usage.parquet", "usage")


if __name__ == "__main__":
    batch.POLL = 0.05
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), json.loads(sys.argv[4]) if len(sys.argv) > 4 else {})
