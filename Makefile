# Builds, tests and runs Attend. `make help` lists the jobs.
# Needs only make and a shell: scripts/setup installs missing packages on Debian.

PROGRAM := build/release/attend
PREFIX ?= /usr/local
# Seconds that `make fuzz` spends on each target.
FUZZ_SECONDS ?= 60
# Minutes that `make faults` takes at most.
FAULT_MINUTES ?= 15
# Cases of `make hostile`.
HOSTILE_CASES ?= 20000
# Hours of `make soak`.
HOURS ?= 1

OURS := git ls-files 'attend/*.h' 'attend/*.cpp' 'tests/*.h' 'tests/*.cpp' 'bench/*.h' 'bench/*.cpp' 'examples/*.cpp'

.DEFAULT_GOAL := help
.PHONY: help setup configure build run test check components web-test clients proxies soak bench lint format-check tidy \
  format asan tsan fuzz faults hostile install clean

help: ## list the jobs
	@sed -n 's/^\([a-z -]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F'\t' '{ printf "  make %-10s %s\n", $$1, $$2 }'

setup:
	@scripts/setup

configure: setup
	@cmake --preset release >/dev/null

build: configure ## build the program at build/release/attend
	@cmake --build --preset release --target attend

run: build ## build, train a small translator in two minutes, and show what it does
	@$(PROGRAM) demo --output build/it-en

test: ## build, and run all tests
	@scripts/setup python
	@cmake --preset release >/dev/null
	@cmake --build --preset release
	@ctest --preset release

# Each step installs what it needs.
CHECKS := test faults hostile format-check tidy components asan tsan web-test clients proxies fuzz
check: ## run everything that a release must pass; stops at the first step that fails, and names it
	@for step in $(CHECKS); do \
	  echo "check: make $$step"; \
	  $(MAKE) --no-print-directory $$step FUZZ_SECONDS=10 HOSTILE_CASES=5000 || { echo "check: FAILED at the step: make $$step" >&2; exit 1; }; \
	done
	@echo "check: passed: $(CHECKS)"

components: setup ## build and try the program without each component (server, pictures)
	@scripts/components

web-test: ## test the explorer in a browser; with ATTEND_URL=http://…, against that server too
	@scripts/setup web
	@cd web && npm ci --prefer-offline --no-audit --no-fund --loglevel=error && npm test

clients: build ## test the server with the openai package of npm and with a LibreTranslate client
	@scripts/setup web
	@cd tests/clients && npm install --no-audit --no-fund --loglevel=error && node --test

proxies: build ## test the server behind nginx and HAProxy: streams, hang-ups, request smuggling
	@scripts/setup proxies
	@tests/proxies/proxies.py --program $(PROGRAM)

soak: build ## test the server with 200 clients, good and bad, for HOURS (1): responses, memory, changed files, SIGTERM
	@scripts/setup python
	@tests/load/soak.py --program $(PROGRAM) --hours $(HOURS)

bench: configure ## measure the speed; with PEER_PYTHON="command that runs Python with torch", against PyTorch
	@cmake --build --preset release
ifdef PEER_PYTHON
	@scripts/setup python
	@bench/compare.py
else
	@for program in build/release/bench/*_bench; do $$program all || exit 1; done
endif

lint: format-check tidy ## check the format, the includes between folders, and clang-tidy

format-check: configure
	@scripts/setup lint
	@$(OURS) | xargs clang-format --dry-run -Werror
	@cmake --build --preset release --target tree_test
	@build/release/tests/tree_test --gtest_brief=1

tidy: configure
	@scripts/setup lint python
	@$(OURS) | grep '\.cpp$$' | xargs scripts/tidy build/release

format: ## format all sources in place, and list all headers in attend/attend.h
	@scripts/setup lint
	@scripts/umbrella
	@$(OURS) | xargs clang-format -i

asan tsan: setup ## run all tests with the address and undefined-behaviour sanitizers, or with the thread sanitizer
	@cmake --preset $@ >/dev/null
	@cmake --build --preset $@
	@ctest --preset $@

fuzz: setup ## fuzz the readers with hostile input, for FUZZ_SECONDS each
	@scripts/setup fuzz
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz
	@scripts/fuzz build/fuzz/tests/fuzz $(FUZZ_SECONDS)

faults: build ## make every system call fail that writes a model, for at most FAULT_MINUTES (15)
	@scripts/setup python
	@cmake --build --preset release --target attend_faults faults_test
	@build/release/tests/faults_test --gtest_brief=1
	@tests/faults/campaign.py --program $(PROGRAM) --library build/release/tests/libattend_faults.so --minutes $(FAULT_MINUTES)

hostile: build ## run the program on HOSTILE_CASES (20000) damaged and hostile models, adapters, templates, grammars, corpora and recipes
	@scripts/setup python
	@tests/hostile/hostile.py --program $(PROGRAM) --cases $(HOSTILE_CASES)

install: build ## install program, library and headers under PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX)

clean: ## remove everything that was built
	rm -rf build
