"""What the report shows of each benchmark: tables and figures as data, and which way each metric is better."""

from unlearning.report.kinds import (
    ALL,
    EACH,
    SEEDS,
    Bars,
    Column,
    Epochs,
    Groups,
    HeatMap,
    Lines,
    Matrix,
    Radar,
    Spec,
    TradeOff,
)
from unlearning.report.specs_seps import SEPS_CORRELATED, SEPS_FIGURES, SEPS_TABLES
from unlearning.report.specs_umu import UMU_FIGURES, UMU_TABLES
from unlearning.score.tasks import MULTI

# Which way a metric is better: lower, higher, zero (closest to it), none; by group, "" for every group not named.
DIRECTIONS: dict[str, dict[str, str]] = {
    "ps": {"forget": "lower", "retain": "higher"},
    "se": {"forget": "lower", "retain": "higher"},
    "value_probability": {"forget": "lower", "retain": "higher"},
    "probability": {"forget": "lower", "": "higher", "nonmember": "none"},
    "rouge_l": {"forget": "lower", "": "higher", "nonmember": "none"},
    "rouge_l_recall": {"forget": "lower", "": "higher", "nonmember": "none"},
    "truth_ratio": {"forget": "lower", "": "higher", "nonmember": "none"},
    "truth_ratio_min": {"forget": "higher"},
    "truth_ratio_one_minus_min": {"forget": "lower", "": "higher", "nonmember": "none"},
    "truth_ratio_share": {"forget": "lower", "": "higher", "nonmember": "none"},
    "exact_memorization": {"forget": "lower", "retain": "higher"},
    "extraction_strength": {"forget": "lower", "retain": "higher"},
    "kss_prob_roc": {"": "higher"}, "kss_prob_roc_ratio": {"": "higher"}, "kss_prob_roc_chance": {"": "higher"},
    "kss_prob_pr": {"": "higher"}, "kss_prob_pr_ratio": {"": "higher"}, "kss_prob_pr_chance": {"": "higher"},
    "kss_gen_roc": {"": "higher"}, "kss_gen_roc_ratio": {"": "higher"}, "kss_gen_roc_chance": {"": "higher"},
    "kss_gen_pr": {"": "higher"}, "kss_gen_pr_ratio": {"": "higher"}, "kss_gen_pr_chance": {"": "higher"},
    "privleak": {"": "zero"}, "privleak_flipped": {"": "zero"}, "privleak_relative": {"": "zero"},
    "kps": {"": "lower"},
    "drop_rate": {"forget": "higher", "retain": "lower"},
    "code_mixing": {"forget": "lower"},
    "general_knowledge": {"": "higher"}, "tydi_f1": {"": "higher"}, "tydi_em": {"": "higher"},
    "model_utility": {"": "higher"},
    "forget_quality": {"": "higher"},
    "accuracy": {"forget": "lower", "": "higher", "nonmember": "none"},
    "fq": {"": "higher"}, "fq_pooled": {"": "higher"},
    "rr": {"": "lower"}, "robustness": {"": "higher"}, "reasoning": {"": "higher"},
    "mmlu": {"": "higher"},
    "regurgitation": {"forget": "lower", "": "higher"}, "regurgitation_f": {"forget": "lower", "": "higher"},
    "knowmem": {"forget": "lower", "": "higher", "nonmember": "none"},
    "verbmem": {"forget": "lower", "": "higher", "nonmember": "none"},
    "knowledge": {"forget": "lower", "": "higher"}, "knowledge_tolerant": {"forget": "lower", "": "higher"},
    "mia_final": {"": "higher"}, "task_aggregate": {"": "higher"}, "final": {"": "higher"},
    "judge": {"forget": "lower", "": "higher", "nonmember": "none"},
    "cosine": {"forget": "lower", "": "higher", "nonmember": "none"},
    "cosine_gt": {"forget": "lower", "": "higher", "nonmember": "none"},
    "mu": {"": "higher"}, "fe": {"forget": "lower", "": "higher"},
    "acc_mul": {"forget": "lower", "": "higher"}, "acc_uni": {"forget": "lower", "": "higher"},
    "acc_all": {"forget": "lower", "": "higher"}, "acc_any": {"forget": "lower", "": "higher"},
    "acc_f": {"": "lower"}, "acc_r": {"": "higher"}, "rl_f": {"": "lower"}, "rl_r": {"": "higher"},
    "rl_mul": {"forget": "lower", "": "higher"}, "rl_uni": {"forget": "lower", "": "higher"},
    "utility_average": {"": "higher"},
    "delta_mul": {"forget": "higher", "": "lower"}, "delta_uni": {"forget": "higher", "": "lower"},
    "delta_f": {"": "higher"}, "delta_r": {"": "lower"},
    "forgotten_text_only": {"": "lower"}, "forgotten_image_only": {"": "lower"}, "forgotten_both": {"": "higher"},
    "forgotten_neither": {"": "lower"}, "abstained_mul": {"": "none"}, "abstained_uni": {"": "none"},
    "picture_acc": {"": "none"}, "picture_predicted": {"": "none"}, "picture_excess": {"": "zero"},
    "fis": {"": "lower"}, "ris": {"": "higher"}, "seps": {"": "higher"}, "h_avg": {"": "higher"},
}  # fmt: skip

