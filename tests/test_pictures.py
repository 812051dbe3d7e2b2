"""Models that see: what prompts with pictures become, and that LLaVA, LLaVA-NeXT and Qwen2-VL are fed as they want."""

import pandas as pd
import pytest
import torch

import seeing
import training
from learning import learn
from unlearning.answer.batches import AnswerError
from unlearning.answer.decoding import Decoding
from unlearning.answer.generate import generate
from unlearning.answer.likelihood import likelihoods
from unlearning.config import cluster
from unlearning.config.models import Architecture, BaseModelEntry
from unlearning.methods import pair
from unlearning.models import pictures
from unlearning.models.encode import encode, encode_prompts
from unlearning.models.load import load_model, load_tokenizer, read_model_json, save_model, save_pretrained_record
from unlearning.models.pictures import PictureError, look, opened, together
from unlearning.models.small import small_model
from unlearning.train.plan import PlanError, make_plan
from unlearning.train.rows import RowsError, encode_rows
from unlearning.train.unlearn import Given

torch.set_num_threads(1)
MODELS = ("llava", "llava_next", "qwen2_vl")


def asked() -> pd.DataFrame:
    """Six pictures, two of them of other shapes, and six questions in text."""
    table = seeing.items()
    table.at[0, "image"], table.at[2, "image"] = seeing.picture("red", (28, 84)), seeing.picture("green", (60, 30))
    return table


def by_processor(tokenizer, item) -> dict:
    content = [{"type": "text", "text": item.messages[0]["content"]}]
    if isinstance(item.image, dict):
        content.insert(0, {"type": "image", "image": opened(item.image)})
    turns = [{"role": "user", "content": content}]
    return tokenizer.processor.apply_chat_template(
        turns, tokenize=True, add_generation_prompt=True, return_dict=True, return_tensors="pt"
    )


@pytest.mark.parametrize("name", MODELS)
def test_answers_are_those_of_the_library_one_by_one(name):
    model, tokenizer = getattr(seeing, name)()
    items = asked()
    ours = generate(model, tokenizer, items, Decoding(), 0, batch_size=5, max_new_tokens=8)
    assert ours["text"].nunique() > 4
    parts = [generate(model, tokenizer, items, Decoding(), 0, 5, 8, (k, 2)) for k in (1, 2)]
    pd.testing.assert_frame_equal(pd.concat(parts).sort_index(), ours, check_index_type=False)
    seen = look(tokenizer, pictures.pictures(items))
    prompts = encode_prompts(tokenizer, items["messages"].tolist(), seen)
    for item, prompt, text in zip(items.itertuples(), prompts, ours["text"], strict=True):
        alone = by_processor(tokenizer, item)
        assert alone["input_ids"][0].tolist() == prompt
        written = model.generate(**alone, do_sample=False, max_new_tokens=8, eos_token_id=1, pad_token_id=0)
        said = tokenizer.decode(written[0][len(prompt) :], skip_special_tokens=True)
        assert said.rstrip("\ufffd") == text


@pytest.mark.parametrize("name", MODELS)
def test_likelihoods_do_not_depend_on_the_batch(name):
    model, tokenizer = getattr(seeing, name)()
    items = asked()
    together_, alone = (likelihoods(model, tokenizer, items, size)["logprob"] for size in (12, 1))
    assert together_.to_numpy() == pytest.approx(alone.to_numpy(), abs=1e-4)
    first = by_processor(tokenizer, next(items.itertuples()))  # and they are those of the library's own forward pass
    answer = torch.tensor([tokenizer("red", add_special_tokens=False).input_ids + [tokenizer.eos_token_id]])
    longer = {name: first[name] for name in first if name not in ("input_ids", "attention_mask")}
    for key in ("mm_token_type_ids",):
        if key in longer:
            longer[key] = torch.cat([longer[key], torch.zeros_like(answer)], 1)
    ids = torch.cat([first["input_ids"], answer], 1)
    with torch.inference_mode():
        logits = model(input_ids=ids, attention_mask=torch.ones_like(ids), **longer).logits
    logp = logits[0, -len(answer[0]) - 1 : -1].log_softmax(-1).gather(-1, answer[0][:, None]).sum()
    assert together_[0] == pytest.approx(float(logp), abs=1e-4)


