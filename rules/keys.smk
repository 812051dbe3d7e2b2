# Needs: doors.smk, values.smk, card_values.smk. Makes: a warning in a dry run, and a refusal before the first job, where an
# API key's environment variable is not set. What is built and judged already needs none.
from unlearning.config.doors import unset_keys


def asking_values():
    """The doors of all that the runs in use ask, as the values of jobs hold them."""
    for benchmark in sorted({run.benchmark for run in RUNS}):
        entry = CONFIG.benchmarks[benchmark]
        if roles := construction_roles(entry):
            back = entry.back_translator.model_dump() if isinstance(entry, Mu2) else None
            yield {"doors": {role: door_of(role) for role in roles}, "back_translator": back}
        if judged(benchmark) and {entry.judge, *entry.second_judges} & set(LLM_JUDGES):
            yield {"door": door_of("judge")}


if workflow.output_settings.dryrun:
    for line in unset_keys(asking_values()):
        print(f"warning: {line}", file=sys.stderr)


def refuse_unset_keys():
    """Before the first job; of the jobs that are to run."""
    jobs = [job.params.job["values"] for job in workflow.dag.needrun_jobs() if "job" in job.params.keys()]
    if told := unset_keys(jobs):
        raise WorkflowError("\n".join(told))
