# Needs: nothing. Makes: a job that failed is not taken for done. Snakemake writes its record as if it had ended well: where
# what depends on it lies there from before, the next run would say that nothing is to be done (its issue 3808).
from snakemake.jobs import Job
from snakemake.persistence import PersistenceBase

FAILED = set()


def noting_failures(postprocess):
    async def noted(job, *args, error=False, **options):
        (FAILED.add if error else FAILED.discard)(job)
        await postprocess(job, *args, error=error, **options)

    return noted


def sparing_failed(finished):
    async def recorded(persistence, job):
        if job not in FAILED:
            await finished(persistence, job)

    return recorded


Job.postprocess = noting_failures(Job.postprocess)
PersistenceBase.finished = sparing_failed(PersistenceBase.finished)
