"""What the report shows of UMU-Bench."""

from unlearning.report.kinds import ALL, SEEDS, Column, Epochs, Groups, Matrix, Spec, TradeOff

GROUPS = (("forget", "forget"), ("retain", "retain"), ("real_people", "real people"))
TASKS = (("classification", "Classification", "acc"), ("cloze", "Cloze", "acc"), ("generation", "Generation", "rl"))
MODALITIES = (("mul", "image"), ("uni", "text"))
UTILITY = Column("Average utility", "utility_average", "all")
SHORT = {"classification": "class", "cloze": "cloze", "generation": "descr."}
NAMES = {"acc": "Acc", "rl": "RL"}
F_R = {"forget": "f", "retain": "r", "real_people": "r"}
OUTCOMES = (
    ("text only", "forgotten_text_only"),
    ("image only", "forgotten_image_only"),
    ("both", "forgotten_both"),
    ("neither", "forgotten_neither"),
)


def _overall(task: str, group: str, label: str = "", **further) -> Column:
    """The score of a task over both modalities."""
    prefix = next(p for t, _, p in TASKS if t == task)
    return Column(label or dict(GROUPS)[group], f"{prefix}_{F_R[group]}", group, task=task, **further)


def _modalities(task: str, prefix: str, group: str, **further) -> tuple[Column, ...]:
    """About the picture and in text."""
    return tuple(Column(label, f"{prefix}_{kind}", group, task=task, **further) for kind, label in MODALITIES)


def _by_modality(group: str, words: str) -> Spec:
    columns = []
    for task, head, prefix in TASKS:
        columns += _modalities(task, prefix, group, head=head)
        kinds = () if task == "generation" else ("all", "any")
        columns += [Column({"all": "both", "any": "either"}[k], f"acc_{k}", group, task=task, head=head) for k in kinds]
    return Spec(f"modalities_{group}", f"By modality: {words}",
                "Right about the picture (image), in text, in both and in either, of pairs of questions that ask for "
                "the same; ROUGE-L for generation.", tuple(columns))  # fmt: skip


UMU_TABLES = (
    Spec("results", "Results",
         "Acc F and RL F on forget are low only if little is left in either modality, Acc R and RL R elsewhere are "
         "high only if both are kept; average utility is the mean of the six columns of retain and real people. In "
         "brackets: 95 % bootstrap intervals. " + SEEDS,
         (*(_overall(task, group, head=head) for task, head, _ in TASKS for group, _ in GROUPS), UTILITY)),
    *(_by_modality(group, words) for group, words in GROUPS),
    Spec("deltas", "What unlearning took away",
         "The target's score minus the unlearned model's, about the picture, in text and over both (F); above 0, less "
         "is answered than before. Other groups are in the CSV.",
         tuple(
             Column(label, f"delta_{kind}", group, task=task, head=f"{head}, {words}", csv_only=group != "forget")
             for group, words in GROUPS for task, head, _ in TASKS
             for kind, label in (*MODALITIES, (F_R[group], F_R[group].upper())))),
    Spec("misalignment", "Misalignment",
         "Of the forget pairs that the target answers right in both modalities, the share that the model now fails in "
         "text only, about the picture only, in both, in neither.",
         tuple(Column(label, metric, task=task, head=head)
               for task, head, _ in TASKS[:2] for label, metric in OUTCOMES)),
    Spec("abstentions", "Abstentions",
         "Share of answers that refuse. They are graded like all others. Real people are in the CSV.",
         tuple(Column(f"{words}, {label}", f"abstained_{kind}", group, task=task, head=head,
                      csv_only=group == "real_people", optional=True)
               for task, head, _ in TASKS for group, words in GROUPS for kind, label in MODALITIES)),
    Spec("attacks", "Attacks",
         "Under each attack; change: against the same run without one. With shuffled pictures: right answers about "
         "them, how many there would be if each were about the person shown, and the difference (near 0, too, where a "
         "model knows nothing: see the accuracy without attack). Of several samples, means. Bold compares methods "
         "under the same attack.",
         (*(column for task, head, prefix in TASKS for column in (
             _overall(task, "forget", "F", head=head, optional=True),
             Column("change", f"{prefix}_f_change", task=task, head=head, optional=True))),
          *(Column(f"{label}, {head.lower()}", metric, task=task, head="Shuffled pictures", optional=True)
            for task, head, _ in TASKS[:2]
            for label, metric in (("right", "picture_acc"), ("predicted", "picture_predicted"),
                                  ("difference", "picture_excess")))),
         attacks=True),
)  # fmt: skip
UMU_FIGURES = (
    Groups("gap", "Forget questions about the picture and in text",
           tuple((f"{head}. Above the bars: image − text", _modalities(task, prefix, "forget"))
                 for task, head, prefix in TASKS), gap=True),
    *(TradeOff(f"tradeoff_{task}", f"Forgetting against keeping: {head.lower()}",
               _overall(task, "forget", f"{NAMES[prefix]} F, forget"),
               _overall(task, "retain", f"{NAMES[prefix]} R, retain"), ALL)
      for task, head, prefix in TASKS),
    Groups("misalignment", "What the target knew in both modalities and the model forgot",
           tuple((head, tuple(Column(label, metric, task=task) for label, metric in OUTCOMES))
                 for task, head, _ in TASKS[:2])),
    Matrix("modalities", "Every task in both modalities",
           tuple((words.capitalize(),
                  tuple(column._replace(label=f"{SHORT[task]}\n{column.label}")
                        for task, _, prefix in TASKS for column in _modalities(task, prefix, group)))
                 for group, words in GROUPS)),
    Epochs("epochs", "Scores by epoch",
           (*(_overall(task, group, f"{head}, {words}") for group, words in GROUPS for task, head, _ in TASKS),
            UTILITY)),
)  # fmt: skip
