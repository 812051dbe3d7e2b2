"""A small model plays every role once, on a few invented people: what it gets wrong is refused, row by row, with why.

vLLM guides its replies by their schema (in the environment that has vLLM, docs/llm.md). Not guided, none of its replies
can be used, and the job has to stop. μ²-Bench is built by its own scripts (refining, values, pairs, judging);
the prompts are watched at the door.
"""

import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import yaml
from smollm2 import ROOT, backend, python, ready

ATTRIBUTES, VALUES, LANGUAGE = ["favourite_colour", "hobby"], 6, "es"
PEOPLE = {"memorised": 4, "nonmember": 1, "background": 1}
DOOR = {"name": "small", "backend": backend("vllm"), "reask": 1, "cap": None, "price": None}
SAMPLING = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 128, "seed": 0}
SHARED = {"languages_file": str(ROOT / "resources/mu2/languages.yaml"), "max_rounds": 2}
JUDGED = ("single", "pair", "list")


class Watch:
    """Every prompt that goes through the door, with what came back."""

    def __enter__(self) -> "Watch":
        from unlearning.llm import complete, roles

        self.seen: list[pd.DataFrame] = []
        self._modules, self._complete = (complete, roles), complete.complete
        for module in self._modules:
            module.complete = self
        return self

    def __exit__(self, *_) -> None:
        for module in self._modules:
            module.complete = self._complete

    def __call__(self, prompts, door, progress=True, **keys):
        completions, usage = self._complete(prompts, door, progress=False, **keys)
        asked = prompts[["prompt_id", "role", "template"]].merge(completions, on="prompt_id", validate="1:1")
        self.seen.append(asked.assign(prompt=asked["template"].str.partition("@")[0]))
        return completions, usage

    def funnel(self) -> pd.DataFrame:
        """By role and prompt file: how many were asked, parsed, failed."""
        by = pd.concat(self.seen).groupby(["role", "prompt"])
        return by.agg(asked=("prompt_id", "size"), parsed=("parsed", "count"), failed=("failed", "count")).reset_index()


def roles(show) -> None:
    """The job that stops, the funnel by prompt, then what became of the rows."""
    if not ready(show):
        return
    if find_spec("vllm") is None:
        done = subprocess.run([python(), str(ROOT / "tests/heavy/llm.py"), "roles"], capture_output=True, text=True)
        print(done.stdout, done.stderr[-2000:] if done.returncode else "")
        last = (done.stdout.strip().splitlines() or ["nothing"])[-1]
        show(f"roles, by {python()}", last, "all met", done.returncode == 0)
        return
    stops(show)
    with tempfile.TemporaryDirectory() as folder, Watch() as watch:
        made = build(Path(folder))
        stages = {
            "English pairs refined": attempted(refine, made, len(pd.read_parquet(made / "english.parquet"))),
            "values translated": attempted(values, made, len(ATTRIBUTES) * VALUES),
            "pairs translated": attempted(pairs, made, len(pd.read_parquet(made / "english.parquet"))),
        }
        compared, judged = attempted(compare, made), judge(made)
    funnel = watch.funnel()
    print(f"\nSmolLM2-135M-Instruct in every role, guided\n{funnel.to_string(index=False)}\n")
    known = sorted(path.stem for path in (ROOT / "resources/prompts").glob("*.yaml"))
    show(
        "prompt files that were asked", funnel["prompt"].nunique(), f"= {len(known)}", sorted(funnel["prompt"]) == known
    )
    lost = int((funnel["asked"] - funnel["parsed"] - funnel["failed"]).sum())
    show("prompts that neither gave a reply of the right form nor a reason", lost, "= 0", lost == 0)
    for stage, (rows, stand, refused) in stages.items():
        show(f"{stage}: {stand} stand, {refused} refused with reasons, of", rows, "sum", rows == stand + refused)
    wrong = sum(refused for _, _, refused in stages.values()) + int(funnel["failed"].sum())
    show("mistakes that the funnel shows", wrong, "> 0", wrong > 0)
    for table in ("refined.parquet", "pairs.parquet"):
        bad = faulty(made, made / table)
        show(f"{table}: rows without their name or value, or refused by a check when read again", bad, "= 0", bad == 0)
    print(f"\nSaid to mean the same\n{compared}\n")
    print(f"Verdicts of the small judge against the right ones\n{judged.to_string(index=False)}\n")
    whole = (judged["right"] + judged["wrong"] + judged["failed"] == judged["answers"]).all()
    show("answers judged right, wrong or failed with a reason", int(judged["answers"].sum()), "all", bool(whole))