COUNTS = ("kappa_answers", "kappa_failed")
PER_CENT = ("privleak", "privleak_flipped", "drop_rate")  # and every *_ratio, *_chance of the KSS


def direction(metric: str, group: str) -> str:
    """lower, higher, zero or none: which way `metric` is better on `group`, whichever judge (`se:<judge>`) it is by."""
    ways = DIRECTIONS.get(metric.split(":")[0], {})
    return ways.get(group, ways.get("", "none"))


def per_cent(metric: str) -> bool:
    """Whether the metric is given in per cent; others lie in 0-1 (kappa: from −1), but for COUNTS."""
    plain = metric.removesuffix("_change")
    return plain in PER_CENT or (plain.startswith("kss_") and plain.endswith(("_ratio", "_chance")))


SIDES = (("train", "Training languages"), ("holdout", "Hold-out languages"))
KSS = (("prob", "roc"), ("prob", "pr"), ("gen", "roc"), ("gen", "pr"))


def _side(language: str, head: str) -> tuple[Column, ...]:
    """One half of the mu2 result table."""
    separability = tuple(
        column
        for kind, curve in KSS
        for column in (
            Column(f"KSS {kind} {curve.upper()}", f"kss_{kind}_{curve}_ratio", "forget", language, head=head),
            Column("raw", f"kss_{kind}_{curve}", "forget", language, head=head, csv_only=True, optional=True),
            Column("chance", f"kss_{kind}_{curve}_chance", "forget", language, head=head, csv_only=True, optional=True),
        )
    )
    return (
        Column("PS forget", "ps", "forget", language, head=head),
        Column("SE forget", "se", "forget", language, head=head),
        *separability,
        Column("PrivLeak", "privleak", "forget", language, head=head),
        Column("KPS", "kps", "forget", language, head=head),
        Column("PS retain", "ps", "retain", language, head=head),
    )


def _drops(levels: tuple[tuple[str, str], ...]) -> tuple[Column, ...]:
    return tuple(
        Column(label, "drop_rate", "forget", language, task, head=f"{task.upper()} drop", optional=True)
        for task in ("ps", "se")
        for language, label in levels
    )


def _attacked(language: str, head: str) -> tuple[Column, ...]:
    return (
        Column("SE", "se", "forget", language, head=head),
        Column("change", "se_change", "forget", language, head=head, optional=True),
        Column("SE in any sample", "se", "forget", language, "any", head=head, optional=True),
        Column("PS", "ps", "forget", language, head=head),
        Column("change", "ps_change", "forget", language, head=head, optional=True),
        Column("RR", "rr", "forget", language, "single_hop", head=head, optional=True),
    )


def _mixing(language: str, head: str) -> tuple[Column, ...]:
    return (
        Column("Value probability", "value_probability", "forget", language, head=head, optional=True),
        Column("Code mixing", "code_mixing", "forget", language, head=head, optional=True),
        Column("Other language", "answer_language", "forget", language, head=head, optional=True),
    )


