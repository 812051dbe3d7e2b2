"""What is spent on paid endpoints, counted before a request goes out, in one file that all jobs share."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path

from unlearning.llm.database import connect, writing
from unlearning.llm.requests import Failure, Reply, Request

MARK = 0x4C4C4D24  # "LLM$" in the file's header
TABLE = "CREATE TABLE spending (millionths REAL NOT NULL)"
# reservations for requests that a batch may still answer, so that the job that reads it need not reserve again
HELD = (
    "CREATE TABLE IF NOT EXISTS held (job TEXT NOT NULL, key TEXT NOT NULL, millionths REAL NOT NULL, "
    "PRIMARY KEY (job, key)) WITHOUT ROWID"
)
OWN = "SELECT millionths FROM held WHERE job = ? AND key = ?"
TOKENS_AROUND = 16  # what a chat template puts around a message, at most
ROUNDING = 1e-3  # millionths of a dollar


class SpendingCap(ValueError):
    """The next request could pass the spending cap, so it was not sent."""


class Budget:
    """Spending of all jobs so far. `cap` in USD (None: none); `price`: `input`, `output` in USD per million tokens.

    A reservation is for one attempt at a request. It counts as spent until it is settled, so one that a killed job left
    behind keeps counting. One for a request in a batch is `job`'s: run again, the job takes it over with the batch.
    """

    def __init__(self, path: Path | str, cap: float | None, price: Mapping[str, float], job: str = ""):
        self.path, self.cap, self.price, self._job = Path(path), cap, price, job
        self._connection = connect(path, MARK, TABLE, "record of spending")
        with writing(self._connection):
            self._connection.execute(HELD)
        self._lock = threading.Lock()  # requests may be pulled from another thread than replies are read in

    def spent(self) -> float:
        """USD spent or reserved by all jobs since the file was made."""
        with self._lock:
            return self._total() / 1e6

    def reserve(self, request: Request, key: str | None = None, under_way: bool = False) -> float:
        """Count the most that `request` can cost; returns it for `settle`. SpendingCap if it could pass the cap;
        NoRoom where it cannot be written down.

        A token is at least a byte, so the bytes sent bound the tokens read; max_tokens bounds those written.
        `key`: of a request for a batch. Where its batch is `under_way`, what this job reserved before is counted.
        """
        worst = self._millionths(most_input_tokens(request), request.sampling.max_tokens)
        with self._lock, writing(self._connection):
            if under_way and (held := self._connection.execute(OWN, (self._job, key)).fetchone()):
                return held[0]
            total = self._total()
            if self.cap is not None and total + worst > self.cap * 1e6 + ROUNDING:
                raise SpendingCap(self._told(total / 1e6, worst / 1e6))
            self._add(total, worst)
            if key is not None:
                self._connection.execute("INSERT OR REPLACE INTO held VALUES (?, ?, ?)", (self._job, key, worst))
        return worst

    def settle(self, reserved: float, result: Reply | Failure, key: str | None = None) -> None:
        """Count what was really spent instead of what was reserved: a failure costs nothing unless it was charged.

        What was reserved stands where the endpoint does not say how many tokens it read, and where a batch may still
        answer. `key`: as for `reserve`.
        """
        if isinstance(result, Failure) and result.waits:
            return
        if isinstance(result, Reply):
            counted = self._millionths(result.input_tokens, result.output_tokens)
            cost = counted if result.input_tokens else reserved
        else:
            cost = reserved if result.charged else 0.0
        with self._lock, writing(self._connection):
            self._add(self._total(), cost - reserved)
            self._connection.execute("DELETE FROM held WHERE job = ? AND key = ?", (self._job, key))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _total(self) -> float:
        return self._connection.execute("SELECT coalesce(sum(millionths), 0) FROM spending").fetchone()[0]

    def _add(self, total: float, amount: float) -> None:
        self._connection.execute("DELETE FROM spending")
        self._connection.execute("INSERT INTO spending VALUES (?)", (max(total + amount, 0.0),))

    def _millionths(self, input_tokens: int, output_tokens: int) -> float:
        return input_tokens * self.price["input"] + output_tokens * self.price["output"]

    def _told(self, spent: float, worst: float) -> str:
        return (
            f"llm.spending_cap: {spent:.4f} of {self.cap:.4f} USD are spent or reserved, and the next request could "
            f"cost {worst:.4f}; replies so far are kept. Raise the cap and run again, or delete {self.path} to count "
            "from nothing"
        )


def most_input_tokens(request: Request) -> int:
    """No tokenizer of bytes makes more tokens of the messages and the schema."""
    written = sum(len(m["content"].encode()) + TOKENS_AROUND for m in request.messages)
    return written + (len(json.dumps(request.schema)) if request.schema else 0)


def cost(price: Mapping[str, float] | None, input_tokens: int, output_tokens: int) -> float | None:
    """USD for these tokens; None where there is no price."""
    return None if price is None else (input_tokens * price["input"] + output_tokens * price["output"]) / 1e6
