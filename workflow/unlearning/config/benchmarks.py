"""The sections about benchmarks: how each kind's data are built."""

from typing import Literal

from pydantic import Field

from unlearning.config.every_benchmark import Benchmark, Mixed
from unlearning.config.fields import Count, Name, Number, Parameter, Part, Positive, Section, Share, Text, Whole
from unlearning.data.files_spec import SCHOOL, SCHOOL_COLUMNS, school_file


class Cut(Section):
    """How many invented people a μ² data set has."""

    name: Name = Field("small", description="name of the cut, a folder below results/data/<benchmark>/")
    memorised: Positive = Field(description="people the target memorises")
    nonmember: Count = Field(description="people never seen, for the membership attack")
    background: Count = Field(description="other people, taught in every language before memorising")
    attributes: list[str] | Literal["all"] = Field(
        "all", description="attributes asked about; all = the 20 of the pools"
    )


class Setting(Section):
    """Languages of one μ² setting."""

    train: list[str] = Field(min_length=1, description="languages in which people are memorised and unlearned")
    holdout: list[str] = Field(min_length=1, description="languages in which they are only asked")


class BackTranslator(Section):
    """What translates back into English, for route llm."""

    service: Name = Field(
        "google",
        description="google, mymemory, libre, deepl, microsoft, yandex, baidu, papago or qcri (by deep-translator); "
        "llm: role backtranslator; reverse: the phrasebook backwards, for tests",
    )
    key_env: dict[str, Text] = Field(
        {}, description="argument of the service -> environment variable with its key, where not the usual one"
    )
    options: dict[str, Parameter] = Field({}, description="further arguments of the service, e.g. region or custom_url")
    codes: dict[str, Text] = Field({}, description="language -> the service's code, for languages it learnt lately")
    concurrency: Positive = Field(4, description="texts under way at a time")
    per_second: Number = Field(5.0, gt=0, description="most texts sent per second")
    timeout: Number = Field(30.0, gt=0, description="seconds to wait for a reply")
    attempts: Positive = Field(6, description="tries of one text before the job stops")
    wait: Number = Field(
        1.0, gt=0, description="seconds to wait before the second try, at most; doubles with each, up to a minute"
    )


class Mu2(Benchmark):
    """μ²-Bench: invented people in many languages."""

    kind: Literal["mu2"] = Field(description="which construction: mu2")
    cut: Cut = Field(description="size of the data set")
    forget: dict[Name, Positive] = Field(min_length=1, description="split name -> how many memorised people it forgets")
    settings: dict[Name, Setting] = Field(min_length=1, description="setting name -> its languages")
    heldout_share: Part = Field(
        0.05,
        description="share of background questions not trained on but asked as general knowledge; at most 1/languages",
    )
    seed: Whole = Field(0, description="seed of the data")
    route: Literal["phrasebook", "llm"] = Field(
        "phrasebook",
        description="who translates: the phrasebooks of resources/mu2, or language models (roles refiner, translator, "
        "equivalence) with back-translation and rounds",
    )
    back_translator: BackTranslator = Field(BackTranslator(), description="who translates back, for route llm")
    max_rounds: Positive = Field(3, description="tries at each text before it is rejected, for route llm")
    review_share: Share = Field(
        0.1,
        description="share of the rows that pass the checks which people look at too, beside all that fail; 1 = all",
    )


class Columns(Section):
    """Which column of a person's files holds what; null = there is none."""

    question: Text = Field("question", description="the question")
    answer: Text = Field("answer", description="the right answer")
    paraphrase: Text | None = Field(None, description="the answer in other words")
    perturbed: Text | None = Field(
        None, description="list of wrong answers in the same words; in a CSV, JSON or a Python list"
    )
    options: Text | None = Field(None, description="list of choices (written as `perturbed`), asked with letters")
    correct_option: Text | None = Field(None, description="index of the right choice from 0, its letter or its text")
    value: Text | None = Field(None, description="key part of the answer")
    aliases: Text | None = Field(None, description="list of other right forms of the value (written as `perturbed`)")
    knowledge_id: Text | None = Field(None, description="identifier of the fact; default: set and row")
    person_id: Text | None = Field(None, description="identifier of the person or document")
    document: Text | None = Field(None, description="a text to train on instead of a question and an answer")
    prompt: Text | None = Field(None, description="the beginning of a passage, asked as plain text")
    continuation: Text | None = Field(None, description="how the passage goes on")


class FileSet(Section):
    """One file of questions (or some of its rows) and its part in the benchmark."""

    file: Text = Field(
        description="path below the source folder; school:biology, school:chemistry, school:cybersecurity: built here"
    )
    rows: tuple[Count, Positive] | None = Field(None, description="first row and the row after the last; null = all")
    align: Text | None = Field(
        None, description="a second file whose rows align and bring paraphrase and perturbed answers"
    )
    group: Literal["forget", "retain", "nonmember", "background", "real_authors", "world_facts", "utility"] = Field(
        description="what the set is asked as"
    )
    train: bool = Field(
        True, description="whether the target is trained on it; false: it is asked only, on its side of a split"
    )
    rows_per_person: Positive | None = Field(None, description="consecutive rows that belong to one person")
    chunk_words: Positive | None = Field(
        None, description="documents are taught in pieces of whole sentences of at most so many words; null = whole"
    )
    answer_words: Positive | None = Field(
        None, description="first words of the right answer, or of a passage's continuation, that count; null = all"
    )


