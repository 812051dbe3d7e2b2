"""Start-up: some libraries import every optional package they find, which costs each job seconds it does not use."""

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def leaving_out(*packages: str) -> Iterator[None]:
    """Inside, `packages` look as if they were not installed to whatever is imported; those already imported stay."""
    absent = [name for name in packages if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