def stops(show) -> None:
    """Not guided: what comes of refining, and whether it says how many replies were of no use."""
    from unlearning.llm.complete import NoReplies

    DOOR["backend"] = backend("transformers")
    with tempfile.TemporaryDirectory() as folder:
        try:
            refine(build(Path(folder)))
            said = "it ended"
        except NoReplies as error:
            said = str(error).partition(". ")[0]
    DOOR["backend"] = backend("vllm")
    show("not guided: the job", said, "none of 12 replies can be used", "none of 12 replies can be used" in said)


def build(folder: Path) -> Path:
    """People and their English pairs from templates; pools of VALUES values, so that the run stays short."""
    from mu2_pairs import mu2_pairs
    from mu2_profiles import mu2_profiles

    found = yaml.safe_load((ROOT / "resources/mu2/pools.yaml").read_text(encoding="utf-8"))["attributes"]
    few = {a: {**found[a], "values": found[a]["values"][:VALUES]} for a in ATTRIBUTES}
    (folder / "pools.yaml").write_text(yaml.safe_dump({"attributes": few}, allow_unicode=True), encoding="utf-8")
    mu2_profiles(f"{folder}/pools.yaml", [], f"{folder}/profiles.parquet", PEOPLE, ATTRIBUTES, 0)
    mu2_pairs(f"{folder}/profiles.parquet", f"{ROOT}/resources/mu2/phrasebook/en.yaml", f"{folder}/english.parquet")
    for language in ("en", LANGUAGE):
        phrasebook_values(folder, language)
    return folder


def phrasebook_values(folder: Path, language: str) -> None:
    """Table `values` as people would have translated them, and `rounds` as if each had come back at once.

    So the pairs are translated even where the small model translates no value rightly.
    """
    from unlearning.data.phrasebook import read_phrasebook, read_pools, values_table
    from unlearning.tables.artifacts import write_table

    book = read_phrasebook(ROOT / f"resources/mu2/phrasebook/{language}.yaml")
    table = values_table(read_pools(folder / "pools.yaml"), book, language)
    write_table(table, folder / f"values_{language}.parquet", "values")
    texts = {part: None for part in ("question", "answer", "paraphrase")}
    texts |= {f"back_{part}": None for part in texts}
    rounds = table.assign(
        id=table["attribute"] + "/" + table["english_value"], back_value=table["english_value"], **texts
    )
    rounds = rounds.assign(round=1, verdict="accepted", reasons=[[] for _ in range(len(rounds))])
    write_table(rounds.drop(columns=["attribute", "english_value"]), folder / f"rounds_{language}.parquet", "rounds")


def tools(*names: str) -> dict:
    """What the scripts take to ask: prompt files, doors, sampling."""
    played = ("refiner", "translator", "equivalence", "backtranslator")
    files = [f"{ROOT}/resources/prompts/{name}.yaml" for name in (*names, "backtranslator")]
    return {"prompts": files, "doors": dict.fromkeys(played, DOOR), "sampling": dict.fromkeys(played, SAMPLING)}


def attempted(stage, made: Path, rows: int = 0):
    """What `stage` gives; where no reply of a role was of use its job fails and says so, which refuses all `rows`."""
    from unlearning.llm.complete import NoReplies

    try:
        return stage(made)
    except NoReplies as error:
        print(error)
        return (rows, 0, rows) if rows else str(error)


