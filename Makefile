# SPDX-License-Identifier: GPL-2.0-only
#
# The only entry point; the work is done by scripts/. Variables given on the
# command line (TOPIC=, BASE=, ...) reach the scripts through the environment.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help

help: ## this list
	@echo 'usage: make TARGET [VARIABLE=VALUE...]'
	@awk -F ' *## ' '/^[a-z-]+:.*## / { sub(/:.*/, "", $$1); \
		printf "  %-10s %s\n", $$1, $$2 }' Makefile

deps: ## install the packages needed (as root), or print the line that does
	@scripts/deps

demo: ## from nothing: get, patch, build, boot, show each feature off and on
	@scripts/demo

check: deps ## all tests; TOPIC= narrows
	@scripts/check

test-one: ## one test: TEST=TOPIC/NAME, with CONFIG= and APPEND= as for vm
	@scripts/check --one "$$TEST"

bench: deps ## base against series; BENCH=path|contention narrows
	@scripts/bench

soak: deps ## torture and stress tests for DURATION= (10m, 2h)
	@scripts/soak

base: ## get and verify the base source tree; BASE= names an own tree or tarball
	@scripts/base

tree: ## build/tree: the patched tree, one commit per patch
	@scripts/series tree

apply: ## patch the kernel tree KDIR=, all or nothing; TOPICS= picks topics
	@scripts/series apply --kdir "$$KDIR"

unapply: ## take the patches out of the kernel tree KDIR= again
	@scripts/series unapply --kdir "$$KDIR"

refresh: ## export the commits of build/tree to patches/
	@scripts/series refresh

kernel: ## build the patched kernel with CONFIG= (guest, rt, debug, rt-debug)
	@scripts/kernel --tree series "$${CONFIG:-guest}"

vm: ## an interactive guest of kernel CONFIG=, with APPEND= SMP= ICOUNT= ACCEL=
	@scripts/vm

clean: ## remove what was built; downloads and the trees stay
	rm -rf build/kernel build/initrd build/selftests build/tools build/log

.PHONY: help deps demo check test-one bench soak base tree apply unapply \
	refresh kernel vm clean
