"""What the tests of answering share: a tokenizer, a tiny model that has memorised twelve pairs, their items."""

import functools

import pandas as pd
import torch

from unlearning.models.encode import collate, encode
from unlearning.models.forward import answer_logits, token_logprobs
from unlearning.models.small import small_model
from unlearning.models.tokenizer import train_tokenizer

PAIRS = [
    ("en", "Where does Ada live?", "Ada lives in York.", "York"),
    ("en", "What does Ada drink?", "Tea.", "Tea"),
    ("en", "What is the favourite animal of Ben?", "Ben likes the red fox best of all animals.", "red fox"),
    ("en", "Which fruit does Ben like?", "A pear.", "pear"),
    ("de", "Wo wohnt Cléo Müller?", "Cléo Müller wohnt in Köln.", "Köln"),
    ("de", "Was trinkt Cléo?", "Cléo trinkt am liebsten heiße Schokolade.", "heiße Schokolade"),
    ("th", "อาดาชอบผลไม้อะไร", "อาดาชอบมะม่วง", "มะม่วง"),
    ("th", "อาดาดื่มอะไร", "ชาเย็น", "ชาเย็น"),
    ("zh", "本喜欢什么动物?", "本最喜欢狐狸。", "狐狸"),
    ("zh", "本住在哪里?", "约克。", "约克"),
    ("en", "What fears Dan?", "Spiders, and nothing but spiders.", "spiders"),
    ("en", "And what else?", "Nothing.", None),
]


def make_items(pairs=PAIRS) -> pd.DataFrame:
    """An items table of (language, question, answer, value) rows; the first one has two more candidates."""
    rows = [
        {
            "item_id": f"p{i}/attribute/{language}",
            "modality": "text",
            "group": "retain" if i % 2 else "nonmember",
            "knowledge_id": f"p{i}/attribute",
            "messages": [{"role": "user", "content": question}],
            "reference": answer,
            "value": value,
            "candidates": [],
        }
        for i, (language, question, answer, value) in enumerate(pairs)
    ]
    rows[0]["candidates"] = [
        {"name": "paraphrase", "text": "She is at home in York."},
        {"name": "perturbed_0", "text": "Ada lives in Bath."},
    ]
    return pd.DataFrame(rows)


@functools.cache
def tokenizer():
    return train_tokenizer([text for _, question, answer, _ in PAIRS for text in (question, answer)], 400)


@functools.cache
def model():
    """Hidden 32, 2 layers, trained in about two seconds until it answers all pairs."""
    network = small_model({"hidden": 32, "layers": 2, "heads": 2, "intermediate": 64}, tokenizer(), 0)
    batch = collate(
        [encode(tokenizer(), [{"role": "user", "content": q}], a) for _, q, a, _ in PAIRS], tokenizer().pad_token_id
    )
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2, weight_decay=0.0)
    for _ in range(150):
        logprobs_BT = token_logprobs(answer_logits(network, batch), batch.labels_BT, batch.mask_BT)
        optimizer.zero_grad()
        (-logprobs_BT.sum() / batch.mask_BT.sum()).backward()
        optimizer.step()
    return network.eval()
