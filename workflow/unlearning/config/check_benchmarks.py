"""What the keys of a benchmark say about each other: metrics that fit, people, languages, files."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from unlearning.config import check_llm, check_umu
from unlearning.config.benchmarks import Files, Leak, Lume, Mu2, Seps
from unlearning.config.every_benchmark import Benchmark
from unlearning.config.problems import known, listed, repeated
from unlearning.config.schema import Config
from unlearning.config.umu import Umu
from unlearning.data import back_services
from unlearning.data.files_spec import SCHOOL, SCHOOL_ROLES, SUBJECTS, FilesError, checked
from unlearning.registry import available, declared

KINDS = ("mu2", "files", "leak", "lume", "seps", "umu")
TOKENS_PER_ANSWER = 12  # of a reply such as {"answer_12": false, …}, generously
# What a metric's ITEMS may name -> how a benchmark comes to have it, by the kinds that can.
OFFERS = {
    "languages": ("at least two languages", {"mu2": "settings"}),
    "value": ("the answers' values", {"mu2": "cut", "files": "columns.value", "leak": "facts", "seps": "people"}),
    "perturbed": ("wrong answers in the same words", {"files": "columns.perturbed", "seps": "people"}),
    "passages": ("passages to go on with", {"files": "columns.prompt and columns.continuation"}),
    "options": ("options to choose from", {"files": "columns.options"}),
    "modalities": ("questions in text and about pictures", {"umu": "cut"}),
    "documents": ("LUME's prompts about documents", {"lume": "sizes"}),
    "mixed": ("mixed prompts", {"files": "mixed", "seps": "mixed"}),
    "real_people": ("real people", {"umu": "people.known above 0, or real"}),
    "stress": ("the stress test of mixed prompts", {"files": "mixed.stress_lines", "seps": "mixed.stress_lines"}),
    "nonmember": (
        "people never seen",
        {
            "mu2": "cut.nonmember above 0",
            "files": "a set of group nonmember",
            "lume": "nonmembers above 0, by another route than published",
        },
    ),
    "utility": (
        "general questions",
        {"mu2": "cut.background and heldout_share above 0", "files": "a set of group utility"},
    ),
    "second_judges": ("a second judge", dict.fromkeys(KINDS, "second_judges")),
    "real_authors": ("real authors", {"files": "a set of group real_authors", "seps": "people.known"}),
    "world_facts": ("world facts", {"files": "a set of group world_facts", "seps": "people.known"}),
    "reasoning": ("tasks of lm-evaluation-harness", dict.fromkeys(KINDS, "harness.reasoning")),
    "mmlu": ("tasks of lm-evaluation-harness", dict.fromkeys(KINDS, "harness.mmlu")),
}


def check(config: Config) -> Iterable[str]:
    """The problems of every benchmark."""
    yield from _sources(config)
    for name, benchmark in config.benchmarks.items():
        key = f"benchmarks.{name}"
        yield from _judges(config, key, benchmark)
        yield from _metrics(f"{key}.metrics", benchmark)
        yield from _harness(config, name, benchmark)
        if isinstance(benchmark, Mu2):
            yield from _mu2(key, benchmark)
            for argument, name in benchmark.back_translator.key_env.items():
                yield from check_llm.variable_problem(f"{key}.back_translator.key_env.{argument}", name)
            yield from _route(config, key, benchmark)
        elif isinstance(benchmark, Seps):
            yield from _seps(key, benchmark)
        else:
            yield from _source(config, name, benchmark)
            if isinstance(benchmark, Leak):
                yield from _leak(key, benchmark)
                yield from _leak_models(config, key, benchmark)
            elif isinstance(benchmark, Lume):
                yield from _lume(config, key, benchmark)
            elif isinstance(benchmark, Umu):
                yield from check_umu.check(key, benchmark)
                yield from _below(key, benchmark)
            else:
                source = config.sources.get(benchmark.source)
                yield from _files(key, benchmark, source.hub if source else None)
                yield from _school(config, key, benchmark)


def offers(benchmark: Benchmark) -> set[str]:
    """What the benchmark's questions have, of the keys of OFFERS."""
    second = ({"second_judges"} if benchmark.second_judges else set()) | benchmark.harness.keys()
    if isinstance(benchmark, Mu2):
        utility = benchmark.heldout_share > 0 and benchmark.cut.background > 0
        there = {"nonmember": benchmark.cut.nonmember > 0, "utility": utility}
        return {"languages", "value", *second, *(name for name, is_there in there.items() if is_there)}
    if isinstance(benchmark, Leak):
        return {"value", *second}
    if isinstance(benchmark, Lume):
        there = {"nonmember"} if benchmark.nonmembers and benchmark.route != "published" else set()
        return {"documents"} | second | there
    if isinstance(benchmark, Umu):
        known = {"real_people"} if benchmark.people.known or benchmark.real else set()
        return {"modalities"} | known | second
    mixed = {"mixed", *(["stress"] if benchmark.mixed.stress_lines else [])} if benchmark.mixed else set()
    if isinstance(benchmark, Seps):
        return {"value", "perturbed", "real_authors", "world_facts", *mixed, *second}
    columns = {role for role in ("value", "perturbed", "options") if getattr(benchmark.columns, role) is not None}
    columns |= {"passages"} if benchmark.columns.prompt is not None else set()
    return columns | second | mixed | {entry.group for entry in benchmark.sets.values()}


