# Needs: nothing. Makes: WORKFLOW, the library importable; refuses jobs whose run is over, and configuration files that are
# not what they seem.
import os
import sys
from pathlib import Path

WORKFLOW = Path(workflow.basedir) / "workflow"
sys.path.insert(0, str(WORKFLOW))
os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, [str(WORKFLOW), os.getenv("PYTHONPATH")])))
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

from unlearning.cache import locks
from unlearning.config.overlay import check_files

try:
    if not workflow.is_main_process:
        locks.check_run(Path("results"))  # on a cluster: this may be a job of a run that was killed
    check_files(f for f in ["config/config.yaml", *workflow.overwrite_configfiles] if Path(f).is_file())
except (ValueError, locks.InUse) as error:
    raise WorkflowError(str(error))
