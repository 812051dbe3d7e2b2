"""Back into English: the services' names for our languages, a stand-in for Google on loopback, keys, failures."""

import threading
import traceback
import urllib.parse
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from deep_translator import constants

from mu2_llm_fakes import Model, tools
from mu2_sources import SOURCES
from unlearning.config.benchmarks import BackTranslator
from unlearning.data import back_translation
from unlearning.data.back_other import by_model, through_phrasebook
from unlearning.data.back_services import GOOGLE, SERVICES, problems
from unlearning.data.back_translation import BackTranslationError, open_service, stored_service
from unlearning.data.languages import read_languages
from unlearning.llm.estimate import Counted
from unlearning.llm.roles import FEW

CODES = tuple(read_languages(SOURCES / "languages.yaml"))
TABLES = {
    "google": constants.GOOGLE_LANGUAGES_TO_CODES.values(),
    "mymemory": constants.MY_MEMORY_LANGUAGES_TO_CODES.values(),
    "libre": constants.LIBRE_LANGUAGES_TO_CODES.values(),
    "deepl": constants.DEEPL_LANGUAGE_TO_CODE.values(),
    "baidu": constants.BAIDU_LANGUAGE_TO_CODE.values(),
    "papago": constants.PAPAGO_LANGUAGE_TO_CODE.keys(),
    "qcri": constants.QCRI_LANGUAGE_TO_CODE.values(),
}


def settings(**changes) -> dict:
    fast = {"per_second": 1000.0, "attempts": 3, "wait": 0.001, "timeout": 2.0}
    return BackTranslator.model_validate(fast | changes).model_dump()


class Google:
    """What Google's page for small devices answers, on loopback; `answer(text, times asked)` gives (status, page)."""

    def __init__(self, answer):
        self.queries, self.counts = [], Counter()
        outer, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
                with lock:
                    outer.queries.append(query)
                    outer.counts[query["q"]] += 1
                status, page = answer(query["q"], outer.counts[query["q"]])
                body = page.encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/m"
        self.server.handle_error = lambda *_: None  # a client that hung up
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def page(text: str) -> str:
    return f'<html><body><div class="result-container">{text}</div></body></html>'


@pytest.fixture
def google(monkeypatch):
    """`google(answer)` starts the stand-in and makes deep-translator go there."""
    running = []

    def start(answer=lambda text, times: (200, page(f"EN {text}"))):
        running.append(Google(answer))
        monkeypatch.setitem(constants.BASE_URLS, "GOOGLE_TRANSLATE", running[-1].url)
        return running[-1]

    yield start
    for server in running:
        server.close()


@pytest.mark.parametrize("name", TABLES)
def test_the_codes_are_those_of_the_package(name):
    assert set(SERVICES[name].codes.values()) <= set(TABLES[name])
    assert set(SERVICES[name].codes) <= set(CODES) and "en" in SERVICES[name].codes
    if name != "papago":  # no service lacks a language of ours that its table has under our own code
        assert {c for c in CODES if c in TABLES[name]} <= set(SERVICES[name].codes)


def test_google_and_mymemory_know_all_twelve_languages():
    assert set(GOOGLE) == set(SERVICES["mymemory"].codes) == set(CODES)
    assert GOOGLE["zh"] == "zh-CN"


def test_every_service_that_translates_sentences_is_offered():
    from deep_translator.engines import __engines__

    left_out = {"pons", "linguee", "chatgpt"}
    named = {service.name for service in SERVICES.values()}
    assert named == {
        cls.__name__ for name, cls in __engines__.items() if name.removesuffix("translator") not in left_out
    }


@pytest.mark.parametrize("name", sorted(set(SERVICES) - {"microsoft"}))  # which asks for its languages when it is made
def test_every_translator_can_be_made_for_every_language_it_is_said_to_know(name, monkeypatch):
    service, keys = SERVICES[name], dict.fromkeys(SERVICES[name].keys, "k")
    for code in service.codes.values():
        back_translation._translator(service, settings(service=name), code, keys)


