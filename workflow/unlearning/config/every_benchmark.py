"""The sections that every benchmark has: how it is asked, judged and scored, and what its card says."""

from typing import Literal

from pydantic import Field

from unlearning.config.fields import Count, Licence, Name, Positive, Section, Text, Whole


class Asking(Section):
    """How a benchmark's items are answered."""

    batch_size: Positive = Field(256, description="items answered side by side")
    max_new_tokens: Positive = Field(32, description="longest answer")
    backend: Literal["transformers", "vllm"] = Field(
        "transformers",
        description="who writes the answers; vllm (envs/vllm.txt) is for large models on GPUs, likelihoods stay with "
        "transformers",
    )


class Card(Section):
    """What a publisher decides about a data set's card, results/publish/<benchmark>/<cut>/README.md."""

    license: Licence | None = Field(
        None,
        description="licence identifier as on the Hugging Face Hub; null = cc-by-4.0 for built data, unknown for files",
    )
    title: Text | None = Field(None, description="the data's name for people; null = made of benchmark and cut")


class Judging(Section):
    """How the judge `llm` is shown answers, and what it says of them."""

    scale: Literal["verdict", "grade"] = Field("verdict", description="right or wrong, or a grade from 0 to 10")
    form: Literal["single", "pair", "list"] = Field("single", description="answers per prompt: one, two, or list_size")
    list_size: Whole = Field(8, ge=2, le=20, description="answers per prompt of the form list")

    @property
    def size(self) -> int:
        """Answers per prompt."""
        return {"single": 1, "pair": 2, "list": self.list_size}[self.form]


class Harness(Section):
    """Tasks of EleutherAI's lm-evaluation-harness behind one metric; asked only where the metric is listed."""

    tasks: list[Text] = Field(
        [], description="names of tasks, groups or tags (`lm_eval ls tasks` lists the harness's own, data from the Hub)"
    )
    include: Text | None = Field(
        None,
        description="folder below the project with local tasks in the harness's YAML format, data beside them",
    )
    mmlu_csv: Name | None = Field(
        None,
        description="of mmlu, instead of tasks: key of `sources`, folder of MMLU's own CSV files, dev and test",
    )
    metric: Text = Field("acc", description="the harness's metric that counts; bbh_zeroshot has exact_match")
    filter: Text = Field("none", description="the harness's filter that counts; bbh_zeroshot has flexible-extract")
    limit: Positive | None = Field(
        None, description="questions drawn per task, by `seed`, the same for every model; null = all"
    )
    fewshot: Count | None = Field(
        None, description="worked examples before each question, unless the task fixes 0; null = the task's own number"
    )
    batch_size: Positive = Field(16, description="texts read side by side")
    seed: Whole = Field(0, description="seed of what is drawn: questions, worked examples")


class Encoder(Section):
    """The sentence encoder behind cosine similarities; asked only where a metric reads them."""

    name: Text | None = Field(
        None, description="a sentence-transformers model by name or folder; null = all-MiniLM-L6-v2 as installed"
    )
    revision: Text | None = Field(None, description="its revision on the hub")
    batch_size: Positive = Field(64, description="texts embedded side by side")


class Mixed(Section):
    """Mixed prompts: a question to forget and one to retain in one prompt."""

    pairing: Literal["random", "similarity_rank"] = Field(
        "random", description="which retain question each question to forget is paired with"
    )
    rank: Positive = Field(
        1800,
        description="for similarity_rank: the retain question at this place by likeness to the one to forget; at most "
        "as many as a split has to retain",
    )
    stress_lines: Count = Field(
        10, description="lines of the stress test, four questions to forget each, in 18 prompts a line; 0 = none"
    )
    seed: Whole = Field(0, description="seed of the pairs")


class Benchmark(Section):
    """What every benchmark has, however its data are built."""

    card: Card = Field(Card(), description="what the data's card says")
    asking: Asking = Field(Asking(), description="how the items are answered")
    judge: Text = Field("rule", description="who decides whether an answer is right")
    second_judges: list[Text] = Field([], description="who judges the same answers too; adds their SE and Cohen's κ")
    judging: Judging = Field(Judging(), description="how the judge llm is asked; it answers as roles.judge")
    encoder: Encoder = Field(Encoder(), description="who embeds answers, for cosine similarities")
    metrics: list[Name] = Field(min_length=1, description="what is scored")
    harness: dict[Name, Harness] = Field(
        {}, description="reasoning, mmlu -> tasks of lm-evaluation-harness behind the metric of that name"
    )
