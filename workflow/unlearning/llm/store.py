"""The response store: every reply ever paid for, in one SQLite file for each backend, and which jobs asked for it."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from unlearning.llm.database import connect, writing
from unlearning.llm.requests import Reply, Request

MARK = 0x4C4C4D52  # "LLMR" in the file's header
TABLE = (
    "CREATE TABLE replies (key TEXT PRIMARY KEY, text TEXT NOT NULL, finish_reason TEXT NOT NULL, "
    "input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL) WITHOUT ROWID"
)
# two jobs that run side by side may both ask for the same; each has its row, so that both count
ASKED = (
    "CREATE TABLE IF NOT EXISTS asked (key TEXT NOT NULL, job TEXT NOT NULL, times INTEGER NOT NULL, "
    "input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, PRIMARY KEY (key, job)) WITHOUT ROWID"
)
COUNT = (
    "INSERT INTO asked VALUES (?, ?, 1, ?, ?) ON CONFLICT DO UPDATE SET times = times + 1, "
    "input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens"
)
CHUNK = 500  # keys in one query


class Store:
    """Replies by key. A reply is on disk when `put` returns. DatabaseError if `path` is some other file.

    With `job`, a name that stays the same when the job is run again, it is kept for which replies this job asked.
    `unusable`: the keys whose replies could not be read in this job, which a job that fails forgets.
    """

    def __init__(self, path: Path | str, job: Path | str | None = None):
        self._connection = connect(path, MARK, TABLE, "response store")
        self._job = None if job is None else str(job)
        with writing(self._connection):
            self._connection.execute(ASKED)
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
        rows = self._rows("key, text, finish_reason, input_tokens, output_tokens FROM replies WHERE", keys)
        return {key: Reply(*rest) for key, *rest in rows}

    def asked(self, keys: Iterable[str]) -> dict[str, list[int]]:
        """Those of `keys` that this job itself asked for, now or earlier: times, tokens read and written."""
        rows = self._rows("key, times, input_tokens, output_tokens FROM asked WHERE job = ? AND", keys, self._job)
        return {key: counts for key, *counts in rows}

    def put(self, key: str, reply: Reply) -> None:
        """Keep `reply`; one that is there already stays. Raises NoRoom."""
        with writing(self._connection):
            self._connection.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?)", (key, *reply))
            if self._job is not None:
                self._connection.execute(COUNT, (key, self._job, reply.input_tokens, reply.output_tokens))

    def _rows(self, query: str, keys: Iterable[str], *values: str | None) -> Iterator[tuple]:
        """The rows of `query` whose key is one of `keys`, a part of them at a time."""
        keys = list(keys)
        for start in range(0, len(keys), CHUNK):
            part = keys[start : start + CHUNK]
            found = self._connection.execute(f"SELECT {query} key IN ({','.join('?' * len(part))})", (*values, *part))
            yield from found

    def forget_unusable(self) -> None:
        """Take the replies of `unusable` out, and that this job asked for them: the next job asks for them again."""
        keys = [(key,) for key in self.unusable]
        with writing(self._connection):
            own = [(*key, self._job) for key in keys]
            self._connection.executemany("DELETE FROM replies WHERE key = ?", keys)
            self._connection.executemany("DELETE FROM asked WHERE key = ? AND job = ?", own)
        self.unusable.clear()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
