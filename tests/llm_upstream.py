"""A deterministic OpenAI-compatible server on loopback: replies worked out from the prompts; files and batches."""

import asyncio
import hashlib
import json
import re

from loopback import Answer, Call, Loopback, answer


def said(body: dict) -> str:
    """The reply to a request's body, as the replies of kind `translation` should be."""
    prompt = body["messages"][-1]["content"]
    return json.dumps({"translation": hashlib.sha256(f"{prompt}/{body['seed']}".encode()).hexdigest()[:16]})


def chat(body: dict) -> dict:
    """A chat completion."""
    message = {"role": "assistant", "content": said(body)}
    return {
        "id": "chatcmpl-" + hashlib.sha256(json.dumps(body).encode()).hexdigest()[:12],
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


class Upstream(Loopback):
    """`bodies`: all it was asked. It sends the mark of a request back, as careful servers do.

    `replies`: answers that are given first, in order, instead of its own. `most` is the most calls at one time.
    """

    def __init__(self, replies=(), delay: float = 0.0):
        super().__init__(self._handle)
        self.bodies: list[dict] = []
        self.headers: list[dict] = []
        self.replies, self.delay, self.most = list(replies), delay, 0

    async def _handle(self, call: Call) -> Answer | None:
        body = json.loads(call.body)
        self.bodies.append(body)
        self.headers.append(call.headers)
        self.most = max(self.most, self.active)
        await asyncio.sleep(self.delay)
        if self.replies:
            reply = self.replies.pop(0)
            return reply(body) if callable(reply) else reply
        mark = call.headers.get("x-client-request-id", "")
        return answer(200, chat(body), x_client_request_id=mark)


class BatchServer(Loopback):
    """Files and batches: a batch is done after `looks` looks at it. `edit(lines)` may change the lines of its output.

    `before`: answers that are given first for a (method, path without ids), each once.
    """

    def __init__(self, looks: int = 2, edit=lambda lines: lines, before=()):
        super().__init__(self._handle)
        self.looks, self.edit, self.before = looks, edit, dict(before)
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict] = {}
        self.asked: list[str] = []

    async def _handle(self, call: Call) -> Answer | None:
        path, _, _ = call.path.removeprefix("/v1").partition("?")
        parts = path.strip("/").split("/")
        name = (call.method, parts[0])
        early = self.before.pop(name, None)
        late = self.before.pop((*name, "done"), None)
        if early:
            return early
        made = self._made(call, parts)
        return late or made

    def _made(self, call: Call, parts: list[str]) -> Answer:
        if parts[0] == "files" and call.method == "POST":
            ident = f"file-{len(self.files)}"
            self.files[ident] = re.search(rb'filename="requests.jsonl".*?\r\n\r\n(.*?)\r\n--', call.body, re.S)[1]
            return answer(200, {"id": ident, "object": "file", "purpose": "batch", "bytes": 1, "filename": "f"})
        if parts[0] == "files":
            return Answer(200, self.files[parts[1]], {"content-type": "application/octet-stream"})
        if call.method == "POST":
            return answer(200, self._begin(json.loads(call.body)))
        if len(parts) == 1:
            return answer(200, {"object": "list", "data": list(self.batches.values()), "has_more": False})
        return answer(200, self._look(self.batches[parts[1]]))

    def _begin(self, body: dict) -> dict:
        ident = f"batch-{len(self.batches)}"
        self.batches[ident] = {"id": ident, "object": "batch", "status": "in_progress", "looks": 0, "errors": None,
                               "created_at": 1, "output_file_id": None, "error_file_id": None, **body}  # fmt: skip
        return self.batches[ident]

    def _look(self, batch: dict) -> dict:
        batch["looks"] += 1
        if batch["looks"] == self.looks:
            lines = []
            for line in self.files[batch["input_file_id"]].splitlines():
                request = json.loads(line)
                self.asked.append(request["body"]["messages"][-1]["content"])
                done = {"status_code": 200, "body": chat(request["body"])}
                lines.append({"custom_id": request["custom_id"], "response": done, "error": None})
            ident = f"file-{len(self.files)}"
            edited = self.edit(lines)
            self.files[ident] = "\n".join(li if isinstance(li, str) else json.dumps(li) for li in edited).encode()
            batch |= {"status": "completed", "output_file_id": ident}
        return batch
