"""One seed per run; one stream per purpose."""

import hashlib


def seed_for(seed: int, purpose: str, ident: str = "") -> int:
    """A 63-bit seed from sha256(seed, purpose, ident): the same on every machine, unrelated between purposes."""
    digest = hashlib.sha256(f"{seed}\x1f{purpose}\x1f{ident}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
