"""API keys: read from the environment, and kept out of whatever is written or said."""

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator

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
