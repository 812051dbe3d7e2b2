# make run: set up and run the workflow · make test: set up and test · make help: the rest
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PYTHONPATH := workflow
export OMP_NUM_THREADS ?= 1
export HF_HUB_DISABLE_TELEMETRY := 1

CONFIG ?=
TOFU ?=
ONLY ?=
PROFILE ?=
SNAKEMAKE_ARGS ?=
REPORT := results/report/index.html
OVERLAY := $(if $(CONFIG),--configfile $(CONFIG)) $(if $(TOFU)$(ONLY),--config $(if $(TOFU),"sources={tofu: $(abspath $(TOFU))}") $(if $(ONLY),only=$(ONLY)))
EXECUTED := $(if $(PROFILE),--workflow-profile profiles/$(PROFILE))

.PHONY: overlay-exists overlay-sound run dry review estimate test test-llm test-slurm test-crash accept lint docs prune bench clean help

help:
	@echo "make run     run the workflow and print where the report is   [CONFIG ONLY TOFU PROFILE SNAKEMAKE_ARGS]"
	@echo "make dry     what would run, as a table                       [CONFIG ONLY TOFU]"
	@echo "             what would run and why, job by job               SNAKEMAKE_ARGS=--dry-run"
	@echo "make estimate  what language models would take: replies, tokens, USD; nobody is asked   [CONFIG ONLY]"
	@echo "make review  the sheets that people review, for spreadsheets and Label Studio   [CONFIG ONLY]"
	@echo "make test    the tests"
	@echo "make test-llm  language models, heavy: figure, bound, verdict  [SECTIONS]"
	@echo "make test-slurm  the workflow on a SLURM on this machine, as root   [SECTIONS]"
	@echo "make test-crash  runs that are killed, or whose disk is full (as root)   [SECTIONS]"
	@echo "make accept  the acceptance list: figure, bound, verdict      [SECTIONS]"
	@echo "make bench   full-size construction, scoring by epoch, training, memory, dry runs: measured"
	@echo "make lint    style checks"
	@echo "make docs    rewrite config/README.md and docs/methods.md"
	@echo "make prune   trim the store of earlier results"
	@echo "make clean   delete results/ but not results/.llm, the replies of language models"
	@echo
	@echo "CONFIG=my.yaml            an overlay, merged into config/config.yaml"
	@echo "ONLY=mu2                  one benchmark's experiments only"
	@echo "PROFILE=slurm             how it is executed, a folder of profiles/; default: on this machine"
	@echo "TOFU=/path/to/tofu        the folder of TOFU's files, for CONFIG=config/tofu_files.yaml"
	@echo "SECTIONS=\"default tofu\"   parts of the list, as its file names them"
	@echo "SNAKEMAKE_ARGS=-k         further arguments of Snakemake"
	@echo "PYTHON=/path/to/python3   the Python that .venv is made from, 3.11 or newer (once, at the first make)"

overlay-exists:
	@test -z "$(CONFIG)" || ls $(CONFIG) >/dev/null 2>&1 || { echo "CONFIG: no file $(CONFIG); overlays lie in config/"; exit 1; }

overlay-sound: overlay-exists $(VENV)/.ready
	@$(BIN)/python -m unlearning.config.overlay $(CONFIG)

run: overlay-sound $(if $(PROFILE),$(VENV)/.ready-slurm)
	@$(BIN)/snakemake $(EXECUTED) $(OVERLAY) $(SNAKEMAKE_ARGS)
	@echo "The report is at $(abspath $(REPORT))"

dry: overlay-sound
ifeq ($(strip $(SNAKEMAKE_ARGS)),)
	@$(BIN)/python workflow/scripts/dry.py $(OVERLAY)
	@echo "Why, job by job: make dry SNAKEMAKE_ARGS=--dry-run"
else
	@$(BIN)/snakemake --dry-run $(EXECUTED) $(OVERLAY) $(SNAKEMAKE_ARGS)
endif

estimate: overlay-sound
	@$(BIN)/python workflow/scripts/estimate.py $(OVERLAY)

review: overlay-sound
	@$(BIN)/snakemake review $(OVERLAY) $(SNAKEMAKE_ARGS)
	@ls results/data/*/*/review/*.xlsx

test: $(VENV)/.ready-test
	@$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-llm: $(VENV)/.ready-test
	@$(BIN)/python tests/heavy/llm.py $(SECTIONS)

test-slurm: $(VENV)/.ready-test $(VENV)/.ready-slurm
	@$(BIN)/python tests/heavy/slurm.py $(SECTIONS)

test-crash: $(VENV)/.ready-test
	@$(BIN)/python tests/heavy/crash.py $(SECTIONS)

accept: $(VENV)/.ready-test
	@$(BIN)/python tests/accept.py $(SECTIONS)

lint: $(VENV)/.ready-test
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/snakefmt --check Snakefile rules && $(BIN)/snakemake --lint

docs: $(VENV)/.ready
	@$(BIN)/python -m unlearning.config.docs config/README.md
	@$(BIN)/python -m unlearning.config.method_docs docs/methods.md

prune: $(VENV)/.ready
	@$(BIN)/python -m unlearning.cache.prune

bench: $(VENV)/.ready-test
	@$(BIN)/python benchmarks/mu2_build.py
	@$(BIN)/python benchmarks/leak_build.py
	@$(BIN)/python benchmarks/lume_build.py
	@$(BIN)/python benchmarks/umu_build.py
	@$(BIN)/python benchmarks/lume_scoring.py
	@$(BIN)/python benchmarks/train_loop.py
	@$(BIN)/python benchmarks/reference_memory.py
	@$(BIN)/python benchmarks/dry_run.py

clean:
	rm -rf .snakemake
	@test ! -d results || find results -mindepth 1 -maxdepth 1 ! -name .llm -exec rm -rf {} +

$(VENV)/.ready: envs/requirements.txt envs/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed (set PYTHON=/path/to/python3.11)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "python3-venv is missing: apt-get install python3-venv"; exit 1; }
	@echo "Setting up $(VENV) (once; about 2 GB) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet -r envs/requirements.txt -c envs/constraints.txt
	@touch $@

$(VENV)/.ready-test: $(VENV)/.ready envs/test.txt
	@$(BIN)/python -m pip install --quiet -r envs/test.txt -c envs/constraints.txt
	@touch $@

$(VENV)/.ready-slurm: $(VENV)/.ready envs/slurm.txt
	@$(BIN)/python -m pip install --quiet --no-deps -r envs/slurm.txt
	@touch $@
