"""The back-translators there are, by name, and what each calls our languages. Nothing is imported: it only names.

All but `llm` and `reverse` are classes of deep-translator 1.11.4. Left out of it are its dictionaries of single words
(pons, linguee), which translate no sentence, and chatgpt, whose client is gone: `llm` takes its place.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

Back = Callable[[Sequence[str]], list[str | None]]
"""What each text is in English, None where nothing came."""

LLM, REVERSE = "llm", "reverse"


class Service(NamedTuple):
    """A service: its class, {our code: its code}, {argument that holds a key: environment variable}, other options.

    `options` are arguments of the class, those of `call` of its `translate`; `longest` is in characters.
    """

    name: str
    codes: Mapping[str, str]
    keys: Mapping[str, str] = {}
    options: tuple[str, ...] = ()
    call: tuple[str, ...] = ()
    longest: int | None = None


def _codes(given: str, **other: str) -> dict[str, str]:
    return {code: code for code in given.split()} | other


GOOGLE = _codes("en de id af es lv ko ur el mk th", zh="zh-CN")
SERVICES: dict[str, Service] = {
    "google": Service("GoogleTranslator", GOOGLE, longest=4999),
    "mymemory": Service(
        "MyMemoryTranslator",
        {
            "en": "en-GB", "de": "de-DE", "id": "id-ID", "af": "af-ZA", "es": "es-ES", "lv": "lv-LV", "zh": "zh-CN",
            "ko": "ko-KR", "ur": "ur-PK", "el": "el-GR", "mk": "mk-MK", "th": "th-TH",
        },
        options=("email",), longest=499,
    ),
    "libre": Service(
        "LibreTranslator", _codes("en de id es zh ko"), {"api_key": "LIBRE_API_KEY"}, ("custom_url", "use_free_api")
    ),
    "deepl": Service(
        "DeeplTranslator", _codes("en de id es lv zh el"), {"api_key": "DEEPL_API_KEY"}, ("use_free_api",)
    ),
    "microsoft": Service(
        "MicrosoftTranslator", GOOGLE | {"zh": "zh-hans"}, {"api_key": "MICROSOFT_API_KEY"}, ("region",)
    ),
    "yandex": Service("YandexTranslator", GOOGLE | {"zh": "zh"}, {"api_key": "YANDEX_API_KEY"}),
    "baidu": Service(
        "BaiduTranslator", {"en": "en", "de": "de", "es": "spa", "zh": "zh", "ko": "kor", "el": "el", "th": "th"},
        {"appid": "BAIDU_APPID", "appkey": "BAIDU_APPKEY"},
    ),
    "papago": Service(
        "PapagoTranslator", _codes("en ko es th id", zh="zh-CN"),
        {"client_id": "PAPAGO_CLIENT_ID", "secret_key": "PAPAGO_SECRET_KEY"},
    ),
    "qcri": Service("QcriTranslator", _codes("en es"), {"api_key": "QCRI_API_KEY"}, call=("domain",)),
}  # fmt: skip


def variables(settings: Mapping) -> dict[str, str]:
    """argument of the service -> the environment variable that holds it, by a configuration's `back_translator`."""
    usual = SERVICES[settings["service"]].keys if settings["service"] in SERVICES else {}
    return {argument: settings["key_env"].get(argument, name) for argument, name in usual.items()}


def problems(settings: Mapping, languages: set[str]) -> list[str]:
    """What is wrong with a configuration's `back_translator` for `languages`: (key below it and message) in words."""
    service = settings["service"]
    if service in (LLM, REVERSE):
        return []
    if service not in SERVICES:
        return [f"service: no back-translator {service!r}. There are: {', '.join([*SERVICES, LLM, REVERSE])}"]
    known = SERVICES[service]
    found = []
    if lacking := sorted(languages - {"en"} - set(known.codes) - set(settings["codes"])):
        found.append(
            f"service: {service} is not known to translate {', '.join(lacking)}; choose another, e.g. google, or give "
            f"its own codes: codes: {{{lacking[0]}: …}}"
        )
    for kind, allowed in (("key_env", tuple(known.keys)), ("options", known.options + known.call)):
        for word in sorted(set(settings[kind]) - set(allowed)):
            found.append(f"{kind}.{word}: {service} takes {', '.join(allowed) or 'none'} there")
    return found
