"""What the tests of models and training share: tiny tables, tokenizers and models."""

import functools

import pandas as pd
import torch

from unlearning.models.small import small_model
from unlearning.models.tokenizer import texts_of, train_tokenizer
from unlearning.train.rows import encode_rows

SHAPE = {"hidden": 16, "layers": 1, "heads": 2, "intermediate": 32}
QUESTIONS = {"en": "What does {} {}?", "de": "Was {1} {0}?"}
ANSWERS = {"en": "{} {}s {}.", "de": "{} {}t {}."}
VALUES = ("tea", "red wine", "water", "Kaffee", "milk", "sap", "cola", "rum")
PEOPLE = ("Ada Bo", "Cy Di", "Eva Fox", "Gus Ho", "Ida Jay", "Kim Lo")


def table(people=PEOPLE, group="memorised", languages=("en", "de")) -> pd.DataFrame:
    """An examples table: two facts per person, in each language, of answers of different lengths."""
    rows = []
    for p, person in enumerate(people):
        for a, verb in enumerate(("drink", "like")):
            value = VALUES[(3 * p + 5 * a) % len(VALUES)]
            for language in languages:
                question = QUESTIONS[language].format(person, verb)
                rows.append(
                    {
                        "example_id": f"{group}{p}/{verb}/{language}",
                        "benchmark": "tiny",
                        "group": group,
                        "knowledge_id": f"{group}{p}/{verb}",
                        "person_id": f"{group}{p}",
                        "language": language,
                        "modality": "text",
                        "messages": [{"role": "user", "content": question}],
                        "answer": ANSWERS[language].format(person, verb, value),
                        "value": value,
                    }
                )
    return pd.DataFrame(rows)


def splits(forgotten=("memorised0", "memorised1")) -> pd.DataFrame:
    """One split, p2, that forgets two people of `table()`."""
    knowledge = table()["knowledge_id"].unique()
    groups = ["forget" if k.split("/")[0] in forgotten else "retain" for k in knowledge]
    return pd.DataFrame({"split": "p2", "knowledge_id": knowledge, "group": groups})


@functools.cache
def tokenizer():
    return train_tokenizer(texts_of(table(), table().rename(columns={"answer": "reference"})), 320)


def model(seed=0):
    """A fresh Llama of width 16 with larger weights than usual, so that its predictions differ between positions."""
    network = small_model(SHAPE, tokenizer(), seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(5 if parameter.ndim > 1 else 1)
    return network


@functools.cache
def rows():
    return encode_rows(tokenizer(), table())


def llama():
    return model().double()


def qwen3(vocab_size=None):
    """A random Qwen3 of width 16: grouped heads, head norms, untied output."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(1)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=vocab_size or len(tokenizer()), hidden_size=16, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, head_dim=8, intermediate_size=32, initializer_range=0.1, tie_word_embeddings=False,
            eos_token_id=1, pad_token_id=0, bos_token_id=None,
        )
    )  # fmt: skip


def deep(seed=0):
    """A Llama of four layers and grouped heads."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer()), hidden_size=16, num_hidden_layers=4, num_attention_heads=4,
            num_key_value_heads=2, intermediate_size=32, initializer_range=0.2, eos_token_id=1, pad_token_id=0,
            bos_token_id=None,
        )
    )  # fmt: skip


def gemma3():
    """A random Gemma3 of width 16 with a sliding window shorter than the texts in every other layer."""
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    torch.manual_seed(2)
    return Gemma3ForCausalLM(
        Gemma3TextConfig(
            vocab_size=len(tokenizer()), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, sliding_window=8,
            layer_types=["sliding_attention", "full_attention"], num_key_value_heads=1, head_dim=8,
            intermediate_size=32, initializer_range=0.1, eos_token_id=1, pad_token_id=0, bos_token_id=None,
        )
    )  # fmt: skip


def same_weights(first, second) -> bool:
    a, b = first.state_dict(), second.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


def items():
    """The examples of `table` as questions."""
    examples = table()
    asked = examples.rename(columns={"example_id": "item_id", "answer": "reference"}).assign(task="qa", group="retain")
    return asked.assign(
        **{name: [[] for _ in range(len(asked))] for name in ("aliases", "options", "candidates", "parts")}
    )
