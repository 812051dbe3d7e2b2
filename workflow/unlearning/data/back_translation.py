"""Back into English: by a service of deep-translator, by a language model, or through the phrasebook.

Whatever a service said is kept in a response store, so nothing is asked of it twice.
"""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from unlearning.data.back_services import SERVICES, Back, Service, variables
from unlearning.llm.endpoint.pace import Pace
from unlearning.llm.estimate import Counted, stored_replies
from unlearning.llm.keys import read_key
from unlearning.llm.requests import Reply, Request, Sampling
from unlearning.llm.roles import FEW
from unlearning.llm.store import Store

REFUSED = ("AuthorizationException", "ApiKeyException", "NotValidLength", "NotValidPayload",
           "LanguageNotSupportedException", "InvalidSourceOrTargetLanguage")  # fmt: skip
NOTHING = ("TranslationNotFound", "ElementNotFoundInGetRequest")
# what deep-translator puts into a ServerException for a status that no retry mends
HOPELESS = ("ERR_BAD_REQUEST", "ERR_KEY_INVALID", "ERR_KEY_BLOCKED", "ERR_LANG_NOT_SUPPORTED")
LONGEST_WAIT = 60.0  # seconds


class Busy(NamedTuple):
    """An attempt that failed as another may not."""

    told: str


class BackTranslationError(ValueError):
    """A service cannot be used; the message names the configuration's key and how to mend it, never an API key."""


@contextlib.contextmanager
def open_service(settings: Mapping, language: str, store: Path | str) -> Iterator[Back]:
    """`back(texts)` by the service that `settings` (the configuration's `back_translator`) name, from `language`.

    Texts go out `concurrency` at a time, `per_second` at most, each tried `attempts` times with growing waits; equal
    ones once, and none whose reply the response store at `store` has. None: the service found no translation.
    BackTranslationError: a key is missing or refused, the service does not answer, a text is too long for it, or none
    of the texts was translated (found after more than FEW, or at the end).
    """
    name = settings["service"]
    service = SERVICES[name]
    code = {**service.codes, **settings["codes"]}.get(language)
    if code is None:
        raise BackTranslationError(f"back_translator.service: {name} does not translate {language}; choose another")
    keys = {argument: read_key(variable) for argument, variable in variables(settings).items()}
    make = partial(_translator, service, settings, code, keys)
    asked: set[str] = set()
    came: set[str] = set()

    def check(most: int) -> None:
        if len(asked) > most and not came:
            raise BackTranslationError(
                f"back_translator.service: {name} found no translation of any of {len(asked)} texts, of which one is "
                f"{min(asked)[:80]!r}. Choose another service (llm is one), or run again when it works: what has no "
                "translation is asked anew"
            )

    with contextlib.closing(Store(store)) as replies:

        def back(texts: Sequence[str]) -> list[str | None]:
            said = _back(make, settings, code, replies, texts)
            asked.update(texts)
            came.update(text for text, translation in zip(texts, said, strict=True) if translation is not None)
            check(FEW)
            return said

        yield back
        check(0)


def stored_service(settings: Mapping, language: str, store: Path) -> Back:
    """`back(texts)` by what the service of `open_service` said before; nothing is sent. Counted where texts are new."""
    code = {**SERVICES[settings["service"]].codes, **settings["codes"]}[language]

    def back(texts: Sequence[str]) -> list[str]:
        keys = [_key(settings, code, text) for text in texts]
        found = stored_replies(store, keys)
        if missing := len(set(keys) - set(found)):
            raise Counted({"back_translator": missing})
        return [found[key].text for key in keys]

    return back


def _back(
    make: Callable[[], Callable[[str], str | None]], settings: Mapping, code: str, replies: Store, texts: Sequence[str]
) -> list[str | None]:
    keys = {text: _key(settings, code, text) for text in texts}
    known = {key: reply.text for key, reply in replies.get(keys.values()).items()}
    missing = [text for text, key in keys.items() if key not in known]
    pace, turn, stop = Pace(60.0 * settings["per_second"]), threading.Lock(), threading.Event()
    local = threading.local()  # a translator keeps the text it works on, so each thread has its own

    def one(text: str) -> tuple[str, str | None]:
        def send() -> str | None:
            with turn:
                seconds = pace.delay()
            time.sleep(seconds)
            if not hasattr(local, "translate"):
                local.translate = make()
            return local.translate(text)

        return keys[text], _patiently(send, settings, text, stop)

    with ThreadPoolExecutor(settings["concurrency"]) as pool:
        waiting = [pool.submit(one, text) for text in missing]
        try:
            for future in waiting:
                key, said = future.result()
                if said is not None:
                    replies.put(key, Reply(said, "stop", 0, 0))
                    known[key] = said
        except BackTranslationError:
            stop.set()  # the others need not try to the end
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [known.get(keys[text]) for text in texts]