def test_texts_come_back_in_order_from_the_right_language_and_equal_ones_are_asked_once(google, tmp_path):
    server = google()
    with open_service(settings(), "zh", tmp_path / "s.sqlite") as back:
        assert back(["一", "二", "一"]) == ["EN 一", "EN 二", "EN 一"]
        assert back(["二", "三"]) == ["EN 二", "EN 三"]
    assert server.counts == {"一": 1, "二": 1, "三": 1}
    assert {(q["sl"], q["tl"]) for q in server.queries} == {("zh-CN", "en")}


def test_nothing_is_asked_twice_over_runs_but_other_languages_are(google, tmp_path):
    server = google()
    for language in ("de", "de", "af"):
        with open_service(settings(), language, tmp_path / "s.sqlite") as back:
            assert back(["die"]) == ["EN die"]
    assert [q["sl"] for q in server.queries] == ["de", "af"]


def test_what_came_back_is_told_without_sending_and_what_did_not_is_counted(google, tmp_path):
    server, store = google(), tmp_path / "s.sqlite"
    back = stored_service(settings(), "de", store)
    with pytest.raises(Counted) as caught:
        back(["die", "das", "die"])
    assert caught.value.missing == {"back_translator": 2} and not store.exists() and not server.counts
    with open_service(settings(), "de", store) as sent:
        sent(["die"])
    assert back(["die", "die"]) == ["EN die", "EN die"] and server.counts == {"die": 1}
    with pytest.raises(Counted):
        stored_service(settings(), "af", store)(["die"])


def test_a_busy_service_is_asked_again(google, tmp_path):
    server = google(lambda text, times: (429, "") if times == 1 else (500, "") if times == 2 else (200, page("back")))
    with open_service(settings(), "de", tmp_path / "s.sqlite") as back:
        assert back(["a", "b"]) == ["back", "back"]
    assert server.counts == {"a": 3, "b": 3}


def test_a_text_without_translation_comes_back_as_none_and_is_asked_again_next_time(google, tmp_path):
    server = google(lambda text, times: (200, "<html></html>" if text == "x" else page("back")))
    for _ in range(2):
        with open_service(settings(), "de", tmp_path / "s.sqlite") as back:
            assert back(["x", "y"]) == [None, "back"]
    assert server.counts == {"x": 2, "y": 1}


@pytest.mark.parametrize("n", [2, FEW + 1])
def test_a_service_that_translates_nothing_stops_the_job_and_is_asked_anew_when_it_works(google, tmp_path, n):
    working = []
    server = google(lambda text, times: (200, page("back") if working else "<html></html>"))
    texts = [f"text {i}" for i in range(n)]
    told = f"back_translator.service: google found no translation of any of {n} texts, of which one is 'text 0'"
    with pytest.raises(BackTranslationError, match=told):
        with open_service(settings(), "de", tmp_path / "s.sqlite") as back:
            assert back(texts) == [None] * n and n <= FEW  # more end the job at once
    working.append(True)
    with open_service(settings(), "de", tmp_path / "s.sqlite") as back:
        assert back(texts) == ["back"] * n
    assert server.counts == dict.fromkeys(texts, 2)


def test_a_service_that_is_down_stops_with_the_key_and_the_fix_and_keeps_what_came(google, tmp_path):
    server = google(lambda text, times: (200, page("back")) if text == "a" else (503, ""))
    with open_service(settings(concurrency=1), "de", tmp_path / "s.sqlite") as back:
        with pytest.raises(
            BackTranslationError, match="back_translator.service: google did not answer after 3 tries.*llm"
        ):
            back(["a", *(f"b{i}" for i in range(50))])
    assert server.counts.total() < 10  # the others are not tried
    with open_service(settings(), "de", tmp_path / "s.sqlite") as back:
        assert back(["a"]) == ["back"]
    assert server.counts["a"] == 1


