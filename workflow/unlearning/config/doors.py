"""From the configuration to a role's door: what `unlearning.llm.complete.open_door` takes, how replies are drawn."""

import os
from collections.abc import Iterable, Mapping

from unlearning.config.llm import OFFLINE, OpenAI, Role, Vllm
from unlearning.config.schema import Config
from unlearning.data import back_services


def door_settings(config: Config, role: str) -> dict:
    """The settings of `open_door`; an unnamed role is offline, and what only paid endpoints use is left out there."""
    name = _role(config, role).backend
    if name == OFFLINE:
        return {"name": name, "backend": {"kind": OFFLINE}, "reask": 0, "cap": None, "price": None}
    entry, price = config.backends[name], None
    if isinstance(entry, OpenAI) and entry.model in config.prices:
        price = config.prices[entry.model].model_dump()
    cap = config.llm.spending_cap if price else None
    return {"name": name, "backend": entry.model_dump(), "reask": config.llm.reask, "cap": cap, "price": price}


def sampling_settings(config: Config, role: str) -> dict:
    """The arguments of `unlearning.llm.requests.Sampling` for `role`."""
    return _role(config, role).model_dump(exclude={"backend"})


def door_code(config: Config, role: str) -> list[str]:
    """The modules that answer for `role`: its backend, and its engine where that is offline."""
    kind = door_settings(config, role)["backend"]["kind"]
    modules = [f"unlearning.llm.backends.{kind}"]
    return [*modules, f"unlearning.llm.offline.{role}"] if kind == OFFLINE else modules


def door_gpus(config: Config, role: str) -> int:
    """GPUs a job of `role` asks for: `gpus.complete` when vLLM answers and not on the CPU, else none."""
    entry = config.backends.get(_role(config, role).backend)
    return config.gpus.complete if isinstance(entry, Vllm) and entry.device != "cpu" else 0


def doors_in(values: Mapping) -> dict[str, dict]:
    """role -> door of those in the values of a job; the one door of a job that asks one role has no name, ""."""
    return values.get("doors", {}) | ({"": values["door"]} if "door" in values else {})


def unset_keys(jobs: Iterable[Mapping]) -> list[str]:
    """What is wrong: environment variables that the values of `jobs` name for an API key, and that are not set."""
    named: dict[str, str] = {}
    for values in jobs:
        for door in doors_in(values).values():
            if variable := door["backend"].get("key_env"):
                none = "or write key_env: null for an endpoint that takes none"
                named.setdefault(variable, f"backends.{door['name']}.key_env names it for the API key; {none}")
        if back := values.get("back_translator"):
            for variable in back_services.variables(back).values():
                named.setdefault(variable, f"back_translator.service {back['service']} takes its key from there")
    return [
        f"the environment variable {variable} is not set (export {variable}=…): {why}"
        for variable, why in named.items()
        if not os.environ.get(variable)
    ]


def _role(config: Config, role: str) -> Role:
    return config.roles.get(role, Role(backend=OFFLINE))
