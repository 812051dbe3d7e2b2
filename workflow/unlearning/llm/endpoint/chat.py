"""Chat completions as they go over the wire: a request's body, and a reply's body read without trusting it."""

import json
from collections.abc import Mapping
from typing import Any

from unlearning.llm.requests import Reply, Request

STRUCTURED = ("json_schema", "json_object", "none")


class Unusable(ValueError):
    """A body that is no reply to the request: cut off, malformed, of another kind, or somebody else's."""


def body_of(request: Request, settings: Mapping) -> dict[str, Any]:
    """What is sent for `request`. `settings`: `model` and `structured`, how an endpoint is told of the reply's form.

    `json_schema` makes endpoints that know it write JSON of that schema, `json_object` any JSON, `none` says nothing
    (the prompt asks for JSON in words all the same, and the reply is validated in any case).
    """
    sampling = request.sampling
    body = {
        "model": settings["model"],
        "messages": request.messages,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "seed": sampling.seed + request.sample,
    }
    if request.schema and settings["structured"] == "json_schema":
        schema = {"name": request.schema.get("title", "reply"), "schema": request.schema, "strict": True}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif request.schema and settings["structured"] == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def reply_of(body: str | bytes | Mapping) -> Reply:
    """The reply in a chat completion. Unusable says what is wrong with a body that is none."""
    if not isinstance(body, Mapping):
        try:
            body = json.loads(body)
        except ValueError as error:
            raise Unusable(f"the body is not whole JSON ({error})") from None
    if not isinstance(body, Mapping) or body.get("object", "chat.completion") != "chat.completion":
        raise Unusable("the body is no chat completion")
    choices = body.get("choices")
    if not isinstance(choices, list) or len(choices) != 1 or not isinstance(choices[0], Mapping):
        raise Unusable("the body has not the one choice that was asked for")
    choice, message = choices[0], choices[0].get("message")
    if choice.get("index", 0) != 0 or not isinstance(message, Mapping):
        raise Unusable("the choice is not the one that was asked for")
    text = message.get("content")
    if text is None:
        text = message.get("refusal") or ""
    if not isinstance(text, str):
        raise Unusable("the message's content is not text")
    finish = choice.get("finish_reason")
    return Reply(text, finish if isinstance(finish, str) else "stop", *_tokens(body.get("usage")))


def _tokens(usage: Any) -> tuple[int, int]:
    """Tokens read and written; some servers do not count them, which is 0 here."""
    usage = usage if isinstance(usage, Mapping) else {}
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    read, written = (count if isinstance(count, int) and count >= 0 else 0 for count in counts)
    return read, written
