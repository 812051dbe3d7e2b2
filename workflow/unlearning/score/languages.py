"""Groups of languages over which a score is taken, in a fixed order."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """One language of a setting: role train or holdout, resource high or low, script latin or other."""

    role: str
    resource: str
    script: str


KINDS = ("selections", "pairs", "partitions", "roles", "all")


def selections(languages: dict[str, Language]) -> dict[str, tuple[str, ...]]:
    """name -> codes: each code, train, holdout, all, then train:high, train:low, holdout:high, holdout:low,
    holdout:latin, holdout:other; only those with a language in them.

    With one language (or none known) there is nothing to tell apart: only `all`.
    """
    codes = tuple(languages)
    if len(codes) < 2:
        return {"all": codes}
    named = {code: (code,) for code in codes}
    named |= {role: tuple(c for c in codes if languages[c].role == role) for role in ("train", "holdout")}
    named["all"] = codes
    for role, part in (("train", "high"), ("train", "low"), ("holdout", "high"), ("holdout", "low"),
                       ("holdout", "latin"), ("holdout", "other")):  # fmt: skip
        named[f"{role}:{part}"] = tuple(c for c in named[role] if part in (languages[c].resource, languages[c].script))
    return {name: chosen for name, chosen in named.items() if chosen}


def names(kind: str, languages: dict[str, Language]) -> list[str]:
    """The names of `selections` that a metric of `kind` reports.

    selections: every one. pairs: codes, train, holdout, all. partitions: train, holdout and their parts by resource
    and script. roles: train, holdout. all: all. Where a kind has none (one language), it is `all`.
    """
    if kind not in KINDS:
        raise ValueError(f"unknown kind of languages {kind!r}; kinds are {', '.join(KINDS)}")
    roles = ("train", "holdout")
    kept = {
        "selections": lambda name: True,
        "pairs": lambda name: ":" not in name,
        "partitions": lambda name: name.split(":")[0] in roles,
        "roles": lambda name: name in roles,
        "all": lambda name: name == "all",
    }[kind]
    return [name for name in selections(languages) if kept(name)] or ["all"]
