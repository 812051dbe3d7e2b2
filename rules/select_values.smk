# Needs: values.smk. Makes: what the rules of select.smk use: who is searched, what the criterion reads, where it lies.
SEARCHED = [name for name, method in CONFIG.methods.items() if method.select]


def criterion_of(w):
    return CONFIG.methods[w.method].select


def needed(criterion):
    """What the metrics of a criterion need: likelihoods, answers, verdicts, values; target:<table>, retrain:<table>."""
    metrics = declared(f"unlearning.criteria.{criterion}", "METRICS")
    return {need for metric in metrics for need in declared(f"unlearning.metrics.{metric}", "NEEDS")}


def if_needed(name, source):
    """Input function: what `source` gives where the criterion needs the table `name`, or any of the model `name`."""
    return lambda w: source(w) if name in {need.split(":")[0] for need in needed(w.criterion)} else []


def writes(criterion):
    """Whether the candidates have to write answers: where likelihoods are enough, they are asked for these alone."""
    return not {"answers", "verdicts"}.isdisjoint(needed(criterion))


def candidate_files(w, name):
    """The file `name` of each candidate's run; {epochs} in it stands for how many the candidate trains."""
    parts = dict(w.items())
    base_model = parts["base_model"]
    return [
        f"{run_folder(w, method=candidate)}/{name.format(epochs=epochs_of(CONFIG, base_model, candidate))}"
        for candidate in candidates_of(CONFIG, base_model, parts["method"])
    ]


def candidate_scores(w):
    return candidate_files(w, f"e{{epochs}}/none/scores~{criterion_of(w)}.parquet")


def scores_against(w):
    """The scores, for the criterion, of the models that candidates are held against, by the run's own split."""
    criterion = criterion_of(w)
    found = []
    for name in declared(f"unlearning.criteria.{criterion}", "AGAINST"):
        folder = RUN.format(**(dict(w.items()) | {"method": name}))
        found.append(f"{folder}/e{last_epoch(w, name)}/none/scores~{criterion}.parquet")
    return found


def choose_values(w):
    found = candidates_of(CONFIG, w.base_model, w.method)
    identity = {k: w[k] for k in ("benchmark", "base_model", "setting", "split", "method")}
    return {
        "criterion": criterion_of(w),
        "candidates": [{"changed": c, "epochs": epochs_of(CONFIG, w.base_model, name)} for name, c in found.items()],
        "identity": identity | {"seed": int(w.seed)},
    }


def criterion_metrics(w):
    return declared(f"unlearning.criteria.{w.criterion}", "METRICS")


def criterion_score_values(w):
    """As of any run, for the criterion's metrics alone; who judges counts only where there are verdicts."""
    judged = {} if "verdicts" in needed(w.criterion) else {"judge": ""}
    return score_values(w) | {"metrics": list(criterion_metrics(w)), "second_judges": []} | judged


def deciding_selection(w):
    """The selection of the scored run, where it decides how many epochs that was trained."""
    if w.method not in SEARCHED:
        return []
    epochs = {epochs_of(CONFIG, w.base_model, name) for name in candidates_of(CONFIG, w.base_model, w.method)}
    return f"{run_folder(w)}/selection.parquet" if len(epochs) > 1 else []


def selections():
    """The selection of every searched run that is reported."""
    folders = {run_folder(r._asdict()): None for r in RUNS if r.method in SEARCHED}
    return [f"{folder}/selection.parquet" for folder in folders]