def _key(settings: Mapping, code: str, text: str) -> str:
    """The store's key: the service and how it is called, the language, the text; no secret, nothing about speed."""
    identity = {"backend": "deep_translator", "endpoint": settings["service"], "model": code,
                "revision": json.dumps(settings["options"], sort_keys=True)}  # fmt: skip
    said = [{"role": "user", "content": text}]
    return Store.key(identity, Request("", 0, said, Sampling(), None, {}, "backtranslator"))


def _translator(service: Service, settings: Mapping, code: str, keys: Mapping[str, str]) -> Callable[[str], str | None]:
    """`translate(text)` of a translator of our own making.

    Its class checks codes against its own tables, which lag behind the service's or hold names for codes; so it is made
    for `auto` and told source and target afterwards. It also waits for ever: its `requests` is given a timeout.
    """
    module = import_module(f"deep_translator.{service.name.removesuffix('Translator').lower()}")
    _with_timeout(module, settings["timeout"])
    options = {k: v for k, v in settings["options"].items() if k in service.options}
    translator = getattr(module, service.name)(source="auto", target="auto", **keys, **options)
    translator.source, translator.target = code, service.codes["en"]
    call = {"domain": "general"} if service.call else {}
    call |= {k: v for k, v in settings["options"].items() if k in service.call}

    def translate(text: str) -> str | None:
        said = translator.translate(text, **call)
        said = "\n".join(said) if isinstance(said, list) else said  # yandex gives a list
        return said.strip() or None if said else None

    return translate


def _with_timeout(module, seconds: float) -> None:
    import requests

    sent = {name: partial(getattr(requests, name), timeout=seconds) for name in ("get", "post")}
    module.requests = SimpleNamespace(**sent, exceptions=requests.exceptions)


def _patiently(send: Callable[[], str | None], settings: Mapping, text: str, stop: threading.Event) -> str | None:
    """What `send` gives, tried again while the service is busy or away, until `stop` is set."""
    import tenacity

    name = settings["service"]
    said = tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda result: isinstance(result, Busy)),
        stop=tenacity.stop_after_attempt(settings["attempts"]) | tenacity.stop_when_event_set(stop),
        wait=tenacity.wait_random_exponential(multiplier=settings["wait"], max=LONGEST_WAIT),
        sleep=tenacity.sleep_using_event(stop),
        retry_error_callback=lambda state: state.outcome.result(),
    )(_attempt, send, name, text)
    if isinstance(said, Busy):
        raise BackTranslationError(
            f"back_translator.service: {name} did not answer after {settings['attempts']} tries (last: {said.told}). "
            "Is there a network, or was it asked too often? Lower back_translator.per_second, choose another service "
            "(llm is one), or run again later: what came back is stored"
        )
    return said


def _attempt(send: Callable[[], str | None], name: str, text: str) -> str | Busy | None:
    """What `send` gives. An exception's own words may hold the key, so they are not repeated."""
    try:
        return send()
    except Exception as error:
        kind = type(error).__name__
        told = str(error.args[0]) if kind == "ServerException" and error.args else kind
    if kind in NOTHING:
        return None
    if kind in REFUSED or told in HOPELESS:
        raise BackTranslationError(_refusal(name, told, text))
    return Busy(told)


def _refusal(name: str, told: str, text: str) -> str:
    longest = SERVICES[name].longest
    if told in ("NotValidLength", "NotValidPayload"):
        return (
            f"back_translator.service: {name} takes no text of {len(text)} characters"
            f"{f' (at most {longest})' if longest else ''}; choose another service. The text begins {text[:40]!r}"
        )
    return (
        f"back_translator.service: {name} refused the request ({told}); check the key in the environment variable that "
        "back_translator.key_env names, and that the account covers this language"
    )