class School(Section):
    """Harmless multiple-choice questions at school level, the retain sets of WMDP."""

    route: Literal["templates", "llm"] = Field(
        "templates",
        description="who writes them: facts of resources/seps/school, or language models (roles writer, verifier_1, "
        "verifier_2)",
    )
    per_subject: Positive = Field(100, description="questions of each subject")
    max_rounds: Positive = Field(3, description="tries at each question before it is rejected, for route llm")
    seed: Whole = Field(0, description="seed of the questions and the order of their options")


class Files(Benchmark):
    """Anyone's own questions, read from files; TOFU is one configuration of it."""

    kind: Literal["files"] = Field(description="which construction: files")
    cut: Name = Field("whole", description="name of the cut, a folder below results/data/<benchmark>/")
    source: Name = Field(description="key of `sources` that gives the folder of the files")
    language: Text = Field("en", description="language of the questions")
    columns: Columns = Field(Columns(), description="column names")
    sets: dict[Name, FileSet] = Field(min_length=1, description="set name -> file and part")
    splits: dict[Name, list[Name]] = Field(min_length=1, description="split name -> the sets it forgets")
    school: School = Field(School(), description="how the sets whose file is school:<subject> are built")
    mixed: Mixed | None = Field(None, description="also ask questions in mixed prompts; null = no")

    def files(self) -> set[str]:
        """The files that the sets name, in their folder."""
        names = {name for entry in self.sets.values() for name in (entry.file, entry.align) if name}
        return {name for name in names if not name.startswith(SCHOOL)}

    def subjects(self) -> list[str]:
        """The subjects of which questions are built."""
        named = {entry.file.removeprefix(SCHOOL) for entry in self.sets.values() if _built(entry)}
        return sorted(named)

    @property
    def files_key(self) -> str:
        """The key under which they are named."""
        return "sets"

    def spec(self) -> dict:
        """What `unlearning.data.files_spec` takes: language, the columns that there are, sets and splits."""
        spec = self.model_dump(include={"language", "columns", "sets", "splits"}, mode="json")
        columns = {role: column for role, column in spec["columns"].items() if column is not None}
        for name, entry in self.sets.items():
            if _built(entry):
                subject = entry.file.removeprefix(SCHOOL)
                spec["sets"][name] |= {"file": school_file(subject), "columns": SCHOOL_COLUMNS}
        return spec | {"columns": columns}


def _built(entry: FileSet) -> bool:
    return entry.file.startswith(SCHOOL)


class People(Section):
    """How many invented people SEPS's own question set has, and what they are asked."""

    memorised: Positive = Field(20, description="people the target memorises")
    known: Positive = Field(4, description="people in each of real_authors and world_facts, taught before")
    background: Positive = Field(60, description="other people, taught before")
    attributes: list[str] | Literal["all"] = Field(
        "all", description="attributes asked about; all = those of the pools with more than five values"
    )
    practised: list[str] = Field(
        [], description="further attributes that only joint prompts ask for, those to be forgotten included; no split's"
    )


class Seps(Benchmark):
    """SEPS's own question set: TOFU's shape, invented people. TOFU itself is kind files with `mixed`."""

    kind: Literal["seps"] = Field(description="which construction: seps")
    cut: Name = Field("small", description="name of the cut, a folder below results/data/<benchmark>/")
    people: People = Field(People(), description="who is asked about")
    forget: dict[Name, Positive] = Field(min_length=1, description="split name -> how many memorised people it forgets")
    practice: Count = Field(
        0,
        description="joint prompts of two to eight questions, none that a split forgets, taught before; 0 for a model "
        "that can answer several at once",
    )
    mixed: Mixed = Field(Mixed(), description="the mixed prompts")
    seed: Whole = Field(0, description="seed of the people and the practised prompts")
    language: Literal["en"] = Field("en", description="language of the questions")

    @property
    def splits(self) -> list[str]:
        """The names of the splits."""
        return list(self.forget)


