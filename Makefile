# Every target does the set-up it needs; `make help` lists them.

# Without its bytecode Python compiles everything anew in each of hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO_VENV := .cache/venv-demo
DEMO_READY := $(DEMO_VENV)/.ready
LOCK_TOOL := .cache/lock
WORKFLOWS := .github/workflows/*.yml docs/examples/workflows/*.yml
ACTIONS := action.yml .github/actions/*/action.yml
# Every warning is an error, and so is a link that leads nowhere.
SPHINX := --fail-on-warning --keep-going --nitpicky --quiet \
	--doctree-dir .cache/doctrees docs .cache/site
# What `make test` runs; the rest has targets of its own.
EVERYDAY := not real and not long and not talk and not action and not deploy and not web
# Where the tests of each mark are: what else there is need not be read to leave it out.
TALK := tests/service tests/talk
ACTION := tests/action tests/flow/action
WEB := tests/web
DEPLOY := tests/deploy tests/release tests/tutorials
LONG := tests/adapters/api tests/adapters/cli tests/adapters/resolve tests/invariants tests/promises tests/service tests/unit/text
REAL := tests/action tests/adapters/mcp tests/adapters/resolve tests/real tests/web
# Nothing in these is for every day.
APART := $(ACTION) $(DEPLOY) $(WEB) tests/talk
# All that `make test` leaves out, each test once, but for what is fetched from outside.
REST := $(sort $(TALK) $(LONG) $(ACTION) $(DEPLOY) $(WEB))
# What measures times that others beside it would spoil.
ALONE := tests/service tests/adapters/resolve
# More processes than cores, since many of these tests wait for others.
WAITING := -n 4 --dist loadgroup --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help demo test test-rest test-talk test-long test-real test-action test-deploy
.PHONY: check docs images fix run bench cover lock release reference recording screenshots words

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | \
		while IFS='|' read -r name text; do printf '%-11s %s\n' "$$name" "$$text"; done

demo: $(DEMO_READY) ## From a mention on an issue to a proven pull request, in one terminal
	@$(DEMO_VENV)/bin/python -m tests.provision.components demo
	@PATCHWRIGHT_CORPUS= $(DEMO_VENV)/bin/python -m demo

test: $(READY) ## Run all tests, with real Docker, git, Redis and PostgreSQL
	@$(BIN)/python -m tests.provision.components test
	$(BIN)/pytest -n 2 --dist worksteal -m "$(EVERYDAY)" \
		$(addprefix --ignore=,$(APART))

test-rest: $(READY) ## Talk, long, web, action and deploy at once, in a third of the time
	@$(BIN)/python -m tests.provision.components test
	@$(BIN)/python -m tests.provision.components test-deploy
	@$(BIN)/python -m tests.provision.components test-web
	$(BIN)/pytest $(WAITING) $(REST) \
		-m "(talk or long or web or action or deploy) and not real and not alone"
	$(BIN)/pytest -m "(talk or long) and alone" $(ALONE)

test-talk: $(READY) ## All that people can do in Slack, Jira, Linear and GitLab, told as stories
	@$(BIN)/python -m tests.provision.components test
	$(BIN)/pytest -n 2 --dist worksteal -m talk $(TALK)

test-long: $(READY) ## Killed processes, a run of two thousand steps, and what many changes prove
	@$(BIN)/python -m tests.provision.components test
	$(BIN)/pytest -n 2 --dist worksteal -m long $(LONG)

test-web: $(READY) ## What people do on the pages, in a real Chromium
	@$(BIN)/python -m tests.provision.components test
	@$(BIN)/python -m tests.provision.components test-web
	$(BIN)/pytest -n 2 --dist worksteal -m "web and not real" $(WEB)

test-action: $(READY) ## The GitHub Action, its steps executed as GitHub's runner would
	@$(BIN)/python -m tests.provision.components test
	$(BIN)/pytest -n 2 --dist worksteal -m "action and not real" $(ACTION)