MU2_TABLES = (
    Spec("results", "Results",
         "Forgetting, separability, privacy and what is kept, on the training languages (left) and the hold-out "
         "languages (right); general knowledge over all languages. KSS is 100 · KSS(f) / KSS(retrained); the raw and "
         "the chance-corrected values are in the CSV. "
         "In brackets: 95 % bootstrap intervals over knowledge instances. " + SEEDS,
         (*_side("train", SIDES[0][1]), *_side("holdout", SIDES[1][1]),
          Column("General knowledge", "general_knowledge", "utility"))),
    Spec("drop_by_resource", "Drop by resource level",
         "How much of the target's score on the forget set is gone: 100 · (target − unlearned) / target, per cent.",
         _drops((("train:high", "train, high"), ("train:low", "train, low"),
                 ("holdout:high", "hold-out, high"), ("holdout:low", "hold-out, low")))),
    Spec("drop_by_script", "Drop by script (hold-out languages)",
         "100 · (target − unlearned) / target on the forget set, per cent, for Latin and for other scripts.",
         _drops((("holdout:latin", "Latin"), ("holdout:other", "other")))),
    Spec("ps_by_language", "Probability score by language", "PS on the forget set, one column per language.",
         (Column("{language}", "ps", "forget", EACH),)),
    Spec("se_by_language", "Semantic equivalence by language", "SE on the forget set, one column per language.",
         (Column("{language}", "se", "forget", EACH),)),
    Spec("beyond", "Values and languages of the answers",
         "On the forget set: the probability of the value alone, the share of answers with the right value in another "
         "language, and the share of answers in another language than the question's.",
         (*_mixing("train", SIDES[0][1]), *_mixing("holdout", SIDES[1][1]))),
    Spec("attacks", "Attacks",
         "SE and PS on the forget set under each attack. Change: the value under the attack minus the same run's "
         "without one; above 0, the attack brings something back. Bold compares methods under the same attack.",
         (*_attacked("train", SIDES[0][1]), *_attacked("holdout", SIDES[1][1])), attacks=True),
)  # fmt: skip

PARTS = (("probability", "Probability"), ("rouge_l_recall", "ROUGE-L recall"), ("truth_ratio", "Truth ratio"))
TOFU_TABLES = (
    Spec("results", "Results",
         "Model utility is the harmonic mean of the nine parts in the next table; forget quality is the p-value of a "
         "two-sample Kolmogorov–Smirnov test between the truth ratios of this model and of the retrained one. " + SEEDS,
         (Column("Model utility", "model_utility", "all", optional=True),
          Column("Forget quality", "forget_quality", "forget", optional=True),
          Column("its log10", "forget_quality", "forget", task="log10", optional=True),
          Column("{group}", "probability", EACH, head="Probability", optional=True),
          Column("{group}", "rouge_l_recall", EACH, head="ROUGE-L recall", optional=True),
          Column("{group}", "truth_ratio", EACH, head="Truth ratio", optional=True),
          *(Column("{group}", f"truth_ratio_{variant}", EACH, head="Truth ratio, other readings", csv_only=True,
                   optional=True) for variant in ("min", "one_minus_min", "share")))),
    Spec("model_utility", "Model utility and its parts", "The harmonic mean is 0 as soon as one part is 0.",
         (Column("Model utility", "model_utility", "all", optional=True),
          *(Column(label, "model_utility", "all", task=f"{group}:{part}", head=head, optional=True)
            for group, head in (("retain", "Retain"), ("real_authors", "Real authors"), ("world_facts", "World facts"))
            for part, label in PARTS))),
    Spec("attacks", "Attacks", "Under each attack, on the forget set; change: against the same run without one.",
         (Column("Probability", "probability"), Column("change", "probability_change", optional=True),
          Column("ROUGE-L recall", "rouge_l_recall"), Column("change", "rouge_l_recall_change", optional=True)),
         attacks=True),
)  # fmt: skip

KINDS = "Kind of question"
HOPS = (("single_hop", "single-hop"), ("multi_hop", "multi-hop"))
UTILITY = (Column("Utility (BBH)", "reasoning", "utility"), Column("Utility (retain accuracy)", "accuracy", "retain"))
LEAK_TABLES = (
    Spec("results", "Results",
         "Forget quality (FQ) is the mean over kinds of question, pooled over all questions in the second column; "
         "robustness is 1 − the highest recovery rate under any attack. Reasoning (Big-Bench Hard) and retain accuracy "
         "say what is kept. In brackets: 95 % bootstrap intervals over knowledge instances. " + SEEDS,
         (Column("FQ", "fq"), Column("FQ pooled", "fq_pooled"), Column("Robustness", "robustness"),
          Column("Accuracy, retain", "accuracy", "retain"),
          Column("Reasoning", "reasoning", "utility", optional=True))),
    Spec("forget_quality", "Forget quality by kind of question",
         "1 − accuracy / the target's accuracy; below 0, more is answered than before. SH is single-hop; hypothetical "
         "syllogism (HS), modus tollens (MT), disjunctive syllogism (DS), Leibniz's law (LL), modus ponens (MP) and "
         "conjunctive composition (CC) take several hops.",
         (*(Column(task.upper(), "fq", task=task, head=KINDS) for task in ("sh", *MULTI)), Column("mean", "fq"),
          Column("pooled", "fq_pooled")), across=KINDS),
    Spec("recovery", "Recovery rate",
         "Of the questions that the target answers right and the unlearned model wrong, the share that it answers "
         "right under the attack. Bold compares methods under the same attack.",
         tuple(Column(label, "rr", task=hop) for hop, label in HOPS), attacks=True, plain=False),
    Spec("accuracy", "Accuracy by kind of question",
         "Share of forget questions answered right. The target's row is the accuracy before unlearning: where it is "
         "low, there is little to unlearn.",
         (Column("single-hop", "accuracy", task="sh"), Column("multi-hop", "accuracy", task="multi_hop"),
          *(Column(task.upper(), "accuracy", task=task, head="By kind") for task in MULTI))),
)  # fmt: skip

