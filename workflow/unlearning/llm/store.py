"""The response store: every reply ever paid for, in one SQLite file for each backend."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from unlearning.llm.database import connect
from unlearning.llm.requests import Reply, Request

MARK = 0x4C4C4D52  # "LLMR" in the file's header
TABLE = (
    "CREATE TABLE replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, finish_reason TEXT NOT NULL, "
    "input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL) WITHOUT ROWID"
)
CHUNK = 500  # keys in one query


class Store:
    """Replies by key. A reply is on disk when `put` returns. DatabaseError if `path` is some other file.

    `unusable`: the keys whose replies could not be read in this job, which a job that fails forgets.
    """

    def __init__(self, path: Path | str):
        self._connection = connect(path, MARK, TABLE, "response store")
        self.unusable: set[str] = set()

    @staticmethod
    def key(identity: Mapping, request: Request) -> str:
        """sha256 of all that a reply depends on: who is asked, what, how it is drawn, which draw, the schema.

        An offline engine reads role and inputs instead of messages, so there they count in their place.
        """
        offline = identity["backend"] == "offline"
        asked = [request.role, request.inputs] if offline else request.messages
        parts = [dict(identity), asked, list(request.sampling), request.sample, request.schema]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def get(self, keys: Iterable[str]) -> dict[str, Reply]:
        """Those of `keys` that there are."""
        keys, found = list(keys), {}
        for start in range(0, len(keys), CHUNK):
            part = keys[start : start + CHUNK]
            rows = self._connection.execute(
                f"SELECT key, text, finish_reason, input_tokens, output_tokens FROM replies "
                f"WHERE key IN ({','.join('?' * len(part))})",
                part,
            )
            found.update((key, Reply(*rest)) for key, *rest in rows)
        return found

    def put(self, key: str, reply: Reply) -> None:
        """Keep `reply`; one that is there already stays."""
        self._connection.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?)", (key, *reply))

    def forget_unusable(self) -> None:
        """Take the replies of `unusable` out, so that the next job asks for them again."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany("DELETE FROM replies WHERE key = ?", [(key,) for key in self.unusable])
        self._connection.execute("COMMIT")
        self.unusable.clear()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