def test_a_service_that_hangs_is_given_up(google, tmp_path):
    hold = threading.Event()
    google(lambda text, times: (hold.wait(5), (200, page("late")))[1])
    with open_service(settings(timeout=0.2, attempts=1), "de", tmp_path / "s.sqlite") as back:
        with pytest.raises(BackTranslationError, match="did not answer after 1 tries .last: ReadTimeout"):
            back(["a"])
    hold.set()


def test_a_text_too_long_for_the_service_is_named(google, tmp_path):
    google()
    with open_service(settings(), "de", tmp_path / "s.sqlite") as back:
        with pytest.raises(BackTranslationError, match="google takes no text of 5000 characters .at most 4999"):
            back(["y" * 5000])


def test_a_key_is_read_from_the_variable_named_and_never_shown(tmp_path, monkeypatch):
    monkeypatch.delenv("DEEPL_API_KEY", raising=False)
    with pytest.raises(ValueError, match="DEEPL_API_KEY is not set"):
        with open_service(settings(service="deepl"), "de", tmp_path / "s.sqlite"):
            pass
    monkeypatch.setenv("MY_KEY", "planted-secret-1234")
    monkeypatch.setitem(constants.BASE_URLS, "DEEPL_FREE", "http://127.0.0.1:1/{version}/")
    mine = settings(service="deepl", key_env={"api_key": "MY_KEY"})
    with open_service(mine, "de", tmp_path / "s.sqlite") as back:
        with pytest.raises(BackTranslationError) as caught:  # requests' own message shows the address with the key
            back(["a"])
    assert "planted-secret" not in str(caught.value)
    assert "planted-secret" not in "".join(traceback.format_exception(caught.value))
    assert b"planted-secret" not in (tmp_path / "s.sqlite").read_bytes()


def test_a_refused_key_stops_at_once(monkeypatch, tmp_path):
    from deep_translator.exceptions import AuthorizationException

    tried = []

    def refuse():
        tried.append(1)
        raise AuthorizationException("planted-secret-1234")

    with pytest.raises(
        BackTranslationError, match="deepl refused the request .AuthorizationException.; check the key"
    ) as e:
        back_translation._patiently(refuse, settings(service="deepl"), "a", threading.Event())
    assert len(tried) == 1 and "planted" not in str(e.value)


def test_what_the_configuration_may_say():
    every = set(CODES)
    assert problems(settings(), every) == problems(settings(service="llm"), every) == []
    assert "There are: google, mymemory" in problems(settings(service="gogle"), every)[0]
    assert "qcri is not known to translate th" in problems(settings(service="qcri"), {"en", "th", "es"})[0]
    assert problems(settings(service="libre", codes={"th": "th"}), {"en", "th"}) == []
    assert (
        "key_env.api_keys: deepl takes api_key"
        in problems(settings(service="deepl", key_env={"api_keys": "A"}), {"de"})[0]
    )
    assert "options.region: google takes none" in problems(settings(options={"region": "x"}), {"de"})[0]


def test_the_phrasebook_backwards(books):
    back = through_phrasebook(books["de"], books["en"])
    texts = [
        "Drachen",
        "Wann wurde Ann Lee geboren?",
        "Ann Lee wurde im Mai geboren.",
        "Ann Lee wurde im Lenz geboren.",
    ]
    assert back(texts) == ["kite", "When was Ann Lee born?", "Ann Lee was born in May.", None]


def test_a_model_translates_back_and_equal_texts_are_asked_once(books):
    model = Model(
        books["de"], lambda ident, inputs: "?" if inputs["text"] == "b" else {"translation": "EN " + inputs["text"]}
    )
    languages = read_languages(SOURCES / "languages.yaml")
    back = by_model(tools(model, books["en"]), languages["de"])
    assert back(["a", "b", "a"]) == ["EN a", None, "EN a"] and back([]) == []
    assert model.asked() == {"backtranslator": 2}
    assert "German" in model.sent[0].messages[0]["content"]