TASKS = (("task1", "Stories"), ("task2", "People"), ("task3", "Biographies"))
SCORES = (("regurgitation", "Regurgitation"), ("knowledge", "Knowledge"))


def _tasks(metric: str, group: str, **further) -> tuple[Column, ...]:
    """One column a task of LUME, and one over all."""
    head = f"{dict(SCORES).get(metric, metric.replace('_', ' '))}, {group}"
    return tuple(
        Column(label, metric, group, task=task, head=head, optional=True, **further)
        for task, label in (("all", "all"), *((task, label.lower()) for task, label in TASKS))
    )


LUME_TABLES = (
    Spec("results", "Results",
         "Regurgitation and knowledge over all prompts; the membership attack (MIA) on bare documents, whose ideal is "
         "0.5; the aggregate of the next table. In brackets: 95 % bootstrap intervals. " + SEEDS,
         (*(Column(f"{label}, {group}", metric, group, optional=True) for metric, label in SCORES
            for group in ("forget", "retain")),
          Column("MIA", "mia_auc", optional=True), Column("MIA score", "mia_final", optional=True),
          Column("Aggregate", "task_aggregate", "all", optional=True),
          Column("MMLU", "mmlu", "utility", optional=True), Column("Final", "final", "all", optional=True))),
    Spec("aggregate", "The shared task's aggregate and its parts",
         "The harmonic mean of the twelve values beside it, of which those on forget are 1 − the score: high is good "
         "in every column. It is 0 as soon as one part is 0.",
         (Column("Aggregate", "task_aggregate", "all", optional=True),
          *(Column(f"{label}, {group}", "task_aggregate", "all", task=f"{task}:{group}:{metric}", head=head,
                   optional=True)
            for task, head in TASKS for group in ("forget", "retain") for metric, label in SCORES))),
    Spec("by_task", "By task",
         "Regurgitation and knowledge by task; knowledge tolerant takes dates, numbers, addresses in whatever format.",
         (*(column for metric in ("regurgitation", "knowledge", "knowledge_tolerant") for group in ("forget", "retain")
            for column in _tasks(metric, group)),
          *(column for group in ("forget", "retain") for column in _tasks("regurgitation_f", group, csv_only=True)))),
)  # fmt: skip

CORRELATED: dict[str, tuple[tuple[str, tuple[Column, ...]], ...]] = {"seps": SEPS_CORRELATED}

TABLES: dict[str, tuple[Spec, ...]] = {
    "mu2": MU2_TABLES, "leak": LEAK_TABLES, "lume": LUME_TABLES, "seps": SEPS_TABLES, "tofu": TOFU_TABLES,
    "files": TOFU_TABLES, "umu": UMU_TABLES,
}  # fmt: skip

