# Every target is one command of README.md. STACK, CONFIG, FROM, TO and BASE choose what is rehearsed.
.DEFAULT_GOAL := help
PROJECT ?= fleet
STACK ?= $(if $(filter bootstrap,$(PROJECT)),ci,staging)
PYTHON ?= python3
BIN := .venv/bin
ENVIRONMENT := .venv/.complete
POLICY_ENVIRONMENT := policy/.venv/.complete

# With bytecode the SDKs are imported three times faster.
unexport PYTHONDONTWRITEBYTECODE
unexport VIRTUAL_ENV

ifneq ($(FROM)$(TO),)
WHAT := $(if $(FROM),--from "$(FROM)") $(if $(TO),--to "$(TO)")
else ifdef CONFIG
WHAT := --config "$(CONFIG)"
else
WHAT := --stack "$(STACK)"
endif
WHAT += --project "$(PROJECT)"
ifdef FAIL
WHAT += --fail "$(FAIL)"
endif
ifdef STALL
WHAT += --stall "$(STALL)"
endif
ifdef BUSY
WHAT += --busy "$(BUSY)"
endif
ifdef POLICY
WHAT += --policy "$(POLICY)"
endif

COMPARED := $(if $(CONFIG),--config "$(CONFIG)",--stack "$(STACK)")
ifdef BASE
COMPARED += --base "$(BASE)"
endif
ifdef EXACT
COMPARED += --exact
endif
ifneq ($(PROJECT),fleet)
COMPARED += --project "$(PROJECT)"
endif

.PHONY: help environment policy rehearse report diff test coverage lint lock schema benchmark preview drift up destroy clean

help: ## say what each target does
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# All output goes to standard error: standard output may be a report.
$(ENVIRONMENT): requirements-dev.txt tools/requirements-uv.txt packages/pulumi-rehearsal/pyproject.toml
	@echo "making .venv from requirements-dev.txt" >&2
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools/requirements-uv.txt >&2
	@# uv installs four times faster. pip is for sites whose package mirror is configured for pip only.
	@$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements-dev.txt >&2 \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt >&2
	@# The rehearsal is a package in this checkout, installed in editable mode.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable packages/pulumi-rehearsal >&2
	@touch $@

environment: $(ENVIRONMENT) ## make .venv from the lock

policy: $(POLICY_ENVIRONMENT) ## make policy/.venv for the policy pack from its own lock

$(POLICY_ENVIRONMENT): $(ENVIRONMENT) policy/requirements.txt
	$(PYTHON) -m venv policy/.venv
	$(BIN)/uv pip sync --quiet --python policy/.venv/bin/python --require-hashes policy/requirements.txt \
	  || policy/.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r policy/requirements.txt
	@touch $@

rehearse: $(ENVIRONMENT) $(if $(POLICY),$(POLICY_ENVIRONMENT)) ## run a stack file through the real engine, no account needed (STACK=, CONFIG=, FROM= TO=, FAIL=, STALL=, BUSY=, POLICY=, PROJECT=bootstrap)
	@$(BIN)/python -m rehearsal $(WHAT)

report: $(ENVIRONMENT) ## lanes, money, quotas, versions, findings of a stack file, in a second (STACK=, CONFIG=, BASE=, FORMAT=)
	@$(BIN)/python -m $(if $(BASE),change.report,fleet.report) $(if $(CONFIG),--config "$(CONFIG)",--stack "$(STACK)") $(if $(BASE),--base "$(BASE)") $(if $(FORMAT),--format "$(FORMAT)")

diff: $(ENVIRONMENT) ## what this branch changes in a stack, no account needed (STACK= or CONFIG=, BASE= origin/main or main, EXACT=1)
	@$(BIN)/python -m change $(COMPARED)

ifdef EXHAUSTIVE
export EXHAUSTIVE
endif
test: $(ENVIRONMENT) $(POLICY_ENVIRONMENT) ## run all tests on two cores (EXHAUSTIVE=1: every example alone, every resource failing once; CI does so every night)
	$(BIN)/python -m pytest -n 2 --dist worksteal -rs

coverage: $(ENVIRONMENT) ## coverage of every test that needs no engine (slow)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not engine" --cov --cov-report=term:skip-covered

WORKFLOWS := $(wildcard .github/workflows/*.yaml)
ACTIONLINT_VERSION := $(shell sed -n 's,.*rhysd/actionlint v\([0-9.]*\).*,\1,p' tools/actionlint/go.mod)
ACTIONLINT := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gpu-runners/actionlint/$(ACTIONLINT_VERSION)/actionlint
lint: $(ENVIRONMENT) ## ruff, its formatter, pyright; the workflows of GitHub and GitLab
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows $(WORKFLOWS)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-actions .github/actions/*/action.yaml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.gitlab-ci .gitlab-ci.yml
	$(BIN)/zizmor --quiet --offline .github
	@if command -v go >/dev/null || test -x "$(ACTIONLINT)"; then $(MAKE) --no-print-directory actionlint; \
	  else echo "actionlint: left out, there is no Go to build it"; fi

.PHONY: actionlint
actionlint: $(ACTIONLINT)
	$(ACTIONLINT) $(WORKFLOWS)

# Once per version, as the Pulumi CLI is: 5 seconds.
$(ACTIONLINT):
	cd tools/actionlint && CGO_ENABLED=0 GOWORK=off go build -mod=readonly -o "$@" github.com/rhysd/actionlint/cmd/actionlint

lock: $(ENVIRONMENT) ## compile the locks from the ranges in pyproject.toml
	$(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes --extra dev pyproject.toml -o requirements-dev.txt
	$(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes policy/requirements.in -o policy/requirements.txt
	grep '^uv==' requirements-dev.txt | sed 's/ .*//' | $(BIN)/uv pip compile --quiet --no-header --no-annotate --generate-hashes - -o tools/requirements-uv.txt

schema: $(ENVIRONMENT) ## write stack.schema.json from the models, and the table of checks in docs/
	$(BIN)/python -m fleet.config.schema --write
	$(BIN)/python -m fleet.checks --write

benchmark: $(ENVIRONMENT) ## what components cost beside a flat script, and checks of a large fleet beside a small one
	$(BIN)/python benchmarks/registration.py
	$(BIN)/python benchmarks/checks.py

preview: $(ENVIRONMENT) ## pulumi preview of STACK in the real account
	pulumi preview --stack $(STACK) --diff

drift: $(ENVIRONMENT) ## say what differs from the state of STACK in the real account, such as a set that somebody deleted
	pulumi preview --stack $(STACK) --refresh --expect-no-changes --diff

up: $(ENVIRONMENT) ## pulumi up of STACK in the real account
	pulumi up --stack $(STACK) --diff

destroy: $(ENVIRONMENT) ## pulumi destroy of STACK in the real account
	@echo "destroy waits for the running jobs of each lane, at most its drain_minutes" >&2
	@pulumi destroy --stack $(STACK) || { status=$$?; \
	  echo "destroy failed. While jobs run (kubectl get ephemeralrunners -A; kubectl get pods -A -l gpu-runners/job=true), run it again: it waits on" >&2; \
	  exit $$status; }

clean: ## remove the environment and everything that was generated
	rm -rf .venv policy/.venv .rehearsal .pytest_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