test-deploy: $(READY) ## The Compose stack, what is released, and the commands of the tutorials
	@$(BIN)/python -m tests.provision.components test-deploy
	$(BIN)/pytest $(WAITING) -m deploy $(DEPLOY)

test-real: $(READY) ## Real packages, tool servers and an OpenID provider, fetched by hash
	@$(BIN)/python -m tests.provision.components test
	@$(BIN)/python -m tests.provision.components test-real
	@$(BIN)/python -m tests.provision.components test-web
	$(BIN)/pytest -n 2 --dist worksteal -m real $(REAL)

images: $(READY) ## Make the images that tests start; otherwise tests make them
	@$(BIN)/python -m tests.provision.components test-deploy
	@$(BIN)/python -m tests.provision.images

check: $(READY) ## Format, lint, import contracts, types, dead code, dependencies
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy
	$(BIN)/mypy scripts/mypy_replace.py
	$(BIN)/vulture
	$(BIN)/deptry patchwright
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows $(WORKFLOWS)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions $(ACTIONS)
	$(BIN)/zizmor --offline --quiet --persona pedantic --config .github/zizmor.yml \
		$(WORKFLOWS) $(ACTIONS)
	$(BIN)/sphinx-build $(SPHINX)

docs: $(READY) ## Build the pages of docs/ into .cache/site, with warnings as errors
	$(BIN)/sphinx-build $(SPHINX)

recording: $(READY) $(DEMO_READY) ## Record `make demo` as the moving picture in README.md
	$(BIN)/python -m tests.recording docs/images/demo.svg "make demo" \
		$(MAKE) --no-print-directory demo

screenshots: $(READY) ## Take the pictures of the web pages in docs/
	@$(BIN)/python -m tests.provision.components test
	@$(BIN)/python -m tests.provision.components test-web
	$(BIN)/python -m tests.web.pictures docs/images

reference: $(READY) ## Write the generated pages of docs/ again
	$(BIN)/python -m tests.reference

words: $(READY) ## Print how easy our texts are to read, and the longest sentences
	@$(BIN)/python -m tests.architecture.reading

release: $(READY) ## Build wheel, source archive, SBOM and checksums into dist/
	@BIN=$(BIN) sh scripts/release dist

fix: $(READY) ## Format, and fix what the linter can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

run: $(READY) ## Run the service on this machine
	$(BIN)/patchwright serve

bench: $(READY) ## Measure what docs/ promises about speed
	$(BIN)/python -m bench

cover: $(READY) ## Run the tests and show the lines and branches they missed
	@$(BIN)/python -m tests.provision.components test
	$(BIN)/pytest -n 2 --dist worksteal -m "$(EVERYDAY) or talk or action" \
		$(addprefix --ignore=,$(DEPLOY)) --cov --cov-report=term-missing:skip-covered

lock: ## Write both lock files again from pyproject.toml
	$(LOCK_TOOL)/bin/uv --version || { \
		python=$$(sh scripts/find-python) && \
		"$$python" -m venv $(LOCK_TOOL) && \
		$(LOCK_TOOL)/bin/pip install --quiet uv; }
	$(LOCK_TOOL)/bin/uv pip compile $(LOCK_FLAGS) -o requirements.lock
	$(LOCK_TOOL)/bin/uv pip compile $(LOCK_FLAGS) --extra dev -o requirements-dev.lock

LOCK_FLAGS := pyproject.toml --quiet --upgrade --universal --python-version 3.11 \
	--generate-hashes --no-header --no-annotate --no-emit-index-url

$(READY): requirements-dev.lock pyproject.toml scripts/make-venv
	@sh scripts/make-venv $(VENV) requirements-dev.lock $(PYTHON)
	@touch $@

# What the demo runs is what an installation has, without the developers' tools.
$(DEMO_READY): requirements.lock requirements-dev.lock pyproject.toml scripts/make-venv
	@sh scripts/make-venv $(DEMO_VENV) requirements.lock $(PYTHON)
	@touch $@
