"""The columns of every table: name, Arrow type, description, unit; those of data construction are in `tables.built`.

A table is a tuple of `Column`s. `schema(name)` turns it into a pyarrow schema whose fields carry the description and
the unit as metadata. Writers and readers check against it (`unlearning.tables.artifacts`).
"""

import pyarrow as pa

from unlearning.tables.built import BUILT
from unlearning.tables.columns import (
    CANDIDATES,
    FIGURES,
    IMAGE,
    INT,
    MESSAGES,
    PARTS,
    REAL,
    TEXT,
    TEXTS,
    VECTOR,
    Column,
)

VERSION = "1"

GROUPS = (
    "forget",
    "retain",
    "nonmember",
    "background",
    "real_authors",
    "world_facts",
    "real_people",
    "utility",
    "mixed",
)

TABLES: dict[str, tuple[Column, ...]] = {
    **BUILT,
    "examples": (
        Column("example_id", TEXT, "identifier, unique in the table"),
        Column("benchmark", TEXT, "benchmark name"),
        Column("group", TEXT, "role in training: memorised, background"),
        Column("knowledge_id", TEXT, "language-free identifier of what is taught"),
        Column("person_id", TEXT, "person or document the example belongs to", null=True),
        Column("language", TEXT, "language code"),
        Column("modality", TEXT, "text or image"),
        Column("image", IMAGE, "the picture shown, where there is one", null=True),
        Column("messages", MESSAGES, "the conversation before the answer"),
        Column("answer", TEXT, "what the model is taught to answer"),
        Column("value", TEXT, "the key part of the answer", null=True),
        Column("domain", TEXT, "subject area, where the data has several: RMU takes them in turn", null=True),
    ),
    "items": (
        Column("item_id", TEXT, "identifier, unique in the table"),
        Column("source_item_id", TEXT, "the item this one was made from", null=True),
        Column("benchmark", TEXT, "benchmark name"),
        Column("task", TEXT, "kind of question"),
        Column("group", TEXT, f"group before a split is applied: {', '.join(GROUPS)}"),
        Column("knowledge_id", TEXT, "language-free identifier of what is asked"),
        Column("person_id", TEXT, "person or document the item belongs to", null=True),
        Column("language", TEXT, "language code"),
        Column("modality", TEXT, "text or image"),
        Column("image", IMAGE, "the picture shown, where there is one", null=True),
        Column("messages", MESSAGES, "the conversation before the answer"),
        Column("reference", TEXT, "the right answer"),
        Column("value", TEXT, "the key part of the reference", null=True),
        Column("aliases", TEXTS, "other forms of the value that are right too"),
        Column("options", TEXTS, "choices of a multiple-choice question"),
        Column("correct_option", INT, "index of the right option", "index", null=True),
        Column("candidates", CANDIDATES, "further answers to score: paraphrase, perturbed_0 …"),
        Column("parts", PARTS, "the items that a mixed prompt asks, in order, each with its group in the split"),
        Column("split", TEXT, "the split whose runs are asked it; null = every run", null=True),
    ),
    "splits": (
        Column("split", TEXT, "name of the split"),
        Column("knowledge_id", TEXT, "language-free identifier"),
        Column("group", TEXT, "forget or retain"),
    ),
    "answers": (
        Column("item_id", TEXT, "the item answered"),
        Column("sample", INT, "trial number of a sampled answer", "index"),
        Column("part", INT, "slot inside a mixed prompt, from 1; 0 otherwise", "index"),
        Column("text", TEXT, "what the model wrote"),
        Column("n_tokens", INT, "tokens generated", "tokens"),
        Column("finish_reason", TEXT, "stop or length"),
    ),
    "likelihoods": (
        Column("item_id", TEXT, "the item scored"),
        Column("candidate", TEXT, "reference, paraphrase, perturbed_0 …"),
        Column("part", INT, "slot inside a mixed prompt, from 1; 0 otherwise", "index"),
        Column("n_tokens", INT, "answer tokens, end-of-text included", "tokens"),
        Column("logprob", REAL, "log-probability of the whole answer", "nats"),
        Column("token_logprobs", pa.list_(pa.float32()), "log-probability of each answer token", "nats"),
        Column("argmax_hit", pa.list_(pa.bool_()), "whether the token was the most likely one"),
        Column("vocab_mean", pa.list_(pa.float32()), "mean log-probability under the model's own distribution", "nats"),
        Column("vocab_std", pa.list_(pa.float32()), "standard deviation of the same", "nats"),
        Column("value_mask", pa.list_(pa.bool_()), "whether the token belongs to the value"),
    ),
    "embeddings": (
        Column("item_id", TEXT, "the item answered"),
        Column("sample", INT, "trial number of a sampled answer", "index"),
        Column("part", INT, "slot inside a mixed prompt, from 1; 0 otherwise", "index"),
        Column("embedding", VECTOR, "sentence embedding of length 1; null of an empty text", null=True),
    ),
    "verdicts": (
        Column("item_id", TEXT, "the item judged"),
        Column("sample", INT, "trial number", "index"),
        Column("part", INT, "slot inside a mixed prompt, from 1; 0 of other items", "index"),
        Column("judge", TEXT, "name of the judge"),
        Column("score", REAL, "judged quality, 1 best", "0-1", null=True),
        Column("correct", pa.bool_(), "judged equivalent to the reference", null=True),
        Column("raw", TEXT, "the judge's own words or rule", null=True),
        Column("failed", TEXT, "why there is no verdict", null=True),
    ),
    "harness": (
        Column("utility", TEXT, "the metric of ours that it is for: reasoning, mmlu"),
        Column("task", TEXT, "task of lm-evaluation-harness; groups are taken apart"),
        Column("metric", TEXT, "the harness's metric"),
        Column("filter", TEXT, "the harness's filter of the answer before, or none"),
        Column("counted", pa.bool_(), "whether it is the metric and filter that the configuration takes"),
        Column("value", REAL, "the figure; null where the harness gives none", null=True),
        Column("stderr", REAL, "its standard error by the harness, over questions", null=True),
        Column("n", INT, "questions asked", "count"),
        Column("fewshot", INT, "worked examples before each question", "count"),
        Column("version", TEXT, "version of the task"),
    ),
    "prompts": (
        Column("prompt_id", TEXT, "identifier, unique in the table"),
        Column("role", TEXT, "the part an LLM plays: translator, judge …"),
        Column("template", TEXT, "prompt file and version: name@version"),
        Column("inputs", TEXT, "what was filled in, as JSON"),
        Column("messages", MESSAGES, "what the model reads"),
        Column("sampling", TEXT, "temperature, top_p, max_tokens and seed, as JSON"),
        Column("samples", INT, "how many replies are drawn", "count"),
        Column("reply", TEXT, "kind of reply expected, or text"),
    ),
    "completions": (
        Column("prompt_id", TEXT, "the prompt answered"),
        Column("sample", INT, "number of the draw", "index"),
        Column("text", TEXT, "what the model wrote last, as it came; null where no reply came", null=True),
        Column("parsed", TEXT, "what it says, as JSON (plain text for kind text)", null=True),
        Column("failed", TEXT, "why there is no parsed reply", null=True),
    ),
    "usage": (
        Column("role", TEXT, "the part the LLM played"),
        Column("backend", TEXT, "openai, vllm, transformers or offline"),
        Column("model", TEXT, "the model that answered", null=True),
        Column("prompts", INT, "rows of the prompts tables", "count"),
        Column("asked", INT, "replies used that this job asked for, those asked for again included", "count"),
        Column("from_store", INT, "replies used that other jobs had asked for", "count"),
        Column("input_tokens", pa.int64(), "tokens read for those asked", "tokens"),
        Column("output_tokens", pa.int64(), "tokens written for those asked", "tokens"),
        Column("cost", REAL, "of those asked, by the configuration's price; null where it has none", "USD", null=True),
        Column("failed", INT, "completions without a parsed reply", "count"),
    ),
    "ref_logprobs": (
        Column("example_id", TEXT, "the example scored"),
        Column("refusal", INT, "which of its language's refusals was scored; null = the answer", "index", null=True),
        Column("n_tokens", INT, "tokens scored, end-of-text included", "tokens"),
        Column("logprob", REAL, "log-probability of the whole answer or refusal under the reference model", "nats"),
    ),
    "train_log": (
        Column("step", INT, "optimiser step, from 1", "steps"),
        Column("epoch", REAL, "passes over the forget (or training) set so far", "epochs"),
        Column("loss", REAL, "weighted total", "nats", null=True),
        Column("forget_loss", REAL, "forget term before its weight", "nats", null=True),
        Column("retain_loss", REAL, "retain term before its weight", "nats", null=True),
        Column("grad_norm", REAL, "gradient norm before clipping", "", null=True),
        Column("learning_rate", REAL, "learning rate of the step", "1/step"),
        Column("tokens", INT, "non-padding tokens in the step", "tokens"),
        Column("seconds", REAL, "wall time of the step", "seconds"),
        Column("memory_mib", REAL, "peak memory of the process so far", "MiB"),
    ),
    "selection": (
        Column("benchmark", TEXT, "benchmark name"),
        Column("base_model", TEXT, "name of the base model"),
        Column("setting", TEXT, "setting of the benchmark"),
        Column("split", TEXT, "what is forgotten"),
        Column("method", TEXT, "the method searched"),
        Column("seed", INT, "seed of the run"),
        Column("criterion", TEXT, "name of the criterion"),
        Column("asks", TEXT, "what the criterion asks for, in words"),
        Column("candidate", INT, "number of the candidate, from 1; its run is <method>~<number>", "index"),
        Column("changed", TEXT, "what it changes of the method's entry, as JSON"),
        Column("epochs", INT, "epochs it was to be trained", "epochs"),
        Column("figures", FIGURES, "the numbers that the criterion looked at"),
        Column("eligible", pa.bool_(), "whether it meets the criterion"),
        Column("chosen", pa.bool_(), "whether its model is the method's"),
        Column("note", TEXT, "why it is not eligible, or was chosen all the same", null=True),
    ),
    "dropped_models": (Column("model", TEXT, "model.json of a model that keep_models does not keep"),),
    "scores": (
        Column("benchmark", TEXT, "benchmark name"),
        Column("base_model", TEXT, "name of the base model"),
        Column("setting", TEXT, "setting of the benchmark"),
        Column("split", TEXT, "what is forgotten"),
        Column("method", TEXT, "method, or base, target, retrain"),
        Column("seed", INT, "seed of the run"),
        Column("epoch", INT, "epochs trained, 0 = before", "epochs"),
        Column("attack", TEXT, "none or the attack's name"),
        Column("group", TEXT, "which items"),
        Column("language", TEXT, "a code, train, holdout, all, or holdout:low and the like"),
        Column("task", TEXT, "sub-score of the metric, all where there is none"),
        Column("metric", TEXT, "metric name"),
        Column("value", REAL, "the number", "", null=True),
        Column("n", INT, "knowledge instances behind it", "count"),
        Column("ci_low", REAL, "2.5th percentile of the bootstrap", "", null=True),
        Column("ci_high", REAL, "97.5th percentile of the bootstrap", "", null=True),
        Column("note", TEXT, "why the value is null, or a remark", null=True),
    ),
}  # fmt: skip

