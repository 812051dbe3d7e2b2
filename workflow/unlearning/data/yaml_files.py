"""Reading the resource files: YAML in which no key may occur twice."""

from pathlib import Path

import yaml


class ResourceError(ValueError):
    """A resource file is wrong; the message names the file, the key, what is allowed and how to mend it."""


class _UniqueKeys(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """A safe loader that refuses a key given twice, where YAML would silently keep the last."""


def _mapping(loader: yaml.Loader, node: yaml.MappingNode) -> dict:
    pairs = [(loader.construct_object(k, deep=True), loader.construct_object(v, deep=True)) for k, v in node.value]
    seen = set()
    for (key, _), (key_node, _) in zip(pairs, node.value, strict=True):
        if key in seen:
            raise ResourceError(f"line {key_node.start_mark.line + 1}: {key!r} occurs twice; keep one")
        seen.add(key)
    return dict(pairs)


_UniqueKeys.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def read_yaml(path: Path | str) -> dict:
    """The mapping in the YAML file at `path`. ResourceError: no such file, broken, a key given twice."""
    try:
        content = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except FileNotFoundError:
        raise ResourceError(f"{path}: no such file") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ResourceError(f"{path}: not readable as YAML: {error}") from error
    except ResourceError as error:
        raise ResourceError(f"{path}, {error}") from None
    if not isinstance(content, dict):
        raise ResourceError(f"{path}: should be a mapping at the top, is {type(content).__name__}")
    return content


def text(found: object, where: str) -> str:
    """`found` when it is non-empty text; ResourceError otherwise (YAML reads a bare yes, no or 5 as no text)."""
    if not isinstance(found, str) or not found.strip():
        raise ResourceError(f"{where}: should be text, is {found!r}; write it in quotes")
    return found


def mapping(found: object, where: str) -> dict:
    """`found` when it is a mapping; ResourceError otherwise."""
    if not isinstance(found, dict):
        raise ResourceError(f"{where}: should be a mapping, is {type(found).__name__}")
    return found
