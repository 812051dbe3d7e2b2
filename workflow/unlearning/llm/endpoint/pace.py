"""Limits per minute, kept by spacing: no minute sees more than its limit and what a single call takes."""

import asyncio
import time


class Pace:
    """A limit of `per_minute` units (requests, or tokens); None limits nothing. One event loop uses it."""

    def __init__(self, per_minute: float | None):
        self._seconds = 60.0 / per_minute if per_minute else 0.0
        self._free = 0.0

    def delay(self, amount: float = 1.0) -> float:
        """Book `amount` units behind all that was booked before; the seconds until they may be used."""
        now = time.monotonic()
        start = max(now, self._free)
        self._free = start + amount * self._seconds
        return start - now


async def sleep_unless(halted: asyncio.Event, seconds: float) -> None:
    """Sleep, or wake at once when `halted` is set."""
    if seconds <= 0:
        return
    try:
        await asyncio.wait_for(halted.wait(), seconds)
    except TimeoutError:
        return