def among(benchmark: Benchmark, settings: Iterable[str]) -> dict[str, set[str]]:
    """What a parameter may name that is one of the questions' own: languages of all `settings`, groups."""
    if not isinstance(benchmark, Mu2):
        asked = offers(benchmark) & {"nonmember", "real_people"}
        if isinstance(benchmark, Files):
            asked = {s.group for s in benchmark.sets.values()}
        if isinstance(benchmark, Seps):
            asked = {"real_authors", "world_facts"}
        return {"languages": {benchmark.language}, "groups": {"retain"} | asked}
    spoken = [{*benchmark.settings[name].train, *benchmark.settings[name].holdout} for name in settings]
    there = offers(benchmark) & {"nonmember", "utility"}
    return {"languages": set.intersection(*spoken), "groups": {"retain", *there}}


def background(benchmark: Benchmark) -> bool:
    """Whether there are background rows to train on."""
    if isinstance(benchmark, Mu2):
        return benchmark.cut.background > 0
    if isinstance(benchmark, Seps):
        return True
    if isinstance(benchmark, Umu):
        return bool(benchmark.people.background or benchmark.people.known or benchmark.real)
    if isinstance(benchmark, Leak):
        return benchmark.practice > 0
    if isinstance(benchmark, Lume):
        return benchmark.route == "templates" and any(size.background for _, size in benchmark.sizes)
    return any(s.train and s.group not in ("forget", "retain") for s in benchmark.sets.values())


def _judges(config: Config, key: str, benchmark: Benchmark) -> Iterable[str]:
    for word, judges in (("judge", [benchmark.judge]), ("second_judges", benchmark.second_judges)):
        unknown = [p for judge in judges for p in known(f"{key}.{word}", judge, available("judges"), "judge")]
        yield from (f"{problem}. Which language model the judge llm is, roles.judge says" for problem in unknown)
    if twice := repeated([benchmark.judge, *benchmark.second_judges]):
        yield f"{key}.second_judges: {twice} judges twice; name each judge once, the primary one under {key}.judge only"
    judging, role = benchmark.judging, config.roles.get("judge")
    if role and judging.form == "list" and role.max_tokens < (needed := TOKENS_PER_ANSWER * judging.list_size):
        yield (
            f"{key}.judging.list_size: {judging.list_size} verdicts may not fit into roles.judge.max_tokens, "
            f"{role.max_tokens}; give it at least {needed}, or shorten the lists"
        )


def lacking(benchmark: Benchmark, names: Iterable[str], folder: str = "metrics") -> list[str]:
    """Why each of `names`, modules of `folder` (metrics, attacks), that does not fit the questions does not."""
    there = offers(benchmark)
    lacks = {m: [i for i in declared(f"unlearning.{folder}.{m}", "ITEMS", ()) if i not in there] for m in names}
    return [_reason(name, missing[0], benchmark.kind) for name, missing in lacks.items() if missing]


def _metrics(key: str, benchmark: Benchmark) -> Iterable[str]:
    for metric in benchmark.metrics:
        yield from known(key, metric, available("metrics"), "metric")
    if reasons := lacking(benchmark, [m for m in benchmark.metrics if m in available("metrics")]):
        fit = listed(m for m in available("metrics") if not lacking(benchmark, [m]))
        yield f"{key}: {'; '.join(reasons)}. Metrics that fit this benchmark: {fit}"
    if twice := repeated(benchmark.metrics):
        yield f"{key}: a metric is listed twice ({twice}); list each once"


def _reason(metric: str, item: str, kind: str) -> str:
    what, ways = OFFERS[item]
    fix = f"it takes {ways[kind]}" if kind in ways else f"a {kind} benchmark has none"
    return f"{metric} needs {what} ({fix})"


