"""config/README.md, generated from the configuration classes: `python -m unlearning.config.docs config/README.md`."""

import sys
import types
import typing
from pathlib import Path

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from unlearning.config import schema
from unlearning.tables.artifacts import write_text

HEAD = """# Configuration

Generated from `workflow/unlearning/config/schema.py` by `make docs`; a test keeps the two equal.

`config/config.yaml` is the default. An overlay given with `--configfile` (or `make run CONFIG=…`) is merged into it:
maps merge, lists replace, and nothing can be removed, so an overlay switches experiments off with `enabled: false`.
Numbers may be written as `1e-5`. Unknown keys are refused.
"""


def _type(annotation: object) -> str:
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _type(args[0])
    if origin is typing.Literal:
        return " / ".join(str(a) for a in args)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type(a) for a in args)
    if origin is dict:
        return f"map of {_type(args[1])}"
    if origin is list:
        return f"list of {_type(args[0])}"
    if origin is tuple:
        return "pair"
    if annotation is type(None):
        return "null"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    return {str: "text", int: "whole number", float: "number", bool: "true / false"}.get(annotation, "map")


def _default(field) -> str:
    if field.default is PydanticUndefined:
        return "required"
    value = field.default
    if isinstance(value, BaseModel):
        return "its defaults"
    return f"`{'null' if value is None else value}`"


def render() -> str:
    """The whole page: one table per section, in the order of the schema module, the top level first."""
    classes = [c for c in vars(schema).values() if isinstance(c, type) and issubclass(c, schema.Section)]
    classes = [schema.Config] + [c for c in classes if c not in (schema.Section, schema.Config)]
    parts = [HEAD]
    for section in classes:
        parts.append(
            f"\n## {section.__name__}\n\n{section.__doc__}\n\n"
            "| key | type | default | what it is |\n|---|---|---|---|\n"
        )
        for name, field in section.model_fields.items():
            parts.append(f"| `{name}` | {_type(field.annotation)} | {_default(field)} | {field.description} |\n")
    return "".join(parts)


if __name__ == "__main__":
    write_text(Path(sys.argv[1]), render())
