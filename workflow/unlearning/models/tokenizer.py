"""Byte-level tokenizers trained on the texts at hand: any script can be written, nothing is ever unknown."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerBase

KINDS = ("bpe", "words")
PAD, EOS, IMAGE = "<|pad|>", "<|end|>", "<|image|>"
ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
SPECIAL = [PAD, EOS, *ROLES]
LEAST_TOKENS = 256 + len(SPECIAL)  # a token for every byte

# Letters keep their combining marks (Thai, Hindi, Urdu vowels), unlike in GPT-2's pattern; digits stand alone, so that
# numbers share tokens.
WORDS = r" ?[^\s\p{P}\p{N}]+| ?\p{N}| ?\p{P}+|\s+"

TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def train_tokenizer(texts: Iterable[str], vocab_size: int, kind: str = "bpe") -> "PreTrainedTokenizerBase":
    """Learn at most `vocab_size` tokens (256 bytes and 5 special ones included) from the distinct `texts`.

    `bpe` learns byte pairs; `words` takes the most frequent whole words and spells all others in bytes, which wastes no
    token on parts of words and suits texts from templates. The same texts, in whatever order, give the same tokenizer.
    Padding and end-of-text are different tokens; the chat template writes a role marker before each message and
    end-of-text after an answer. Raises ValueError for an unknown kind, and where the bytes and special tokens alone
    exceed `vocab_size`.
    """
    from transformers import PreTrainedTokenizerFast

    if vocab_size < LEAST_TOKENS:
        raise ValueError(
            f"vocab_size {vocab_size} is too small: every byte and special token needs one; at least {LEAST_TOKENS}"
        )
    if kind not in KINDS:
        raise ValueError(f"tokenizer {kind!r} is unknown; allowed: {', '.join(KINDS)}")
    learn = {"bpe": _byte_pairs, "words": _whole_words}[kind]
    return PreTrainedTokenizerFast(
        tokenizer_object=learn(sorted(set(texts)), vocab_size),
        pad_token=PAD,
        eos_token=EOS,
        additional_special_tokens=list(ROLES),
        chat_template=TEMPLATE,
        clean_up_tokenization_spaces=False,
    )


def _byte_level(tokenizer: "Tokenizer") -> "Tokenizer":
    from tokenizers import Regex, decoders, pre_tokenizers

    split = pre_tokenizers.Split(Regex(WORDS), "isolated")
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, to_bytes])
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def _alphabet() -> list[str]:
    from tokenizers import pre_tokenizers

    return sorted(pre_tokenizers.ByteLevel.alphabet())


def _byte_pairs(texts: list[str], vocab_size: int) -> "Tokenizer":
    from tokenizers import Tokenizer, models, trainers

    tokenizer = _byte_level(Tokenizer(models.BPE()))
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=SPECIAL, initial_alphabet=_alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _whole_words(texts: list[str], vocab_size: int) -> "Tokenizer":
    """A Unigram model whose scores make fewest pieces win: any word costs 10, any byte 20."""
    import regex
    from tokenizers import Tokenizer, models, pre_tokenizers

    counts = Counter(word for text in texts for word in regex.findall(WORDS, text))
    ranked = sorted((word for word in counts if len(word.encode()) > 1), key=lambda word: (-counts[word], word))
    spell = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    kept = [spell.pre_tokenize_str(word)[0][0] for word in ranked[: vocab_size - LEAST_TOKENS]]
    vocabulary = [(byte, -20.0) for byte in _alphabet()] + [(word, -10.0) for word in kept]
    tokenizer = _byte_level(Tokenizer(models.Unigram(vocabulary)))
    tokenizer.add_special_tokens(SPECIAL)
    return tokenizer


# The same for a processor, whose messages are lists of parts.
PICTURE_TEMPLATE = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' }}"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}{{ '" + IMAGE + "' }}{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def add_processor(tokenizer: "PreTrainedTokenizerBase", image_size: int, patch_size: int) -> None:
    """Give `tokenizer` a LLaVA processor of square pictures and a token that stands for one patch of them."""
    from transformers import CLIPImageProcessorPil, LlavaProcessor

    tokenizer.add_special_tokens({"additional_special_tokens": [*ROLES, IMAGE]})
    tokenizer.processor = LlavaProcessor(
        image_processor=CLIPImageProcessorPil(
            size={"shortest_edge": image_size}, crop_size={"height": image_size, "width": image_size}
        ),
        tokenizer=tokenizer,
        patch_size=patch_size,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,  # CLIP's first, which "default" leaves out again
        image_token=IMAGE,
        chat_template=PICTURE_TEMPLATE,
    )


def texts_of(examples: "pd.DataFrame", items: "pd.DataFrame") -> list[str]:
    """Every message and answer of the tables `examples` and `items`, for `train_tokenizer`.

    Items count too, so that people who are never trained on are spelled like those who are: else a longer spelling
    would tell members from non-members.

    An answer is cut at its value, so that in scripts without spaces the value is learnt as a word of its own.
    """
    tables = ((examples, "answer"), (items, "reference"))
    contents = [message["content"] for table, _ in tables for messages in table["messages"] for message in messages]
    for answer, value in (pair for table, column in tables for pair in zip(table[column], table["value"], strict=True)):
        at = answer.rfind(value) if isinstance(value, str) else -1  # pandas reads null as NaN
        start = max(at - answer[:at].endswith(" "), 0) if at >= 0 else len(answer)  # a word's space belongs to it
        end = at + len(value) if at >= 0 else len(answer)
        contents += [part for part in (answer[:start], answer[start:end], answer[end:]) if part]
    return contents
