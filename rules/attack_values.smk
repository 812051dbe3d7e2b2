# Needs: values.smk. Makes: what attacks change (weights, prompts, decoding) and what of it each rule is told.
ATTACKS = {}
for run in RUNS:
    ATTACKS.setdefault(run._replace(attack="none"), []).extend([run.attack] if run.attack != "none" else [])


def attacked_model(w, attack):
    """The model.json to ask: the run's own, or the one the attack's weight attacks made of it."""
    parts = compose(attack, CONFIG.attacks).weights
    return f"{run_folder(w)}/e{w.epoch}/{'+'.join(parts)}/model.json" if parts else model_after(w, w.epoch)


def weights_attack(w):
    """The last weight attack of the composed name: the one that this job applies."""
    return CONFIG.attacks[w.attack.split("+")[-1]]


@functools.cache
def attack_says(name, literal, default=()):
    """A literal of the module of the attack that the configuration calls `name`."""
    return declared(f"unlearning.attacks.{CONFIG.attacks[name].attack}", literal, default)


def weights_attack_inputs(w):
    """The model before this attack, and the data where the attack needs them."""
    *before, last = w.attack.split("+")
    data_needed = {name: data(name)(w) for name in ("examples", "splits") if name in attack_says(last, "NEEDS")}
    return {"source": attacked_model(w, "+".join(before) or "none"), **data_needed}


def weights_attack_running(w):
    """Where the attack runs; for one that trains, on what and by which seed."""
    if not attack_says(w.attack.split("+")[-1], "NEEDS"):
        return {"device": CONFIG.device}
    values = running(CONFIG.base_models[w.base_model], w) | {"split": w.split, "languages": train_languages(w)}
    del values["lora"]
    return values


def asked_model(w):
    return attacked_model(w, w.attack)


def answer_values(w, attack):
    parts = compose(attack, CONFIG.attacks)
    only = asked_only(parts)
    values = likelihood_values(w) | {
        "decoding": {CONFIG.attacks[name].attack: attack_params(name) for name in parts.decoding},
        "max_new_tokens": benchmark_of(w).asking.max_new_tokens,
        "backend": benchmark_of(w).asking.backend,
        "only": only,
        "seed": int(w.seed),
    }
    prompts = {"prompts": prompt_attacks(parts.prompts)} if parts.prompts else {}
    asked = {"asked_split": w.split} if mixed_of(w) and w.method != "target" else {}
    return values | prompts | asked | ({"split": w.split} if split_needed(parts) else {})


def prompt_attacks(names):
    """The attacks on prompts called `names`, as `prompted` takes them."""
    return [{"attack": CONFIG.attacks[name].attack, "params": attack_params(name)} for name in names]


def asking_modules(attack):
    """The modules of a composed attack's parts that choose prompts and decoding."""
    parts = compose(attack, CONFIG.attacks)
    return [f"unlearning.attacks.{CONFIG.attacks[name].attack}" for name in parts.prompts + parts.decoding]


JUDGED = ("CHANGES_REFERENCE",)
SCORED = (*JUDGED, "CHANGES_PICTURE")


def changed_answers(w, literals):
    """The attacks of the run that change what whoever judges (JUDGED) or scores (SCORED) has to know."""
    parts = compose(w.attack, CONFIG.attacks)
    return [name for name in parts.prompts if any(attack_says(name, literal, False) for literal in literals)]


def changed_modules(w, literals=JUDGED):
    return [f"unlearning.attacks.{CONFIG.attacks[name].attack}" for name in changed_answers(w, literals)]


def changed_values(w, literals=JUDGED):
    """What judging and scoring take of such attacks; nothing where there are none."""
    return {"prompts": prompt_attacks(names)} if (names := changed_answers(w, literals)) else {}


def split_needed(parts):
    """Whether the run's split says which items are asked, or what prompts may be made of."""
    return asked_only(parts) == "forget" or any("splits" in attack_says(name, "NEEDS") for name in parts.prompts)


def asked_only(parts):
    """Whether an attack is tried on the forget items only, or on all."""
    return "forget" if any(CONFIG.attacks[name].only == "forget" for name in parts.all) else "all"


def answer_inputs(w):
    """The splits are read only where they are needed: the target is asked once for all of them."""
    parts = compose(w.attack, CONFIG.attacks)
    inputs = {"model": asked_model(w), "questions": data("items")(w)}
    if split_needed(parts):
        inputs["splits"] = data("splits")(w)
    phrases = {CONFIG.attacks[name].attack for name in parts.prompts if "phrases" in attack_says(name, "NEEDS")}
    return inputs | ({"phrases": [f"resources/attacks/{name}.yaml" for name in sorted(phrases)]} if phrases else {})


def attack_params(name):
    """The attack's own defaults with what the configuration changes."""
    entry = CONFIG.attacks[name]
    return declared(f"unlearning.attacks.{entry.attack}", "PARAMS", {}) | entry.params


def attacks_read(w):
    """The attacks whose verdicts the scores of the run read: those planned on it, where a metric needs them."""
    if w.attack != "none" or "attacks:verdicts" not in metric_needs(w.benchmark):
        return []
    numbers = {"seed": int(w.seed), "epoch": int(w.epoch)}
    return ATTACKS.get(type(RUNS[0])(**{name: numbers.get(name, w[name]) for name in RUNS[0]._fields}), [])


def plain_verdicts(w):
    """The verdicts of an attacked run without its attack, where a metric needs them."""
    if w.attack == "none" or "plain:verdicts" not in metric_needs(w.benchmark):
        return []
    return f"{run_folder(w)}/e{w.epoch}/none/verdicts.parquet"