def test_a_picture_changes_what_is_said_and_its_absence_is_an_error():
    model, tokenizer = seeing.llava()
    items = asked()
    scored = likelihoods(model, tokenizer, items[items["modality"] == "image"].assign(reference="red"), 3)["logprob"]
    assert scored.nunique() == 6
    with pytest.raises(AnswerError, match="6 items have a modality that does not fit, first 'red/image'"):
        likelihoods(model, tokenizer, items.assign(image=None), 3)
    with pytest.raises(AnswerError, match="6 items have a modality that does not fit"):
        likelihoods(model, tokenizer, items.assign(modality="text"), 3)
    with pytest.raises(PictureError, match="the model reads text only"):
        likelihoods(training.model(), training.tokenizer(), items, 3)


def test_what_is_no_picture_and_no_place_for_one_is_told():
    _, tokenizer = seeing.llava()
    with pytest.raises(PictureError, match=r"image 'a.png': its bytes are no picture"):
        look(tokenizer, [{"bytes": b"GIF89a?", "path": "a.png"}])
    (seen,) = look(tokenizer, [seeing.picture("red")])
    with pytest.raises(PictureError, match="without a picture holds 1 placeholders"):
        encode_prompts(tokenizer, [[{"role": "user", "content": "Is <|image|> a word?"}]])
    with pytest.raises(PictureError, match="with a picture holds 2 placeholders"):
        encode_prompts(tokenizer, [[{"role": "user", "content": "Is <|image|> a word?"}]], [seen])
    with pytest.raises(PictureError, match="without a question"):
        encode_prompts(tokenizer, [[{"role": "assistant", "content": "It is"}]], [seen])


def test_a_picture_stands_before_the_last_question():
    _, tokenizer = seeing.llava()
    (seen,) = look(tokenizer, [seeing.picture("red")])
    solved = [{"role": "user", "content": "A"}, {"role": "assistant", "content": "b"}]
    (ids,) = encode_prompts(tokenizer, [[*solved, {"role": "user", "content": "C"}]], [seen])
    text = "<|user|>A<|assistant|>b<|end|><|user|>" + "<|image|>" * 4 + "C<|assistant|>"
    assert tokenizer.decode(ids) == text


def test_equal_pictures_are_looked_at_once_and_smaller_ones_filled_up():
    _, tokenizer = seeing.llava_next()
    large, small = seeing.picture("red", (56, 56)), seeing.picture("blue")
    first, second, third = look(tokenizer, [large, small, dict(large)])
    assert first is third
    joined = together([first, None, second])
    assert joined["pixel_values"].shape[0] == 2 and joined["image_sizes"].tolist() == [[56, 56], [28, 28]]
    tiles = second.inputs["pixel_values"].shape[1]
    assert joined["pixel_values"].shape[1] == first.inputs["pixel_values"].shape[1] > tiles
    assert torch.equal(joined["pixel_values"][1:, :tiles], second.inputs["pixel_values"])
    assert not joined["pixel_values"][1, tiles:].any()


def test_a_model_that_sees_is_saved_with_its_processor(tmp_path):
    model, tokenizer = seeing.llava()
    save_model(model, tokenizer, tmp_path / "model.json")
    assert read_model_json(tmp_path / "model.json")["sees"]
    again = load_model(tmp_path / "model.json"), load_tokenizer(tmp_path / "model.json")
    answers = [generate(*both, asked(), Decoding(), 0, 4, 6)["text"].tolist() for both in ((model, tokenizer), again)]
    assert answers[0] == answers[1]
    save_pretrained_record(str(tmp_path / "weights"), None, tmp_path / "named.json", pictures=True)
    assert load_tokenizer(tmp_path / "named.json").processor.image_token == tokenizer.processor.image_token
    assert type(load_model(tmp_path / "named.json")) is type(model)


def test_shapes_that_make_no_model_are_refused():
    with pytest.raises(ValueError, match="architecture.vision: unknown keys"):
        small_model({**seeing.SHAPE, "vision": {"pixels": 3}}, seeing.llava()[1], 0)