SHARDED = ("answers", "likelihoods")  # what several jobs may make a part of each: `unlearning.tables.shards`
TABLES |= {
    f"{name}_shard": (
        Column("row", INT, "the row's number in the whole table, from 0", "index"),
        Column("rows", INT, "rows of the whole table", "count"),
        *TABLES[name],
    )
    for name in SHARDED
}

UNIQUE: dict[str, tuple[str, ...]] = {
    "people": ("person_id",),
    "pairs": ("pair_id",),
    "questions": ("knowledge_id",),
    "choices": ("question_id",),
    "rounds": ("id", "language", "round"),
    "values": ("attribute", "language", "english_value"),
    "facts": ("fact_id",),
    "wordings": ("fact_id", "variant"),
    "chunks": ("document", "chunk"),
    "matches": ("match_id",),
    "composed": ("match_id", "variant"),
    "decomposed": ("match_id", "variant"),
    "uniqueness": ("match_id", "variant"),
    "ratings": ("match_id", "rater"),
    "multihop": ("match_id",),
    "documents": ("document_id",),
    "continuations": ("document_id",),
    "knowledge": ("document_id", "number"),
    "funnel": ("type", "step"),
    "quality": ("type", "measure"),
    "examples": ("example_id",),
    "items": ("item_id",),
    "splits": ("split", "knowledge_id"),
    "answers": ("item_id", "sample", "part"),
    "likelihoods": ("item_id", "candidate", "part"),
    "embeddings": ("item_id", "sample", "part"),
    "verdicts": ("item_id", "sample", "part", "judge"),
    "harness": ("utility", "task", "metric", "filter"),
    "prompts": ("prompt_id",),
    "completions": ("prompt_id", "sample"),
    "usage": ("role", "backend", "model"),
    "ref_logprobs": ("example_id", "refusal"),
    "train_log": ("step",),
    "selection": ("benchmark", "base_model", "setting", "split", "method", "seed", "candidate"),
    "dropped_models": ("model",),
    "scores": (
        "benchmark", "base_model", "setting", "split", "method", "seed", "epoch", "attack",
        "group", "language", "task", "metric",
    ),
}  # fmt: skip
UNIQUE |= {f"{name}_shard": UNIQUE[name] for name in SHARDED}


def schema(table: str) -> pa.Schema:
    """The pyarrow schema of `table`; each field carries its description and unit. KeyError lists the known tables."""
    if table not in TABLES:
        raise KeyError(f"unknown table {table!r}; known tables: {', '.join(sorted(TABLES))}")
    return pa.schema(
        [pa.field(c.name, c.type, c.null, {"description": c.description, "unit": c.unit}) for c in TABLES[table]]
    )
