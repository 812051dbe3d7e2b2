# From raw sources to a scored, attacked, unlearned model: one graph. `snakemake` runs the default (config/config.yaml).
import sys
import time

STARTED = time.time()


include: "rules/begin.smk"
include: "rules/failures.smk"


configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/values.smk"
include: "rules/attack_values.smk"
include: "rules/select_values.smk"
include: "rules/harness_values.smk"
include: "rules/doors.smk"
include: "rules/complete.smk"
include: "rules/mu2_route.smk"
include: "rules/mu2.smk"
include: "rules/mu2_llm.smk"
include: "rules/seps_values.smk"
include: "rules/seps.smk"
include: "rules/sources.smk"
include: "rules/school_values.smk"
include: "rules/school.smk"
include: "rules/files.smk"
include: "rules/leak_values.smk"
include: "rules/leak.smk"
include: "rules/leak_llm.smk"
include: "rules/lume_values.smk"
include: "rules/lume.smk"
include: "rules/umu_values.smk"
include: "rules/umu.smk"
include: "rules/review.smk"
include: "rules/card_values.smk"
include: "rules/cards.smk"
include: "rules/train.smk"
include: "rules/attack.smk"
include: "rules/answer.smk"
include: "rules/harness.smk"
include: "rules/embed.smk"
include: "rules/judge.smk"
include: "rules/score.smk"
include: "rules/select.smk"
include: "rules/epochs.smk"
include: "rules/report.smk"
include: "rules/keep_values.smk"
include: "rules/keep.smk"
include: "rules/keys.smk"


report: "resources/report/workflow.rst"


# For `--software-deployment-method apptainer`, built from envs/apptainer.def; read by nothing else.
container: "envs/unlearning.sif"


rule all:
    default_target: True
    input:
        "results/report/index.html",
        cards(),
        lume_sheets(),
    message:
        "Everything is up to date: results/report/index.html"


HELD = []


onstart:
    refuse_unset_keys()
    try:
        HELD.append(locks.hold(Path("results")))  # until this process ends
    except (locks.InUse, ValueError) as error:
        raise WorkflowError(str(error))


onerror:
    from unlearning.cache import ledger

    told = ledger.failures("results/.ledger", STARTED) or "A job was ended before it could say why; see its log."
    print("", told, "", sep="\n", file=sys.stderr)