def refine(made: Path) -> tuple[int, int, int]:
    """(pairs, those with a refined text that passed, those left as they were)."""
    from mu2_refine import mu2_refine

    mu2_refine(
        f"{made}/english.parquet", f"{made}/values_en.parquet", f"{made}/pools.yaml",
        pairs=f"{made}/refined.parquet", rounds=f"{made}/refined_rounds.parquet", usage=f"{made}/usage.parquet",
        cut="tiny", store=f"{made}/llm", **SHARED, **tools("refiner", "equivalence_pair"),
    )  # fmt: skip
    rounds = pd.read_parquet(made / "refined_rounds.parquet")
    stand = int((rounds["verdict"] == "accepted").sum())
    refused = rounds.loc[rounds["verdict"] == "refused"].drop_duplicates("id", keep="last")
    last = set(refused["id"]) - set(rounds.loc[rounds["verdict"] == "accepted", "id"])
    told = sum(len(reasons) > 0 for reasons in refused.loc[refused["id"].isin(last), "reasons"])
    return rounds["id"].nunique(), stand, told


def values(made: Path) -> tuple[int, int, int]:
    """(values, accepted translations, those refused to the end)."""
    from mu2_values_llm import mu2_values_llm

    mu2_values_llm(
        f"{made}/pools.yaml", books=[], values=f"{made}/values_model.parquet", rounds=f"{made}/rounds_model.parquet",
        usage=f"{made}/usage.parquet", language=LANGUAGE, attributes=ATTRIBUTES, store=f"{made}/llm",
        back_translator={"service": "llm"},
        **SHARED, **tools("translator_value", "equivalence_value"),
    )  # fmt: skip
    rounds, stand = pd.read_parquet(made / "rounds_model.parquet"), len(pd.read_parquet(made / "values_model.parquet"))
    last = rounds.drop_duplicates("id", keep="last")
    refused = last[last["verdict"] == "refused"]
    return len(last), stand, sum(len(reasons) > 0 for reasons in refused["reasons"])


def pairs(made: Path) -> tuple[int, int, int]:
    """(pairs, accepted, rejected), translated from the English templates with the phrasebook's values."""
    from mu2_translate_llm import mu2_translate_llm

    mu2_translate_llm(
        f"{made}/english.parquet", f"{made}/values_{LANGUAGE}.parquet", f"{made}/rounds_{LANGUAGE}.parquet",
        f"{made}/pools.yaml", books=[], pairs=f"{made}/pairs.parquet", rejected=f"{made}/rejected.parquet",
        rounds=f"{made}/pairs_rounds.parquet", usage=f"{made}/usage.parquet", language=LANGUAGE, cut="tiny",
        back_translator={"service": "llm"}, store=f"{made}/llm", **SHARED,
        **tools("translator_pair", "equivalence_pair"),
    )  # fmt: skip
    rejected = pd.read_parquet(made / "rejected.parquet")
    print(f"\nPairs rejected by check\n{rejected['check'].value_counts().to_string()}")
    stand, refused = len(pd.read_parquet(made / "pairs.parquet")), rejected["id"].nunique()
    return len(pd.read_parquet(made / "english.parquet")), stand, refused


def compare(made: Path) -> str:
    """Role equivalence on English texts and values as themselves and as others; role backtranslator on true Spanish."""
    from unlearning.data.languages import read_languages
    from unlearning.data.llm_tools import open_tools
    from unlearning.data.pairs_llm import BACK, judge_pairs, source_rows
    from unlearning.data.phrasebook import read_pools
    from unlearning.data.values_llm import judge_values, value_rows

    pools, asking = read_pools(made / "pools.yaml"), tools("equivalence_pair", "equivalence_value")
    spoken = read_languages(SHARED["languages_file"])[LANGUAGE]
    rows = source_rows(pd.read_parquet(made / "english.parquet"), pools, spoken)
    texts = rows.assign(**{column: rows[f"en_{column.removeprefix('back_')}"] for column in BACK})
    words = value_rows(pools).assign(back_value=lambda t: t["english_value"])
    true = pd.read_parquet(made / f"values_{LANGUAGE}.parquet")
    told = []
    with open_tools(
        spoken, asking["prompts"], asking["doors"], asking["sampling"], 1, made / "llm", {"service": "llm"}
    ) as (held, _):
        for what, move in (("themselves", 0), ("others", 2)):
            moved = texts.assign(**{c: pd.Series([*texts[c][move:], *texts[c][:move]]) for c in BACK})
            same = len(moved) - len(judge_pairs(moved, held))
            moved = words.assign(back_value=[*words["back_value"][move:], *words["back_value"][:move]])
            alike = sum(not reasons for reasons in judge_values(moved, held))
            told.append(f"pairs beside {what}: {same} of {len(rows)}; values beside {what}: {alike} of {len(words)}")
        back = held.back(list(true["value"]))
    right = sum((b or "").casefold() == v for b, v in zip(back, true["english_value"].str.casefold(), strict=True))
    return "\n".join([*told, f"true {LANGUAGE} values that come back as they were: {right} of {len(true)}"])


