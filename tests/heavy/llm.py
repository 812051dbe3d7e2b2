"""Language models, heavy: each figure beside its bound; fails on a miss. `make test-llm`, or by section:

    python tests/heavy/llm.py faults

Sections: faults (an endpoint that fails, jobs that are killed: minutes); vllm, roles (see llm_local.py for what they
need); pictures (see llm_pictures.py).
"""

import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("tests", "workflow", "workflow/scripts")]

SECTIONS = {"faults": "llm_faults", "vllm": "llm_local", "roles": "llm_roles", "pictures": "llm_pictures"}


def main(names: list[str]) -> None:
    """Run the sections named, all without a name."""
    from accept import results, show

    if unknown := set(names) - set(SECTIONS):
        sys.exit(f"no section {', '.join(sorted(unknown))}; there are {', '.join(SECTIONS)}")
    for name in names or SECTIONS:
        getattr(import_module(SECTIONS[name]), name)(show)
    print(f"{sum(results)} of {len(results)} met")
    sys.exit(not all(results))


if __name__ == "__main__":
    main(sys.argv[1:])