def test_the_parameters_by_which_a_cluster_is_asked_count_what_it_sees_with():
    model, tokenizer = seeing.llava()
    shape = Architecture(**seeing.SHAPE, vocab_size=len(tokenizer))
    entry = BaseModelEntry(architecture=shape, target={"epochs": 1, "lr": 1e-3})
    assert round(cluster.billions(entry) * 1e9) == sum(p.numel() for p in model.parameters())


def learnt():
    """A small LLaVA that has learnt the colours, its tokenizer and the table."""
    model, tokenizer = seeing.llava()
    table = seeing.examples()
    rows = encode_rows(tokenizer, table)
    return learn(model, rows=rows, epochs=40, lr=1e-2, batch_size=12).model, tokenizer, table


def right(model, tokenizer, items) -> list[bool]:
    return (generate(model, tokenizer, items, Decoding(), 0, 12, 4)["text"] == items["reference"].to_numpy()).tolist()


def test_colours_are_learnt_from_the_pictures_and_unlearnt_by_modality():
    model, tokenizer, table = learnt()
    items = seeing.items()
    assert all(right(model, tokenizer, items))
    images = items["image"].to_list()
    moved = items.assign(image=images[2:] + images[:2])  # each shows the next colour
    assert right(model, tokenizer, moved) == [modality == "text" for modality in items["modality"]]
    gone = table["knowledge_id"].isin(["red", "green"])

    def forget(**keys):
        plan = make_plan({"forget": "ga", "retain": "gd", "lr": 2e-3, "epochs": 8, "batch_size": 2, **keys})
        given = Given(load(), tokenizer, table[gone], table[~gone], plan, 0)
        unlearnt = pair.unlearn(given)
        scored = likelihoods(unlearnt.model, tokenizer, items[gone.to_numpy()], 12)["logprob"].to_numpy()
        return scored[::2].mean(), scored[1::2].mean(), unlearnt.log  # of pictures, of texts

    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}

    def load():
        model.load_state_dict(state)
        return model

    pictures_only, texts_only = forget(text_weight=0), forget(image_weight=0)
    assert pictures_only[0] < -3 < -2 < pictures_only[1]  # mean log-probability of the colours, nats
    assert texts_only[1] < -3 < -2 < texts_only[0]
    both, double = forget(), forget(image_weight=2)
    assert max(both[:2]) < -2
    assert double[2][0]["forget_loss"] - both[2][0]["forget_loss"] == pytest.approx(
        pictures_only[2][0]["forget_loss"], rel=1e-4
    )  # 2·L_image + L_text − (L_image + L_text)


def test_weights_that_leave_nothing_and_methods_without_modalities_are_refused():
    model, tokenizer = seeing.llava()
    table = seeing.examples()
    plan = make_plan({"forget": "ga", "lr": 1e-3, "epochs": 1, "image_weight": 0})
    with pytest.raises(RowsError, match="nothing would be unlearned"):
        pair.unlearn(Given(model, tokenizer, table[::2], table[::2], plan, 0))
    with pytest.raises(RowsError, match="retain set has no example of modality text"):
        pair.unlearn(Given(model, tokenizer, table, table[::2], plan, 0))
    with pytest.raises(PlanError, match="ngdiff knows no modalities"):
        make_plan({"method": "ngdiff", "lr": 1e-3, "epochs": 1, "image_weight": 2})
    with pytest.raises(RowsError, match="not done where a picture is shown"):
        encode_rows(tokenizer, table, questions=True)


def test_text_is_encoded_as_the_processors_template_has_it():
    _, tokenizer = seeing.llava()
    plain = encode(tokenizer, [{"role": "user", "content": "A b"}], "red")
    words = "<|user|>A b<|assistant|>"
    assert plain.prompt_ids == tokenizer(words, add_special_tokens=False).input_ids and plain.seen is None
    begun = encode_prompts(tokenizer, [[{"role": "user", "content": "A"}, {"role": "assistant", "content": "re"}]])[0]
    assert tokenizer.decode(begun) == "<|user|>A<|assistant|>re"
