"""A language model that answers the translation route's roles from phrasebooks, with planted faults."""

import json
from collections import Counter
from collections.abc import Callable, Sequence

from mu2_sources import ROOT
from unlearning.data.back_other import through_phrasebook
from unlearning.data.phrasebook import Phrasebook
from unlearning.data.rounds import Tools
from unlearning.data.text import PARTS, fold
from unlearning.llm.complete import Door
from unlearning.llm.prompts import read_prompt
from unlearning.llm.requests import Failure, Reply, Request, Sampling
from unlearning.llm.roles import Asker

PROMPTS = {path.stem: read_prompt(path) for path in sorted((ROOT / "resources" / "prompts").glob("*.yaml"))}
Fault = Callable[[str, dict], object]


def fitting(role: str, inputs: dict, book: Phrasebook) -> dict:
    """The right reply, by what a prompt was filled in with."""
    if role == "refiner":
        return {part: inputs[part] for part in ("question", "answer")}
    if role == "equivalence" and "texts" in inputs:
        said = [fold(text["first"]) == fold(text["second"]) for text in inputs["texts"]]
        return {"equivalent": all(said), "reason": "" if all(said) else "another fact"}
    if role == "equivalence":
        same = fold(inputs["english_value"]) == fold(inputs["back"])
        return {"equivalent": same, "reason": "" if same else "another thing"}
    entry = book.attributes[inputs["attribute"].replace(" ", "_")]
    if "question" not in inputs:
        return {"translation": entry.values[inputs["english_value"]]}
    filled = {part: getattr(entry, part).replace("{name}", inputs["name"]) for part in PARTS}
    return {part: text.replace("{value}", inputs["value"]) for part, text in filled.items()}


class Model:
    """Backend whose replies are right but where `fault(prompt_id, inputs)` gives another (a dict, text or Failure)."""

    identity = {"backend": "fake", "endpoint": None, "model": "phrasebook", "revision": None}

    def __init__(self, book: Phrasebook, fault: Fault = lambda ident, inputs: None):
        self.book, self.fault, self.sent = book, fault, []

    def ask(self, requests):
        """One reply after the other; every request is kept."""
        for position, request in enumerate(requests):
            self.sent.append(request)
            yield position, self._reply(request)

    def _reply(self, request: Request) -> Reply | Failure:
        said = self.fault(request.prompt_id, request.inputs | {"role": request.role})
        if isinstance(said, Failure):
            return said
        said = self.fitting(request) if said is None else said
        return Reply(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False), "stop", 7, 3)

    def fitting(self, request: Request) -> dict:
        """The right reply."""
        return fitting(request.role, request.inputs, self.book)

    def close(self):
        """Nothing is held."""

    def said_to(self, ident: str, role: str = "translator") -> list[str]:
        """The prompts that one row's requests held, in order."""
        return [r.messages[-1]["content"] for r in self.sent if r.prompt_id == ident and r.role == role]

    def asked(self) -> Counter:
        """role -> prompts."""
        return Counter(request.role for request in self.sent)


def tools(model: Model, english: Phrasebook, max_rounds: int = 3, back: Callable | None = None) -> Tools:
    """The rounds' tools with `model` behind every role; texts come back through the phrasebook."""
    roles = ("refiner", "translator", "equivalence", "backtranslator")
    asker = Asker(dict.fromkeys(roles, Door(model, None, None, 0)))
    book_back = through_phrasebook(model.book, english)
    return Tools(asker.ask, back or book_back, PROMPTS, {"translator": Sampling(max_tokens=64)}, max_rounds)


def always(replies: dict[str, object]) -> Fault:
    """A fault that gives `replies[prompt_id]` to the translator whenever it is asked for that."""
    return lambda ident, inputs: replies.get(ident) if inputs["role"] == "translator" else None


def in_turn(replies: dict[str, Sequence[object]]) -> Fault:
    """A fault that gives `replies[prompt_id][round - 1]` to the translator while there are any."""

    def fault(ident: str, inputs: dict):
        said = replies.get(ident, ()) if inputs["role"] == "translator" else ()
        tries = len(inputs.get("attempts", ()))
        return said[tries] if tries < len(said) else None

    return fault
