# Every verb sets up what it needs first: an environment in .venv, pinned packages, and Java where there is none.
.DEFAULT_GOAL := help
.PHONY: help setup demo test thorough long cluster uncluster check lint types layers format lock clean bench-batch bench-sim bench-magnet bench-kato bench-live bench-notice bench-dashboard swarm fuzz

READY := .venv/.ready
BIN := .venv/bin
RIVALS := .venv/.rivals  # clients of what live nodes are measured beside
TWICE := --numprocesses 2 --dist loadgroup  # two files of tests at once

help:  ## list these verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## make the environment only

demo: $(READY)  ## run StaN on embedded Spark and write a report
	@$(BIN)/ropewalk demo

test: $(READY)  ## the tests of every day
	$(BIN)/pytest $(TWICE)

thorough: $(READY)  ## what takes ten seconds and more each: the quickest claims at small scale, a cluster, more histories
	$(BIN)/pytest $(TWICE) -m "thorough and not long"

LONG_SEEDS ?= 5000:5300
long: $(READY)  ## what is long by nature: slow claims, paper scale, the smallest machine, fuzzing, a soak, who is gone, swarms (LONG_SEEDS=FROM:TO)
	$(BIN)/pytest -m long --timeout 3600
	$(BIN)/python benchmarks/notice.py
	for of in stan rings kato; do $(BIN)/python tools/swarm $(LONG_SEEDS) $$of || exit 1; done

bench-batch: $(READY)  ## how near the batch engine comes to the ideal, at three sizes
	$(BIN)/python benchmarks/batch.py

bench-sim: $(READY)  ## how many events a second the simulator handles, beside a bare heap
	$(BIN)/python benchmarks/sim.py

bench-magnet: $(READY)  ## what a configuration of Magnet costs, from 10,000 to 100,000 nodes
	$(BIN)/python benchmarks/magnet.py

bench-kato: $(READY)  ## what the overlay by interests costs, from 4,000 to 100,000 nodes
	$(BIN)/python benchmarks/kato.py

bench-live: $(RIVALS)  ## how fast live nodes are, beside bare frames over TLS, brokers and zenoh in the same run
	$(BIN)/python benchmarks/live

bench-notice: $(READY)  ## how soon a neighbour is noticed to be gone, killed or frozen, beside bare asyncio; fails if that is too late
	$(BIN)/python benchmarks/notice.py

bench-dashboard: $(READY)  ## what the dashboard takes, at the server and in a browser, beside bare lines on a canvas
	$(BIN)/python benchmarks/dashboard.py

SEEDS ?= 0:200
OF ?= stan
swarm: $(READY)  ## histories made up by chance, every invariant on: SEEDS=FROM:TO OF=stan|rings|kato
	$(BIN)/python tools/swarm $(SEEDS) $(OF)

FRAMES ?= 100000
SEED ?= 0
fuzz: $(READY)  ## frames that nobody sends who keeps the rules, at real nodes: FRAMES=N OF=stan|magnet|scribe|kato|all SEED=N
	$(BIN)/python tools/fuzz $(FRAMES) $(if $(filter file,$(origin OF)),all,$(OF)) $(SEED)

cluster: $(READY)  ## a Spark cluster on this machine; prints its URL for --master
	tools/cluster start

uncluster: $(READY)  ## end that cluster
	tools/cluster stop

check: lint types layers  ## every gate, then all tests but the long ones
	$(BIN)/pytest $(TWICE) -m "not long"

lint: $(READY)  ## style and formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python tools/check_texts.py

types: $(READY)  ## static types
	$(BIN)/mypy
	$(BIN)/mypy --allow-untyped-defs --allow-incomplete-defs --allow-any-generics --allow-untyped-calls --no-strict-equality tests

layers: $(READY)  ## who may import whom
	$(BIN)/lint-imports --no-logo

format: $(READY)  ## bring code into shape
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(READY)  ## resolve the pinned packages anew
	tools/lock

clean:  ## remove the environment and what make made
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist src/*.egg-info ropewalk-demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml requirements/bootstrap.txt requirements/dev.txt requirements/java.txt tools/setup
	tools/setup

$(RIVALS): $(READY) requirements/bench.txt
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/uv pip install --quiet --require-hashes -r requirements/bench.txt
	@touch $@
