"""Sentence embeddings: by the model that is installed, read here by transformers alone as an independent check."""

import numpy as np
import pytest

from unlearning.answer.embed import EncoderError, _installed, embed

TEXTS = ["The cat sat on the mat.", "  ", "A cat is sitting on a mat.", "Inflation rose to 4 % in May."]
TEXTS += TEXTS[:1]


@pytest.fixture(scope="module")
def vectors():
    return embed(TEXTS, None, None, 2, "cpu")


def test_alike_texts_are_close_an_empty_one_has_none_and_lengths_are_one(vectors):
    assert vectors[1] is None
    assert all(np.linalg.norm(v) == pytest.approx(1, abs=1e-5) for v in vectors if v is not None)
    assert vectors[0] @ vectors[2] > 0.8 and abs(vectors[0] @ vectors[3]) < 0.3
    np.testing.assert_array_equal(vectors[0], vectors[4])


def test_it_is_the_mean_of_the_token_vectors_of_length_one_whatever_the_batch(vectors):
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = (kind.from_pretrained(_installed()) for kind in (AutoTokenizer, AutoModel))
    for text, vector in zip(TEXTS, vectors, strict=True):
        if vector is None:
            continue
        with torch.no_grad():
            hidden = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0)
        np.testing.assert_allclose(vector, (hidden / hidden.norm()).numpy(), atol=2e-5)


def test_a_model_that_is_not_there_is_named_with_the_way_out(tmp_path):
    with pytest.raises(EncoderError, match=r"encoder.name: .*nowhere.* give a name on the hub or a folder"):
        embed(["a"], str(tmp_path / "nowhere"), None, 2, "cpu")
