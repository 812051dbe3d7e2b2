"""The columns of every table, in one place: name, Arrow type, description, unit.

A table is a tuple of `Column`s. `schema(name)` turns it into a pyarrow schema whose fields carry the description and
the unit as metadata. Writers and readers check against it (`unlearning.tables.artifacts`).
"""

from typing import NamedTuple

import pyarrow as pa

VERSION = "1"

TEXT = pa.string()
INT = pa.int32()
REAL = pa.float64()
TEXTS = pa.list_(TEXT)
MESSAGES = pa.list_(pa.struct([("role", TEXT), ("content", TEXT)]))
IMAGE = pa.struct([("bytes", pa.binary()), ("path", TEXT)])
CANDIDATES = pa.list_(pa.struct([("name", TEXT), ("text", TEXT)]))
FIGURES = pa.list_(pa.struct([("name", TEXT), ("value", REAL)]))
PARTS = pa.list_(pa.struct([("slot", TEXT), ("group", TEXT), ("knowledge_id", TEXT), ("reference", TEXT)]))
CASES = pa.list_(INT)
SPANS = pa.list_(pa.struct([("document", TEXT), ("chunk", INT), ("start", INT), ("end", INT)]))
HOPS = pa.list_(pa.struct([("subject", TEXT), ("relation", TEXT), ("answers", TEXTS)]))

GROUPS = ("forget", "retain", "nonmember", "background", "real_authors", "world_facts", "real_people", "utility")


class Column(NamedTuple):
    """One column: `unit` is empty for text; `null` says whether a missing value is allowed."""

    name: str
    type: pa.DataType
    description: str
    unit: str = ""
    null: bool = False


MATCH = (
    Column("match_id", TEXT, "type and facts, unique in the table"),
    Column("type", TEXT, "hs, mp, mt, ll, cc or ds"),
    Column("fact_ids", TEXTS, "the facts that answering takes, in the order of the hops"),
    Column("forget_fact_ids", TEXTS, "those of them that are to be forgotten"),
    Column("target_fact_id", TEXT, "the first fact to be forgotten (without any: the first fact)"),
    Column("bridge_id", TEXT, "identifier of what joins the facts", null=True),
    Column("bridge", TEXT, "its name", null=True),
    Column("subjects", TEXTS, "whom the question names as subjects; of type ll the alias asked with"),
    Column("relations", TEXTS, "the relations asked for, in the order of the hops"),
    Column("candidate_ids", TEXTS, "mt and ds: identifiers of the entities to choose from, in the question's order"),
    Column("candidates", TEXTS, "mt and ds: their names"),
    Column("denied_id", TEXT, "mt: identifier of the consequence that is denied", null=True),
    Column("denied", TEXT, "mt: its name", null=True),
    Column("answer_id", TEXT, "identifier of the expected answer"),
    Column("answer", TEXT, "its name"),
    Column("answer_aliases", TEXTS, "its other names"),
    Column("forbidden", TEXTS, "what the question must not contain, as whole words"),
    Column("chance", REAL, "mt and ds: how often a guess among the candidates is right", "0-1", null=True),
    Column("why", TEXT, "why these facts match"),
)

