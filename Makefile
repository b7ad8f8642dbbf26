# Every target is one command of README.md. STACK, CONFIG, FROM, TO and BASE choose what is rehearsed.
.DEFAULT_GOAL := help
STACK ?= staging
PYTHON ?= python3
BIN := .venv/bin
ENVIRONMENT := .venv/.complete

# Bytecode makes the second start of the SDKs three times faster.
unexport PYTHONDONTWRITEBYTECODE
unexport VIRTUAL_ENV

ifdef FROM
WHAT := --from "$(FROM)" --to "$(TO)"
else ifdef CONFIG
WHAT := --config "$(CONFIG)"
else
WHAT := --stack "$(STACK)"
endif
ifdef FAIL
WHAT += --fail "$(FAIL)"
endif
ifdef STALL
WHAT += --stall "$(STALL)"
endif

.PHONY: help rehearse report test coverage lint lock schema benchmark preview up destroy clean

help: ## say what each target does
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(ENVIRONMENT): requirements-dev.txt tools/requirements-uv.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools/requirements-uv.txt
	# uv installs four times faster; pip is the way for sites whose mirror only pip knows.
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements-dev.txt \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@

rehearse: $(ENVIRONMENT) ## take a stack file through the real engine, no account needed (STACK=, CONFIG=, FROM= TO=, FAIL=)
	@$(BIN)/python -m rehearsal $(WHAT)

report: $(ENVIRONMENT) ## lanes, money, quotas, versions, findings of a stack file, in a second (STACK=, CONFIG=, BASE=, FORMAT=)
	@$(BIN)/python -m fleet.report $(if $(CONFIG),--config "$(CONFIG)",--stack "$(STACK)") $(if $(BASE),--base "$(BASE)") $(if $(FORMAT),--format "$(FORMAT)")

diff: $(ENVIRONMENT) ## what this branch changes in a stack, no account needed (STACK= or CONFIG=, BASE= origin/main or main, EXACT=1)
	@$(BIN)/python -m rehearsal.diff $(COMPARED)

# Coverage is shown of what the components' tests run; tracing the rest would double its time.
UNTRACED := tests/fleet tests/rehearsal tests/test_rehearsals.py tests/test_examples.py
TRACED := tests/components $(filter-out $(UNTRACED),$(wildcard tests/test_*.py))
test: $(ENVIRONMENT) ## run the tests on two cores, coverage shown
	$(BIN)/python -m pytest -n 2 --dist worksteal $(TRACED) --cov --cov-report=term:skip-covered
	$(BIN)/python -m pytest -n 2 --dist worksteal $(UNTRACED)

coverage: $(ENVIRONMENT) ## coverage of every test that needs no engine (slow)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not engine" --cov --cov-report=term:skip-covered

lint: $(ENVIRONMENT) ## ruff, its formatter and pyright
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

lock: $(ENVIRONMENT) ## compile the locks from the ranges in pyproject.toml
	$(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile --quiet --no-header --universal --python-version 3.11 --generate-hashes --extra dev pyproject.toml -o requirements-dev.txt
	grep '^uv==' requirements-dev.txt | sed 's/ .*//' | $(BIN)/uv pip compile --quiet --no-header --no-annotate --generate-hashes - -o tools/requirements-uv.txt

schema: $(ENVIRONMENT) ## write stack.schema.json from the models
	$(BIN)/python -m fleet.spec.schema --write

benchmark: $(ENVIRONMENT) ## what components cost, side by side with a flat script
	$(BIN)/python benchmarks/registration.py

preview: $(ENVIRONMENT) ## pulumi preview of STACK in the real account
	pulumi preview --stack $(STACK) --diff

up: $(ENVIRONMENT) ## pulumi up of STACK in the real account
	pulumi up --stack $(STACK) --diff

destroy: $(ENVIRONMENT) ## pulumi destroy of STACK in the real account
	pulumi destroy --stack $(STACK)

clean: ## remove the environment and everything that was generated
	rm -rf .venv .rehearsal .pytest_cache .ruff_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
