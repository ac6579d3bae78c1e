# `make run` opens the workbench, `make test` runs the tests, `make check` runs what CI runs.
# Each first installs what is missing; a second call starts at once.

PYTHON := $(shell for p in python3.11 python3 python3.12 python3.13; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV_PYTHON := .venv/bin/python
# Tests and program start hundreds of processes: each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run test compiled quick check costs long release-check reference reference-between reference-record reference-random bench soak format translations page clean

help:
	@echo "make run | test | quick | check | costs | long | release-check | reference | bench | diagnosis | soak | format | translations | page | clean"

setup: python
	@$(PYTHON) -I .ci/bootstrap.py

run: python
	@$(PYTHON) -I .ci/bootstrap.py --window
	@$(VENV_PYTHON) main.py

# Four at a time, for they wait more than they compute; tests/conftest.py shares them out. Without what is marked as bench, soak or long.
TESTS := -m pytest -n 4

# Without the costly ones, which are three fifths of the time of all tests and a twentieth of their number.
test: compiled
	$(VENV_PYTHON) $(TESTS) -m "not bench and not soak and not long and not costly"

# Two processes compile the tests in a fresh clone; else each of the four workers compiles them all.
compiled: setup
	@test -d tests/__pycache__ || { $(VENV_PYTHON) -m pytest --collect-only -q tests/broker_core > /dev/null 2>&1 & \
		$(VENV_PYTHON) -m pytest --collect-only -q --ignore tests/broker_core > /dev/null 2>&1; wait; }

# What a change breaks first, in a minute or so: no Spark, no killed processes, no sockets, no whole window.
QUICK := tests/test_tidy.py tests/broker_core tests/widgets tests/app/presenters \
	--ignore tests/broker_core/listeners --ignore tests/broker_core/testing --ignore tests/broker_core/test_absurd_calls.py \
	-m "not bench and not soak and not long and not slow and not spark and not window"

quick: compiled
	$(VENV_PYTHON) $(TESTS) $(QUICK)

# The long forms that tell most for their time: kills, laws of what is stored and handed out, whole scenarios to the byte.
LONG_IN_CHECK := tests/crash tests/broker_core/flow tests/broker_core/groups tests/broker_core/log \
	tests/broker_core/queues tests/broker_core/transactions tests/broker_core/simulation/test_scenarios.py \
	tests/spark_reports/jobs/test_warm.py

check: compiled
	$(VENV_PYTHON) -m ruff format --check
	$(VENV_PYTHON) -m ruff check
	$(VENV_PYTHON) -m mypy
	.venv/bin/lint-imports
	$(VENV_PYTHON) .ci/wheel.py
	$(VENV_PYTHON) $(TESTS) -m long $(LONG_IN_CHECK)
	$(VENV_PYTHON) $(TESTS) --durations=30

# Runs all tests and writes down which of them are costly.
costs: compiled
	$(VENV_PYTHON) $(TESTS) -p tests.costs

# All long forms: more kills, flipped bits, examples and scenarios.
long: setup
	$(VENV_PYTHON) $(TESTS) -m long --durations=30

# What a release must do besides: the wheel with every extra draws the window and makes a report.
release-check: check
	$(VENV_PYTHON) .ci/wheel.py --all

# The same programs on a broker of Apache Kafka and on ours; says so and ends well where Java or Maven is missing.
reference: setup
	$(VENV_PYTHON) -m tests.reference
	$(VENV_PYTHON) -m tests.reference.schemas

reference-between: setup
	$(VENV_PYTHON) -m tests.reference --between

# What Kafka's clients ask and a broker of Apache Kafka answers, written down for the tests that replay it.
reference-record: setup
	$(VENV_PYTHON) -m tests.reference.recording

# Random sequences of requests on both brokers; takes an hour for the 2,000 that it tries.
reference-random: setup
	$(VENV_PYTHON) -m tests.reference.random_sequences

bench: setup
	$(VENV_PYTHON) -m pytest -m bench -s

.PHONY: diagnosis
diagnosis: setup
	$(VENV_PYTHON) -m tests.diagnosis

soak: setup
	$(VENV_PYTHON) -m pytest -m soak -s

format: setup
	$(VENV_PYTHON) -m ruff format
	$(VENV_PYTHON) -m ruff check --fix

translations: setup
	$(VENV_PYTHON) .ci/translations.py

# The session that the README shows as a page.
page: setup
	rm -rf build/first-session
	$(VENV_PYTHON) main.py run first-session --session build/first-session
	$(VENV_PYTHON) main.py share build/first-session --out resources/pictures/first-session.html

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: python
python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: sudo apt-get install -y python3" >&2; exit 1; }