def _mu2(key: str, benchmark: Mu2) -> Iterable[str]:
    for split, n in benchmark.forget.items():
        if n >= benchmark.cut.memorised:
            people = benchmark.cut.memorised
            yield f"{key}.forget.{split}: {n} people to forget leave none of the {people} memorised to retain"
    for setting, languages in benchmark.settings.items():
        both = set(languages.train) & set(languages.holdout)
        if both:
            yield f"{key}.settings.{setting}: {listed(both)} both in train and in holdout; list each language once"
        for side in ("train", "holdout"):
            if twice := repeated(getattr(languages, side)):
                yield f"{key}.settings.{setting}.{side}: a language is listed twice ({twice}); list each once"


def _seps(key: str, benchmark: Seps) -> Iterable[str]:
    people = benchmark.people.memorised
    for split, n in benchmark.forget.items():
        if n >= people:
            yield f"{key}.forget.{split}: {n} people to forget leave none of the {people} memorised to retain"


def _route(config: Config, key: str, benchmark: Mu2) -> Iterable[str]:
    """Route llm: a model for every role it needs, and a back-translator that knows the languages."""
    if benchmark.route != "llm":
        return
    back = benchmark.back_translator
    for role in ("translator", *(["backtranslator"] if back.service == back_services.LLM else [])):
        yield from check_llm.offline_problem(config, role, f"{key}.route")
    languages = {code for s in benchmark.settings.values() for code in (*s.train, *s.holdout)}
    for problem in back_services.problems(back.model_dump(), languages):
        yield f"{key}.back_translator.{problem}"


def _harness(config: Config, name: str, benchmark: Benchmark) -> Iterable[str]:
    """Entries that no metric reads, and that do not say what to ask in one way."""
    read = [m for m in available("metrics") if "harness" in declared(f"unlearning.metrics.{m}", "NEEDS")]
    for metric, entry in benchmark.harness.items():
        key = f"benchmarks.{name}.harness.{metric}"
        yield from known(f"benchmarks.{name}.harness", metric, read, "metric that reads tasks of lm-evaluation-harness")
        if entry.mmlu_csv is None and not entry.tasks:
            yield f"{key}.tasks: names no task; give one or more" + (", or mmlu_csv" if metric == "mmlu" else "")
        if entry.mmlu_csv is not None:
            if metric != "mmlu":
                yield f"{key}.mmlu_csv: read for harness.mmlu only; remove it and give tasks"
            if entry.tasks or entry.include:
                yield f"{key}: mmlu_csv brings its own tasks; remove tasks and include, or mmlu_csv"
            if entry.mmlu_csv not in config.sources and _used(config, name):
                fix = f"write sources: {{{entry.mmlu_csv}: /path}} in the overlay"
                yield f"{key}.mmlu_csv: no folder for {entry.mmlu_csv!r}; {fix}"
        path = PurePosixPath(entry.include or "")
        if path.is_absolute() or ".." in path.parts or path.parts[:1] == ("~",):
            yield f"{key}.include: {entry.include!r} should be a path below the project, e.g. resources/harness"


def _used(config: Config, name: str) -> bool:
    """Whether an experiment that is to run measures the benchmark."""
    wanted = config.only in (None, name)
    return wanted and any(e.enabled and e.benchmark == name for e in config.experiments.values())


def _sources(config: Config) -> Iterable[str]:
    """Sources that name no place or two, and data sets of the Hub where a folder has to be."""
    for name, source in config.sources.items():
        key = f"sources.{name}"
        if (source.folder is None) == (source.hub is None):
            yield f"{key}: give either folder or hub"
        elif source.hub is None and source.revision is not None:
            yield f"{key}.revision: a folder has none; remove it"
        elif source.hub is not None:
            if not source.copied and not re.fullmatch(r"[\w.-]+/[\w.-]+", source.hub):
                yield f"{key}.hub: {source.hub!r} should be owner/name, or a folder that begins with /, . or ~"
            if source.copied and source.revision is not None:
                yield f"{key}.revision: a folder has none; remove it"
            for other, benchmark in config.benchmarks.items():
                read = {entry.mmlu_csv for entry in benchmark.harness.values()}
                if not isinstance(benchmark, Files):
                    read |= {getattr(benchmark, "source", None)}
                if name in read:
                    yield f"{key}.hub: benchmark {other} reads files of a folder; give folder"


def _source(config: Config, name: str, benchmark: Files | Leak | Lume | Umu) -> Iterable[str]:
    if benchmark.source is None:
        return
    if benchmark.source not in config.sources and _used(config, name):
        fix = f"write sources: {{{benchmark.source}: /path}} in the overlay (make run takes TOFU=/path for TOFU)"
        yield f"benchmarks.{name}.source: no folder for {benchmark.source!r}; {fix}"


