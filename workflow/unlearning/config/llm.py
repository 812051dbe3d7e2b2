"""The sections about language models: backends, which role uses which, prices, and what holds for all."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from unlearning.config.fields import Count, Number, Positive, Section, Text, Whole

# The parts that a language model can play in building, checking and judging.
ROLES = (
    "refiner", "translator", "equivalence", "backtranslator", "repairer", "extractor", "composer", "decomposer",
    "uniqueness", "rater_1", "rater_2", "rater_3", "writer", "questioner", "verifier_1", "verifier_2", "verifier_3",
    "judge",
)  # fmt: skip
OFFLINE = "offline"  # the backend that is always there: engines of ours, no language model

Device = Literal["auto", "cpu", "cuda"]


class OpenAI(Section):
    """Any endpoint that speaks OpenAI's protocol, paid or your own."""

    kind: Literal["openai"] = Field(description="openai")
    model: Text = Field(description="name of the model, as the endpoint knows it")
    revision: Text | None = Field(
        None, description="a note of which version it is; change it when the endpoint's model changed, to ask anew"
    )
    base_url: Text | None = Field(None, description="address, e.g. http://localhost:8000/v1; null = OpenAI's own")
    key_env: Text | None = Field(
        "OPENAI_API_KEY", description="environment variable that holds the API key, never the key; null = none needed"
    )
    concurrency: Positive = Field(16, description="requests in flight")
    requests_per_minute: Positive | None = Field(None, description="most requests per minute; null = no limit")
    tokens_per_minute: Positive | None = Field(None, description="most tokens per minute; null = no limit")
    timeout: Number = Field(120.0, gt=0, description="seconds to wait for a reply")
    attempts: Positive = Field(6, description="tries of one request before it counts as failed")
    structured: Literal["json_schema", "json_object", "none"] = Field(
        "json_schema", description="how the endpoint is told the form of the reply; what it supports"
    )
    batch: bool = Field(False, description="use the Batch API: half the price, replies within a day")


class Vllm(Section):
    """A local model in vLLM: bulk generation on GPUs."""

    kind: Literal["vllm"] = Field(description="vllm")
    model: Text = Field(description="Hugging Face name or a folder")
    revision: Text | None = Field(None, description="commit of the model; pin it")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field("auto", description="precision")
    max_length: Positive = Field(4096, description="longest prompt and reply together, in tokens")
    memory_share: Number = Field(0.9, gt=0, le=1, description="share of the GPU's memory it may take")
    device: Device = Field("auto", description="where it runs; with cpu its jobs ask for no GPU")


class Transformers(Section):
    """A local model without vLLM."""

    kind: Literal["transformers"] = Field(description="transformers")
    model: Text = Field(description="Hugging Face name or a folder")
    revision: Text | None = Field(None, description="commit of the model; pin it")
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = Field("float32", description="precision")
    batch_size: Positive = Field(16, description="prompts per batch")
    device: Device = Field("auto", description="where it runs")


class Role(Section):
    """Who plays a role, and how replies are drawn; a backend's name alone will do: `judge: served`."""

    backend: Text = Field(description="name under backends, or offline")
    temperature: Number = Field(0.0, ge=0, le=2, description="0 = the likeliest reply")
    top_p: Number = Field(1.0, gt=0, le=1, description="nucleus sampling")
    max_tokens: Positive = Field(256, description="longest reply in tokens")
    seed: Whole = Field(0, description="seed of the draw, where the backend takes one")


class Price(Section):
    """What a model costs; an endpoint of your own costs 0."""

    input: Number = Field(ge=0, description="USD per million tokens read")
    output: Number = Field(ge=0, description="USD per million tokens written")


class Llm(Section):
    """What holds for every backend."""

    reask: Count = Field(2, description="how often an unusable reply is asked for again, with what is wrong with it")
    spending_cap: Number | None = Field(
        None, ge=0, description="USD that all jobs together may spend on endpoints; null = no cap"
    )


def _role(given: object) -> object:
    """A backend's name alone as a map."""
    if isinstance(given, str):
        return {"backend": given}
    if not isinstance(given, (dict, Role)):
        raise PydanticCustomError("role", "neither a name nor a map")
    return given


BackendEntry = Annotated[OpenAI | Vllm | Transformers, Field(discriminator="kind")]
RoleEntry = Annotated[Role, BeforeValidator(_role)]
