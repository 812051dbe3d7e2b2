"""Backend `offline`: deterministic engines of ours, one module for each role, `answer(inputs) -> text`. No LLM."""

import functools
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module

from unlearning.llm.requests import Reply, Request, identity_of
from unlearning.registry import available


class Offline:
    """Answers a request by its role's module in `unlearning.llm.offline`. ValueError lists the roles that have one."""

    def __init__(self, settings: Mapping):
        self.identity = identity_of(settings)

    def ask(self, requests: Iterable[Request]) -> Iterator[tuple[int, Reply]]:
        """One reply after the other."""
        for position, request in enumerate(requests):
            yield position, Reply(_engine(request.role)(request.inputs), "stop", 0, 0)

    def close(self) -> None:
        """Nothing is held."""


def open(settings: Mapping) -> Offline:
    """The backend; `settings` say no more than its kind."""
    return Offline(settings)


@functools.cache
def _engine(role: str):
    if role not in (there := available("llm/offline")):
        raise ValueError(
            f"role {role} has no offline engine; roles that have one: {', '.join(there)}. Give it a backend: roles: "
            f"{{{role}: <a name under backends>}}"
        )
    return import_module(f"unlearning.llm.offline.{role}").answer