def _leak(key: str, benchmark: Leak) -> Iterable[str]:
    if benchmark.facts == "texts" and "forget" not in benchmark.documents.values():
        yield f"{key}.documents: facts texts take the texts' files, one or more of them to forget: {{a.txt: forget}}"
    if benchmark.facts != "texts" and benchmark.documents:
        yield f"{key}.documents: not read by facts {benchmark.facts}; leave it out, or say texts"
    if benchmark.facts != "invented" and benchmark.source is None:
        what = "the texts" if benchmark.facts == "texts" else benchmark.file
        yield f"{key}.source: facts {benchmark.facts} take the key of `sources` that names the folder of {what}"
    if benchmark.facts == "invented":
        if benchmark.source is not None:
            yield f"{key}.source: {benchmark.source!r} is not read by facts invented; leave it out, or say mquake"
        if not 0 < benchmark.forget_share < 1:
            yield f"{key}.forget_share: {benchmark.forget_share} should be above 0 and below 1, so that some facts stay"
    yield from _below(key, benchmark)


def _below(key: str, benchmark: Leak | Lume | Umu) -> Iterable[str]:
    for name in sorted(benchmark.files()):
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            yield f"{key}.{benchmark.files_key}: {name!r} should be a path below the folder sources.{benchmark.source}"


def _lume(config: Config, key: str, benchmark: Lume) -> Iterable[str]:
    """What the route and the origin of task 3's biographies take, and what they do not read."""
    read, published = benchmark.task3 == "file", benchmark.route == "published"
    if read and benchmark.route != "llm":
        yield (
            f"{key}.task3: biographies of a file need questions, which language models ask; say route: llm with a "
            f"backend for its roles, or task3: invented"
        )
    if read and not benchmark.file:
        yield f"{key}.file: task3 file takes the name of the file with biographies"
    if benchmark.file and not read:
        yield f"{key}.file: {benchmark.file!r} is not read by task3 invented; leave it out, or say task3: file"
    if (read or published) and benchmark.source is None:
        what = "LUME's published files" if published else "the file"
        yield f"{key}.source: give the key of `sources` that names the folder of {what}"
    if benchmark.source is not None and not (read or published):
        yield (
            f"{key}.source: {benchmark.source!r} is not read by route {benchmark.route} with task3 invented; leave it "
            "out, or say route: published"
        )
    yield from _below(key, benchmark)
    if benchmark.route == "llm":
        for role in ("writer", "questioner", "verifier_1", "verifier_2", "verifier_3"):
            yield from check_llm.offline_problem(config, role, f"{key}.route")
        for task, size in benchmark.sizes:
            if size.background:
                yield (
                    f"{key}.sizes.{task}.background: {size.background} documents, but language models write none for "
                    "the background; set it to 0, or say route: templates"
                )


def _leak_models(config: Config, key: str, benchmark: Leak) -> Iterable[str]:
    """What only language models do has one for every role."""
    if benchmark.facts == "texts":
        yield from check_llm.offline_problem(config, "extractor", f"{key}.facts")
    if benchmark.route == "llm":
        for role in ("composer", "decomposer", "uniqueness"):
            yield from check_llm.offline_problem(config, role, f"{key}.route")
        if benchmark.asked_per_type < benchmark.per_type:
            n = benchmark.per_type
            yield f"{key}.asked_per_type: {benchmark.asked_per_type} cannot give {n} of each type (per_type); raise it"


def _files(key: str, benchmark: Files, hub: str | None) -> Iterable[str]:
    problems = []
    for name, entry in benchmark.sets.items():
        for word in ("file", "align"):
            path = PurePosixPath(getattr(entry, word) or "")
            if path.is_absolute() or ".." in path.parts or path.parts[:1] == ("~",):
                where = f"sources.{benchmark.source}"
                problems.append(f"{key}.sets.{name}.{word}: {str(path)!r} should be a path below the folder {where}")
            elif hub and len(path.parts) not in (0, 2) and not str(path).startswith(SCHOOL):
                problems.append(f"{key}.sets.{name}.{word}: {str(path)!r} should be <configuration>/<split> of {hub}")
    for split, sets in benchmark.splits.items():
        for name in sets:
            problems += known(f"{key}.splits.{split}", name, benchmark.sets, "set")
    if not problems:
        try:
            checked(benchmark.spec(), key)
        except FilesError as error:
            problems = [str(error)]
    yield from problems


def _school(config: Config, key: str, benchmark: Files) -> Iterable[str]:
    """Subjects of which there are questions, and a model for every role that writes and checks them."""
    for subject in benchmark.subjects():
        yield from known(f"{key}.sets", subject, SUBJECTS, "school subject")
    if benchmark.subjects() and benchmark.school.route == "llm":
        for role in SCHOOL_ROLES:
            yield from check_llm.offline_problem(config, role, f"{key}.school.route")
