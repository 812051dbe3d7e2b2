"""Backends that a test counts the calls of, and prompts to ask them."""

import json
import time
from collections.abc import Callable

import pandas as pd

from unlearning.llm.complete import Door
from unlearning.llm.prompts import Prompt, prompt_table
from unlearning.llm.requests import Failure, Reply, Sampling
from unlearning.llm.store import Store

ASK = Prompt("ask", "v1", "You translate.", "Translate {{ text }}.", "translation")


def once(ident, said, role):
    """A fault: `said` to `role` at the first attempt at `ident`."""
    seen = []

    def fault(asked, inputs):
        if asked == ident and inputs["role"] == role and not seen:
            seen.append(1)
            return said
        return None

    return fault


class Counting:
    """Answers in reverse order of what is in flight (`window` requests), and notes every request it was sent."""

    identity = {"backend": "fake", "endpoint": "http://here", "model": "m", "revision": None}

    def __init__(self, reply: Callable = None, window: int = 4):
        self.reply, self.window, self.sent = reply or translated, window, []

    def ask(self, requests):
        """Pull `window` requests, answer them last first, pull the next."""
        flight = []
        for position, request in enumerate(requests):
            self.sent.append(request)
            flight.append((position, request))
            if len(flight) == self.window:
                yield from self._answers(flight)
                flight = []
        yield from self._answers(flight)

    def _answers(self, flight):
        for position, request in reversed(flight):
            yield position, self.reply(request)

    def close(self):
        """Nothing is held."""


def translated(request) -> Reply:
    """A valid reply that depends on the prompt, the sample and nothing else; 10 tokens read, 5 written."""
    words = f"{request.inputs['text']}!{request.sample}"
    return Reply(json.dumps({"translation": words}), "stop", 10, 5)


def slow(request) -> Reply:
    """`translated`, 20 ms later."""
    time.sleep(0.02)
    return translated(request)


def prompts(texts, samples: int = 1, prompt: Prompt = ASK, **sampling) -> pd.DataFrame:
    """A prompt for each text, named p0, p1, …"""
    ids = [f"p{i}" for i in range(len(texts))]
    return prompt_table(prompt, "translator", ids, [{"text": t} for t in texts], Sampling(**sampling), samples)


def door(folder, backend, budget=None, reask: int = 2) -> Door:
    """A door to `backend` with its store in `folder`."""
    return Door(backend, Store(folder / "fake.sqlite", "job"), budget, reask)


def failing_on(texts, result: Failure | Exception) -> Callable:
    """A reply function that gives (or raises) `result` for these texts and translates the others."""

    def reply(request):
        if request.inputs["text"] not in texts:
            return translated(request)
        if isinstance(result, Exception):
            raise result
        return result

    return reply
