"""API keys: read from the environment, and kept out of whatever is written or said."""

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator
from urllib.parse import urlsplit

SHORTEST = 8  # shorter ones ("none", "EMPTY") are placeholders for servers that ask for no key
HIDDEN = "[key]"


class EndpointError(ValueError):
    """What an endpoint or its client said, without the key that stood in it."""


def read_key(name: str | None) -> str | None:
    """The key in the environment variable `name`, None where no variable is named. ValueError names one not set."""
    if name is None:
        return None
    if not os.environ.get(name):
        raise ValueError(f"the environment variable {name} is not set; put the API key there (export {name}=…)")
    return os.environ[name]


def address_problem(url: str) -> str | None:
    """What is wrong with an endpoint's address, which every stored reply is kept by; None where nothing is.

    The address is not repeated: it may be a key put in the wrong place.
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # a bracket of an IPv6 address without its second
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "should be an address that starts with http:// or https://, such as http://localhost:8000/v1"
    if "@" in parts.netloc or parts.query:
        return "holds a name, password or query; a key belongs in the environment variable that key_env names"
    try:
        possible = parts.port != 0
    except ValueError:  # beyond 65535, or no number
        possible = False
    return None if possible else "its port, after the host's colon, should be a number from 1 to 65535, such as :8000"


def redacted(text: str, name: str | None) -> str:
    """`text` without the key that the environment variable `name` holds."""
    key = os.environ.get(name or "", "")
    return text.replace(key, HIDDEN) if len(key) >= SHORTEST else text


@contextlib.contextmanager
def kept_out(name: str | None) -> Iterator[None]:
    """An exception that would show the key is raised again without it, its traceback printed without it."""
    try:
        yield
    except Exception as error:
        told = "".join(traceback.format_exception(error))
        if redacted(told, name) == told:
            raise
        print(redacted(told, name), file=sys.stderr)
        hidden = EndpointError(redacted(f"{type(error).__name__}: {error}", name))
    else:
        return
    raise hidden