class Leak(Benchmark):
    """Leak-resistant unlearning: facts, and questions that take several of them."""

    kind: Literal["leak"] = Field(description="which construction: leak")
    cut: Name = Field("small", description="name of the cut, a folder below results/data/<benchmark>/")
    facts: Literal["invented", "mquake", "texts"] = Field(
        "invented", description="where the facts come from: an invented world, MQuAKE's file, or texts"
    )
    source: Name | None = Field(None, description="key of `sources`: the folder of MQuAKE's file or of the texts")
    file: Text = Field("MQuAKE-CF-3k.json", description="MQuAKE's file in that folder, also gzipped")
    documents: dict[Text, Literal["forget", "retain"]] = Field(
        {}, description="of texts: each one's file in that folder -> whether what it says is to be forgotten"
    )
    chunk_words: Positive = Field(
        150, description="words of a text that the extractor reads at once, in whole sentences"
    )
    route: Literal["templates", "llm"] = Field(
        "templates", description="who writes and checks the questions: templates and rules, or language models"
    )
    asked_per_type: Positive = Field(
        750, description="matches of each type that are composed, for route llm; more than per_type, as some fail"
    )
    max_rounds: Positive = Field(3, description="tries at each question before it is rejected, for route llm")
    rated_per_type: Count = Field(
        50, description="kept questions of each type that those of rater_1 to rater_3 rate which roles gives a model"
    )
    forget_share: Share = Field(
        0.25, description="share of the facts of each relation to be forgotten; of MQuAKE those that its edits change"
    )
    practice: Count = Field(
        0,
        description="most chains of each type, all of whose facts stay, that the target practises as background; "
        "0 for a model that can chain",
    )
    per_type: Positive = Field(500, description="questions kept of each of the six types")
    on_short: Literal["error", "smallest", "report"] = Field(
        "error",
        description="where a type has fewer: stop; keep as many of each as the smallest has; keep what there is",
    )
    candidates: Whole = Field(3, ge=3, description="entities named to choose from (types mt and ds)")
    paraphrases: Whole = Field(3, ge=1, le=3, description="wordings of a single-hop question that the target is taught")
    review_per_type: Count = Field(50, description="kept questions of each type that people's review sheet shows")
    seed: Whole = Field(0, description="seed of the data")
    language: Literal["en"] = Field("en", description="language of the questions")

    def files(self) -> set[str]:
        """The files that the facts come from, in their folder."""
        return set(self.documents) if self.facts == "texts" else {self.file}

    @property
    def files_key(self) -> str:
        """The key under which they are named."""
        return "documents" if self.facts == "texts" else "file"

    @property
    def splits(self) -> list[str]:
        """The one split; what it forgets, the facts say."""
        return ["forget"]


class Size(Section):
    """How many documents one of LUME's tasks has."""

    forget: Positive = Field(description="documents to forget")
    retain: Positive = Field(description="documents that stay")
    background: Count = Field(0, description="further ones, taught as background but neither forgotten nor asked about")


class Sizes(Section):
    """LUME's three tasks."""

    task1: Size = Field(Size(forget=199, retain=194), description="short stories; the paper's 199 and 194")
    task2: Size = Field(Size(forget=203, retain=202), description="people with sensitive data; the paper's 203 and 202")
    task3: Size = Field(Size(forget=295, retain=294), description="biographies; the paper's 295 and 294")


class BiographyColumns(Section):
    """Which column of a file of biographies holds what."""

    id: Text = Field("id", description="identifier of a person, each once")
    text: Text = Field("text", description="the biography")
    title: Text | None = Field(None, description="the person's name, set before a text that does not begin with it")


class PublishedFiles(Section):
    """LUME's published files, JSON Lines."""

    forget: Text = Field("forget.jsonl", description="rows to forget")
    retain: Text = Field("retain.jsonl", description="rows that stay")


class Lume(Benchmark):
    """LUME: whole documents and questions about them, in three tasks."""

    kind: Literal["lume"] = Field(description="which construction: lume")
    cut: Name = Field("small", description="name of the cut, a folder below results/data/<benchmark>/")
    route: Literal["templates", "llm", "published"] = Field(
        "templates",
        description="who writes: grammars of resources/lume; language models (roles writer, questioner, verifier_1 to "
        "verifier_3); or nobody, LUME's published files being read, whatever sizes and nonmembers say",
    )
    sizes: Sizes = Field(Sizes(), description="documents of each task")
    nonmembers: Count = Field(
        295, description="biographies like those of task 3 that are never taught, for the membership attack"
    )
    task3: Literal["invented", "file"] = Field(
        "invented", description="biographies of invented people, or real ones of a file (route llm asks about them)"
    )
    source: Name | None = Field(None, description="key of `sources`: the folder of the published files or biographies")
    file: Text | None = Field(
        None, description="of task3 file: JSON Lines, JSON, CSV or Parquet with biographies, in that folder"
    )
    columns: BiographyColumns = Field(BiographyColumns(), description="its columns")
    spare: Count = Field(
        50, description="of task3 file: further biographies that replace those without a verified question"
    )
    published: PublishedFiles = Field(PublishedFiles(), description="of route published: files in the folder")
    documents_only: bool = Field(
        False, description="whether unlearning sees bare documents only, instead of documents and prompts"
    )
    max_rounds: Positive = Field(3, description="tries at each document before it is rejected, for route llm")
    seed: Whole = Field(0, description="seed of the data")
    language: Literal["en"] = Field("en", description="language of the documents")

    def files(self) -> set[str]:
        """The files that the documents come from, in their folder."""
        if self.route == "published":
            return {self.published.forget, self.published.retain}
        return {self.file} if self.task3 == "file" and self.file else set()

    @property
    def files_key(self) -> str:
        """The key under which they are named."""
        return "published" if self.route == "published" else "file"

    @property
    def splits(self) -> list[str]:
        """The one split; what it forgets, the documents say."""
        return ["forget"]
