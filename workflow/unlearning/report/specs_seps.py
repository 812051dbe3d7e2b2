"""What the report shows of SEPS."""

from unlearning.report.kinds import ALL, SEEDS, Bars, Column, Epochs, Groups, Lines, Matrix, Spec, TradeOff

# Of each group, where its questions stand in a mixed prompt; in brackets the one that is scored.
LETTERS = {
    "retain": (("[R]F", "rf_1"), ("F[R]", "fr_2"), ("[R]R", "rr_1"), ("R[R]", "rr_2")),
    "forget": (("[F]R", "fr_1"), ("R[F]", "rf_2"), ("[F]F", "ff_1"), ("F[F]", "ff_2")),
}
STRESS = tuple((n, m) for n in (1, 2, 4) for m in (1, 2, 4))  # questions to forget, to retain
THREE = (("rouge", "R"), ("cosine", "CS"), ("judge", "LLM"))
FOUR = (("rouge", "R"), ("probability", "P"), ("truth_ratio", "TR"), ("judge", "LLM"))
OVERALL = (Column("MU", "mu", "all"), Column("FE", "fe", "all"), Column("SEPS", "seps", "all"))
H_AVG = Column("H-Avg", "h_avg", "all")


def _letters(metric: str, group: str, **further) -> tuple[Column, ...]:
    """One column a question asked alone and in each place of a pair."""
    places = ((group[0].upper(), "all"), *LETTERS[group])
    return tuple(Column(label, metric, group, task=task, **further) for label, task in places)


def _stress(group: str, order: str, **further) -> tuple[Column, ...]:
    """One column a number of questions."""
    return tuple(
        Column(f"{n}F {m}R, {order}", "judge", group, task=f"stress_{n}f{m}r_{order}", **further) for n, m in STRESS
    )


BY_LETTER = "R is a question to retain, F one to forget, in the order asked; in brackets the one that is scored. "
SEPS_TABLES = (
    Spec("results", "Results",
         "Model utility (MU) and forget efficacy (FE) on questions asked alone, separability (SEPS) inside mixed "
         "prompts, and their harmonic mean, which is 0 as soon as one is 0. In brackets: 95 % bootstrap intervals. "
         + SEEDS, (*OVERALL, H_AVG)),
    Spec("detailed", "What MU, FE and SEPS are made of",
         "ROUGE-L recall (R), probability (P), truth ratio (TR), cosine to the target's answer (CS) and the judge's "
         "score (LLM). MU is a harmonic mean; FE is 1 − the arithmetic mean; SEPS is the arithmetic mean.",
         (*(Column(label, "mu", "retain", task=task, head="MU, retain") for task, label in FOUR),
          *(Column(label, "fe", "forget", task=task, head="FE, forget") for task, label in FOUR),
          *(Column(label, "seps", "all", task=task, head="SEPS") for task, label in THREE), H_AVG)),
    Spec("inclusion", "Inclusion in mixed prompts",
         "Retain inclusion score (RIS) and forget inclusion score (FIS): means over both orders of a pair. SEPS is "
         "max(RIS − FIS, 0).",
         tuple(Column(label, metric, "all", task=task, head=head) for task, head in (*THREE, ("all", "mean"))
               for metric, label in (("ris", "RIS"), ("fis", "FIS")))),
    Spec("letters", "Judge's score by letter",
         BY_LETTER + "ROUGE-L recall and cosine are in the CSV.",
         tuple(c for metric, shown in (("judge", True), ("rouge_l_recall", False), ("cosine", False))
               for group in LETTERS
               for c in _letters(metric, group, head=group.capitalize(), csv_only=not shown, optional=True))),
    Spec("stress", "Stress test",
         "Judge's score where one prompt asks so many questions to forget (F) and to retain (R), the retain ones "
         "first (rf) or last (fr).",
         tuple(c for group in LETTERS for order in ("rf", "fr")
               for c in _stress(group, order, head=f"{group.capitalize()} questions", optional=True))),
    Spec("attacks", "Attacks",
         "Under each attack; change: against the same run without one. Bold compares methods under the same attack.",
         (Column("LLM, forget", "judge", optional=True), Column("change", "judge_change", optional=True),
          Column("FE", "fe", "all", optional=True), Column("change", "fe_change", "all", optional=True),
          Column("SEPS", "seps", "all", optional=True), Column("change", "seps_change", "all", optional=True)),
         attacks=True),
)  # fmt: skip
SEPS_CORRELATED = (
    ("MU", (Column("R", "mu", "retain", task="rouge"), Column("CS", "cosine", "retain"),
            Column("LLM", "mu", "retain", task="judge"))),
    ("FE", (Column("R", "fe", "forget", task="rouge"), Column("CS", "cosine", "forget"),
            Column("LLM", "fe", "forget", task="judge"))),
    ("SEPS", tuple(Column(label, "seps", "all", task=task) for task, label in THREE)),
)  # fmt: skip
SEPS_FIGURES = (
    Groups("summary", "Utility, efficacy, separability", (("", OVERALL),)),
    TradeOff("tradeoff", "Forget efficacy against model utility", OVERALL[1],
             Column("model utility, nine values", "model_utility", "all"), ALL, OVERALL[0]),
    Matrix("letters", "Judge's score by letter",
           tuple((f"{group.capitalize()} questions", _letters("judge", group)) for group in LETTERS)),
    Groups("gap", "Retain and forget questions in one prompt: judge's score",
           (("RF: the retain question first. Above the bars: retain − forget",
             (Column("retain", "judge", "retain", task="rf_1"), Column("forget", "judge", "forget", task="rf_2"))),
            ("FR: the forget question first. Above the bars: retain − forget",
             (Column("retain", "judge", "retain", task="fr_2"), Column("forget", "judge", "forget", task="fr_1")))),
           gap=True),
    Lines("stress", "Stress test: judge's score by number of questions", tuple(f"{n}F {m}R" for n, m in STRESS),
          tuple((f"{group}, {words}", _stress(group, order)) for group in LETTERS
                for order, words in (("rf", "retain first"), ("fr", "forget first")))),
    Epochs("epochs", "Scores by epoch", (*OVERALL, H_AVG), across=4),
    Epochs("epochs_inclusion", "Judge's score alone and in mixed prompts by epoch",
           (Column("R", "judge", "retain"), Column("RIS", "ris", "all", task="judge"),
            Column("F", "judge", "forget"), Column("FIS", "fis", "all", task="judge")), across=4),
    Epochs("epochs_letters", "Judge's score by letter and epoch",
           tuple(c for group in LETTERS for c in _letters("judge", group)), across=5),
    Bars("attacks", "Judge's score on forget questions under attack", "judge", "forget", ALL),
)  # fmt: skip