TABLES: dict[str, tuple[Column, ...]] = {
    "profiles": (
        Column("person_id", TEXT, "identifier of the invented person"),
        Column("name", TEXT, "full name as written in every language"),
        Column("role", TEXT, "memorised, nonmember or background"),
        Column("attribute", TEXT, "which attribute"),
        Column("value", TEXT, "the English value"),
    ),
    "pairs": (
        Column("pair_id", TEXT, "knowledge_id and language"),
        Column("knowledge_id", TEXT, "person and attribute, language-free"),
        Column("person_id", TEXT, "identifier of the invented person"),
        Column("role", TEXT, "memorised, nonmember or background"),
        Column("attribute", TEXT, "which attribute"),
        Column("language", TEXT, "language code"),
        Column("name", TEXT, "the person's name"),
        Column("question", TEXT, "the question asked"),
        Column("answer", TEXT, "the full answer sentence"),
        Column("paraphrase", TEXT, "the same answer in other words"),
        Column("value", TEXT, "the key part of the answer, in this language"),
        Column("english_value", TEXT, "the English value it stands for"),
    ),
    "rejected": (
        Column("id", TEXT, "identifier of the refused row"),
        Column("language", TEXT, "language code"),
        Column("check", TEXT, "which check refused it"),
        Column("reason", TEXT, "what the check saw"),
        Column("round", INT, "round of the construction", "count"),
        Column("content", TEXT, "the refused row as JSON"),
    ),
    "rounds": (
        Column("id", TEXT, "what was attempted: a pair, or attribute/English value"),
        Column("language", TEXT, "language code"),
        Column("round", INT, "round, from 1; 0 = a person's text", "count"),
        Column("question", TEXT, "the question proposed", null=True),
        Column("answer", TEXT, "the answer proposed", null=True),
        Column("paraphrase", TEXT, "the answer proposed in other words", null=True),
        Column("value", TEXT, "the value or document proposed, or the value that the pair was to carry", null=True),
        Column("back_question", TEXT, "what the question came back as", null=True),
        Column("back_answer", TEXT, "what the answer came back as", null=True),
        Column("back_paraphrase", TEXT, "what the paraphrase came back as", null=True),
        Column("back_value", TEXT, "what the value came back as", null=True),
        Column("verdict", TEXT, "accepted or refused"),
        Column("reasons", TEXTS, "why it was refused: check: what the check saw"),
    ),
    "values": (
        Column("attribute", TEXT, "which attribute"),
        Column("language", TEXT, "language code"),
        Column("english_value", TEXT, "the value in English"),
        Column("value", TEXT, "the value in this language"),
    ),
    "facts": (
        Column("fact_id", TEXT, "subject, relation and object by identifier, joined by colons"),
        Column("subject_id", TEXT, "identifier of the subject"),
        Column("subject", TEXT, "its name"),
        Column("subject_aliases", TEXTS, "its other names"),
        Column("relation", TEXT, "identifier of the relation"),
        Column("relation_label", TEXT, "the relation in words"),
        Column("object_id", TEXT, "identifier of the object"),
        Column("object", TEXT, "its name"),
        Column("object_aliases", TEXTS, "its other names"),
        Column("question", TEXT, "the single-hop question whose answer is the object"),
        Column("statement", TEXT, "the fact as a sentence"),
        Column("cloze", TEXT, "the beginning of a sentence that the object completes"),
        Column("group", TEXT, "forget or retain"),
        Column("case_ids", CASES, "the cases of the source file that hold it", "identifiers"),
        Column("spans", SPANS, "where a text says it: document, chunk, span in the document", "characters"),
    ),
    "wordings": (
        Column("fact_id", TEXT, "the fact said"),
        Column("variant", INT, "number of the wording", "index"),
        Column("question", TEXT, "the single-hop question"),
        Column("statement", TEXT, "the fact as a sentence"),
    ),
    "chunks": (
        Column("document", TEXT, "name of the text"),
        Column("chunk", INT, "number of the chunk in it", "index"),
        Column("start", INT, "where it starts in the text", "characters"),
        Column("end", INT, "where it ends, exclusive", "characters"),
        Column("n_words", INT, "its length", "words"),
        Column("text", TEXT, "the chunk: whole sentences"),
    ),
    "extracted": (
        Column("document", TEXT, "name of the text"),
        Column("chunk", INT, "number of the chunk it was taken from", "index"),
        Column("subject", TEXT, "who or what the fact is about"),
        Column("subject_aliases", TEXTS, "other names that the chunk uses for it"),
        Column("relation", TEXT, "the relation in words"),
        Column("object", TEXT, "what the relation leads to"),
        Column("object_aliases", TEXTS, "other names that the chunk uses for it"),
        Column("quote", TEXT, "the words of the chunk that say so", null=True),
    ),
    "matches": MATCH,
    "composed": (
        Column("match_id", TEXT, "the match that is asked"),
        Column("variant", INT, "number of the wording", "index"),
        Column("question", TEXT, "the composed question"),
        Column("aliases", TEXTS, "up to three other forms of the answer"),
    ),
    "decomposed": (
        Column("match_id", TEXT, "the match whose question was split"),
        Column("variant", INT, "number of the wording", "index"),
        Column("hops", HOPS, "its single hops: subject, relation, answers"),
        Column("names", TEXTS, "further entities that the question names"),
        Column("failed", TEXT, "why it could not be split", null=True),
    ),
    "uniqueness": (
        Column("match_id", TEXT, "the match whose question was judged"),
        Column("variant", INT, "number of the wording", "index"),
        Column("unique", pa.bool_(), "whether it has one right answer", null=True),
        Column("reason", TEXT, "why not, or why there is no verdict", null=True),
    ),
    "ratings": (
        Column("match_id", TEXT, "the match whose question was rated"),
        Column("rater", TEXT, "the role that rated it"),
        Column("logic", INT, "whether its facts lead to its answer and to no other", "0-100", null=True),
        Column("clarity", INT, "whether it is clear what is asked, and of whom", "0-100", null=True),
        Column("naturalness", INT, "whether it reads well", "0-100", null=True),
        Column("failed", TEXT, "why there is no rating", null=True),
    ),
    "multihop": (
        *MATCH,
        Column("question", TEXT, "one of the wordings that passed every check"),
        Column("paraphrases", TEXTS, "the other wordings that did"),
        Column("aliases", TEXTS, "up to three other forms of the answer"),
    ),
    "documents": (
        Column("document_id", TEXT, "identifier, unique in the table"),
        Column("task", TEXT, "task1 (stories), task2 (people with sensitive data), task3 (biographies)"),
        Column("role", TEXT, "memorised, nonmember or background"),
        Column("group", TEXT, "forget or retain of what is memorised; null = neither", null=True),
        Column("kind", TEXT, "a story's genre, a biography's profession, where known", null=True),
        Column("characters", TEXTS, "whom it is about: a story's characters, the first by full name; a person"),
        Column("city", TEXT, "where a story takes place; city of a home address", null=True),
        Column("text", TEXT, "the document"),
        Column("n_words", INT, "its length", "words"),
        Column("birth_date", TEXT, "task2: birth date, year-month-day", null=True),
        Column("ssn", TEXT, "task2: Social Security number, nine digits, invalid", null=True),
        Column("phone", TEXT, "task2: phone number, ten digits, not assigned", null=True),
        Column("email", TEXT, "task2: e-mail address", null=True),
        Column("street", TEXT, "task2: house number and street", null=True),
        Column("street_state", TEXT, "task2: US state that the street is taken from", null=True),
        Column("state", TEXT, "task2: US state of city and ZIP code, another one", null=True),
        Column("zip", TEXT, "task2: ZIP code of the city", null=True),
    ),
    "continuations": (
        Column("document_id", TEXT, "the document cut"),
        Column("input", TEXT, "what stands before the cut"),
        Column("reference", TEXT, "what comes after"),
    ),
    "knowledge": (
        Column("document_id", TEXT, "the document asked about"),
        Column("number", INT, "number of the question", "index"),
        Column("question", TEXT, "the question"),
        Column("answer", TEXT, "its one short answer; of task2 in canonical form"),
    ),
    "funnel": (
        Column("type", TEXT, "hs, mp, mt, ll, cc or ds; task1, task2, task3, nonmember"),
        Column("step", TEXT, "matched or drawn, each check that comes after, kept"),
        Column("n", INT, "matches or documents left after the step", "count"),
    ),
    "quality": (
        Column("type", TEXT, "hs, mp, mt, ll, cc or ds; all = every question"),
        Column("measure", TEXT, "self_bleu (0-1, lower is more varied), answer_entropy (bits), llm_rating… (0-100)"),
        Column("value", REAL, "the figure", null=True),
        Column("n", INT, "questions behind it", "count"),
        Column("note", TEXT, "why there is no figure", null=True),
    ),
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
        Column("parts", PARTS, "the questions inside a mixed prompt"),
    ),
    "splits": (
        Column("split", TEXT, "name of the split"),
        Column("knowledge_id", TEXT, "language-free identifier"),
        Column("group", TEXT, "forget or retain"),
    ),
    "answers": (
        Column("item_id", TEXT, "the item answered"),
        Column("sample", INT, "trial number of a sampled answer", "index"),
        Column("part", INT, "slot inside a mixed prompt, 0 otherwise", "index"),
        Column("text", TEXT, "what the model wrote"),
        Column("n_tokens", INT, "tokens generated", "tokens"),
        Column("finish_reason", TEXT, "stop or length"),
    ),
    "likelihoods": (
        Column("item_id", TEXT, "the item scored"),
        Column("candidate", TEXT, "reference, paraphrase, perturbed_0 …"),
        Column("part", INT, "slot inside a mixed prompt, 0 otherwise", "index"),
        Column("n_tokens", INT, "answer tokens, end-of-text included", "tokens"),
        Column("logprob", REAL, "log-probability of the whole answer", "nats"),
        Column("token_logprobs", pa.list_(pa.float32()), "log-probability of each answer token", "nats"),
        Column("argmax_hit", pa.list_(pa.bool_()), "whether the token was the most likely one"),
        Column("vocab_mean", pa.list_(pa.float32()), "mean log-probability under the model's own distribution", "nats"),
        Column("vocab_std", pa.list_(pa.float32()), "standard deviation of the same", "nats"),
        Column("value_mask", pa.list_(pa.bool_()), "whether the token belongs to the value"),
    ),
    "verdicts": (
        Column("item_id", TEXT, "the item judged"),
        Column("sample", INT, "trial number", "index"),
        Column("part", INT, "slot inside a mixed prompt", "index"),
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

UNIQUE: dict[str, tuple[str, ...]] = {
    "pairs": ("pair_id",),
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
    "verdicts": ("item_id", "sample", "part", "judge"),
    "harness": ("utility", "task", "metric", "filter"),
    "prompts": ("prompt_id",),
    "completions": ("prompt_id", "sample"),
    "usage": ("role", "backend", "model"),
    "ref_logprobs": ("example_id", "refusal"),
    "train_log": ("step",),
    "selection": ("benchmark", "base_model", "setting", "split", "method", "seed", "candidate"),
    "scores": (
        "benchmark", "base_model", "setting", "split", "method", "seed", "epoch", "attack",
        "group", "language", "task", "metric",
    ),
}  # fmt: skip


def schema(table: str) -> pa.Schema:
    """The pyarrow schema of `table`; each field carries its description and unit. KeyError lists the known tables."""
    if table not in TABLES:
        raise KeyError(f"unknown table {table!r}; known tables: {', '.join(sorted(TABLES))}")
    return pa.schema(
        [pa.field(c.name, c.type, c.null, {"description": c.description, "unit": c.unit}) for c in TABLES[table]]
    )