def faulty(made: Path, table: Path) -> int:
    """Rows of a table of pairs that a fresh reading refuses: name or value gone, or any mechanical check."""
    from unlearning.data.checking import run_checks
    from unlearning.data.context import offline_context
    from unlearning.data.languages import read_languages

    if not table.exists():
        return 0
    found = pd.read_parquet(table)
    gone = [row.name not in row.question or row.value not in row.answer for row in found.itertuples(index=False)]
    if found.empty:
        return 0
    languages, language = read_languages(SHARED["languages_file"]), found["language"].iloc[0]
    known = pd.read_parquet(made / f"values_{language}.parquet")
    _, refused = run_checks(found, offline_context(languages[language], tuple(languages), known))
    return sum(gone) + refused["id"].nunique()


def judge(made: Path) -> pd.DataFrame:
    """Every scale and form of the judge on right and wrong answers in turn: how many it called what."""
    from judge_llm import judge_llm
    from unlearning.judges.llm import PROMPTS
    from unlearning.llm.complete import NoReplies
    from unlearning.tables.artifacts import write_table

    told, questions = examination(pd.read_parquet(made / "english.parquet"))
    write_table(told, made / "answers.parquet", "answers")
    write_table(questions, made / "items.parquet", "items")
    rows = []
    for scale, forms in PROMPTS.items():
        for form, size in zip(JUDGED, (1, 2, 4), strict=True):
            try:
                judge_llm(
                    f"{made}/answers.parquet", f"{made}/items.parquet", f"{ROOT}/resources/prompts/{forms[form]}.yaml",
                    f"{made}/verdicts.parquet", f"{made}/usage.parquet", scale, size, DOOR, SAMPLING, f"{made}/llm",
                )  # fmt: skip
            except NoReplies as error:
                print(error)
                rows.append((scale, form, len(told), 0, 0, len(told)))
                continue
            said = pd.read_parquet(made / "verdicts.parquet")
            agrees = said["correct"].astype(object) == [answered_rightly(i) for i in range(len(said))]
            failed = said["failed"].notna()
            rows.append((scale, form, len(said), (agrees & ~failed).sum(), (~agrees & ~failed).sum(), failed.sum()))
    return pd.DataFrame(rows, columns=["scale", "form", "answers", "right", "wrong", "failed"])


def answered_rightly(i: int) -> bool:
    """Half the answers are right, of either attribute."""
    return i % 4 in (0, 3)


def examination(english: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(answers, items): every English pair as an item, answered rightly or with another value of its pool."""
    from score_fakes import answers, items

    told = english.reset_index(drop=True)
    questions = items(*(("forget", r.knowledge_id, "en", r.answer, r.value) for r in told.itertuples()))
    questions = questions.assign(benchmark="mu2", task="qa", modality="text")
    questions["messages"] = [[{"role": "user", "content": question}] for question in told["question"]]
    texts = {}
    for i, row in enumerate(told.itertuples()):
        others = told.loc[(told["attribute"] == row.attribute) & (told["value"] != row.value), "value"]
        given = row.answer if answered_rightly(i) else row.answer.replace(row.value, others.iloc[0])
        texts[questions["item_id"][i]] = given
    return answers(texts), questions