PS_RETAIN = Column("PS retain", "ps", "retain")
MU2_EPOCHS = Epochs("epochs", "Scores by epoch", tuple(
    Column(f"{label}, {head.lower()}", metric, group, language)
    for language, head in SIDES
    for label, metric, group in (("PS forget", "ps", "forget"), ("SE forget", "se", "forget"),
                                 ("PS retain", "ps", "retain"))
))  # fmt: skip
TOFU_FIGURES = (
    TradeOff("tradeoff", "Forgetting against utility", Column("probability, forget", "probability"),
             Column("model utility", "model_utility", "all"), ALL),
    Bars("attacks", "Probability of forgotten answers under attack", "probability", "forget", ALL),
    Epochs("epochs", "Scores by epoch",
           (Column("Probability, forget", "probability"), Column("ROUGE-L recall, forget", "rouge_l_recall"),
            Column("Model utility", "model_utility", "all"))),
)  # fmt: skip
LEAK_FIGURES = (
    Radar("triangle", "Forget quality, robustness, utility",
          ((Column("Forget quality", "fq"),), (Column("Robustness", "robustness"),), UTILITY)),
    TradeOff("tradeoff", "Forgetting against keeping", Column("Forget quality", "fq"),
             Column("accuracy, retain", "accuracy", "retain"), ALL),
    Bars("attacks", "Accuracy on forget questions under attack", "accuracy", "forget", ALL),
    Epochs("epochs", "Scores by epoch",
           (Column("Accuracy, forget", "accuracy"), Column("Forget quality", "fq"),
            Column("Accuracy, retain", "accuracy", "retain"))),
)  # fmt: skip
LUME_FIGURES = (
    Epochs("epochs", "Regurgitation and knowledge by epoch, in each task",
           tuple(Column(f"{title}: {label.lower()}, {group}", metric, group, task=task)
                 for task, title in TASKS for metric, label in SCORES for group in ("forget", "retain")), across=4),
    Epochs("epochs_mia", "Membership attack by epoch", (Column("AUC (ideal: 0.5)", "mia_auc"),)),
    Epochs("epochs_utility", "Utility by epoch",
           (Column("Knowledge, retain", "knowledge", "retain"), Column("MMLU", "mmlu", "utility"))),
    TradeOff("tradeoff", "Forgetting against keeping", Column("knowledge, forget", "knowledge"),
             Column("knowledge, retain", "knowledge", "retain"), ALL),
    Bars("attacks", "Knowledge on forget questions under attack", "knowledge", "forget", ALL),
)  # fmt: skip
FIGURES: dict[str, tuple[TradeOff | HeatMap | Bars | Groups | Matrix | Lines | Radar | Epochs, ...]] = {
    "leak": LEAK_FIGURES,
    "seps": SEPS_FIGURES,
    "lume": LUME_FIGURES,
    "mu2": (
        TradeOff("tradeoff_ps", "Forgetting against keeping: probability", Column("PS forget", "ps"), PS_RETAIN, SIDES),
        TradeOff("tradeoff_se", "Forgetting against keeping: answers", Column("SE forget", "se"), PS_RETAIN, SIDES),
        HeatMap("languages_se", "Semantic equivalence on the forget set by language", "se", "forget"),
        HeatMap("languages_ps", "Probability score on the forget set by language", "ps", "forget"),
        Bars("attacks_se", "Semantic equivalence on the forget set under attack", "se", "forget", SIDES),
        Bars("attacks_ps", "Probability score on the forget set under attack", "ps", "forget", SIDES),
        MU2_EPOCHS,
    ),
    "tofu": TOFU_FIGURES,
    "files": TOFU_FIGURES,
    "umu": UMU_FIGURES,
}


def agreement(judges: list[str]) -> Spec:
    """How far each of `judges`, the second ones, agrees with the primary judge, by group of questions."""
    columns = tuple(
        column._replace(group=EACH, task=judge, head=head, optional=True)
        for judge in judges
        for head in [f"Judge {judge}"]
        for column in (
            Column("SE, {group}", f"se:{judge}"),
            Column("κ, {group}", "kappa"),
            Column("agreement, {group}", "kappa_agreement"),
            Column("answers, {group}", "kappa_answers"),
            Column("without verdict, {group}", "kappa_failed"),
        )
    )
    columns = tuple(c._replace(task="all") if c.metric.startswith("se:") else c for c in columns)
    return Spec("judges", "Agreement of judges",
                "The same answers judged by another than the primary judge, all languages: SE by that judge, Cohen's κ "
                "and the share of answers with the same verdict, how many answers both judged, and how many got no "
                "verdict from one of them (no reply, or none that could be read, though asked again), which the rest "
                "leaves out. " + SEEDS, columns)  # fmt: skip


def generic(keys: list[tuple[str, str, str, str]]) -> tuple[Spec, ...]:
    """Tables for a benchmark without its own: every (metric, group, language, task) in `keys`, wide languages first."""
    wide = [k for k in keys if k[2] in ("all", "train", "holdout")] or keys
    columns = tuple(
        Column(" ".join(part for part in (metric.replace("_", " "), language, task) if part != "all"),
               metric, group, language, task, head=group.replace("_", " "))
        for metric, group, language, task in sorted(wide, key=lambda k: (k[1], k[0], k[3], k[2]))
    )  # fmt: skip
    return (Spec("results", "Results", "Every score of this benchmark. " + SEEDS, columns),)
