# Needs: attack_values.smk, select_values.smk. Makes: which models keep_models does not keep.
from snakemake.iocontainers import Wildcards


def own_models(but=()):
    """The model.json of the runs themselves, but for those of the methods `but`."""
    return {f"{run_folder(run._asdict())}/model.json": None for run in RUNS if run.method not in but}


def passing_models():
    """The model.json of what is made on the way: candidates, models by epoch, attacked models."""
    found, own = [], own_models()
    for run in RUNS:
        w = Wildcards(fromdict=run._asdict())
        if run.method in SEARCHED:
            found += candidate_files(w, "model.json")
        attacks = compose(run.attack, CONFIG.attacks).weights  # one after the other, each with a model of its own
        found += [attacked_model(w, "+".join(attacks[:n]) or "none") for n in range(len(attacks) + 1)]
    return [model for model in dict.fromkeys(found) if model not in own]


def dropped_models():
    """What `keep_models` does not keep."""
    if CONFIG.keep_models == "all":
        return []
    unlearned = own_models(but=("target",)) if CONFIG.keep_models == "targets" else []
    return list(dict.fromkeys([*passing_models(), *unlearned]))
