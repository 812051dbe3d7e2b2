"""What the benchmarks of data construction print: figure, bound and verdict; seconds and memory by step."""

import resource
import time


def show(what: str, figure: float, bound: str, met: bool) -> bool:
    """Print one line of figure, bound and verdict; False on a miss."""
    print(f"{'met   ' if met else 'MISSED'}  {what:<50}  {figure:.4g}   {bound}", flush=True)
    return met


def timed(step: str, function, *arguments, **options):
    """What `function` returns; the CPU seconds it took are printed with the process's peak memory so far."""
    return costed(step, function, *arguments, **options)[0]


def costed(step: str, function, *arguments, **options) -> tuple:
    """`timed`, and the CPU seconds."""
    started = time.process_time()
    result = function(*arguments, **options)
    took = time.process_time() - started
    print(f"{step:14} {took:6.2f} s   peak so far {peak_mib():6.0f} MiB", flush=True)
    return result, took


def peak_mib() -> float:
    """Peak resident memory of this process (Linux gives KiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
