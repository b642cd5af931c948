# Each target is one command on a checkout that build/bootstrap has prepared.
.DEFAULT_GOAL := help
.PHONY: help demo demo-pool test test-all build package image ycsb up down evaluate report lint format \
  requirements clean

# Stores that have a patch series, those of them that have an image, and the settings of the targets that use the test bed.
STORES ?= $(notdir $(wildcard patches/*))
IMAGES = $(filter $(STORES),$(patsubst build/stores/%/image/recipe.toml,%,$(wildcard build/stores/*/image/recipe.toml)))
INVENTORY ?= local
PROFILE ?= smoke
RESULTS ?= results

SHELL := /bin/bash
export PATH := $(CURDIR)/.work/venv/bin:$(PATH)
PLAYBOOK := cd ansible && ansible-playbook -i inventories/$(INVENTORY)

help: ## Show this list (the default)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo 'Settings: STORES="$(STORES)" INVENTORY=$(INVENTORY) PROFILE=$(PROFILE) RESULTS=$(RESULTS), as in: make evaluate PROFILE=small'

.PHONY: bootstrap
bootstrap:
	@build/bootstrap

demo: ## From a bare checkout to a measured report: build, deploy, evaluate, tear down
	build/demo

demo-pool: ## The same for RocksDB on four nodes whose disks are one pool
	build/demo --pool

test: bootstrap ## Run the test suite (at most 45 minutes on two cores)
	tests/run.py test

test-all: bootstrap ## Run the long test suite as well (hours)
	tests/run.py test-all

build: ycsb ## Compile every store, patched and stock, and the YCSB bindings
	set -e; for store in $(STORES); do for variant in patched stock; do \
	  sluice-dist compile "$$store" --variant "$$variant"; done; done

package: bootstrap ## Make the Debian packages of the control plane and of every store, patched and stock
	sluice-dist control
	set -e; for store in $(STORES); do for variant in patched stock; do \
	  sluice-dist package "$$store" --variant "$$variant"; done; done

image: package ## Make the image of the nodes, and those of every store that has one, patched and stock
	sluice-dist image node
	set -e; for store in $(IMAGES); do for variant in patched stock; do \
	  sluice-dist image "$$store" --variant "$$variant"; done; done

ycsb: bootstrap ## Make the YCSB bundle
	mvn --batch-mode --quiet --file ycsb-bindings/pom.xml -DskipTests package

up: package ycsb ## Bring up the test bed and install the stores on it
	sluice-dist image node
	$(PLAYBOOK) playbooks/testbed.yml playbooks/site.yml -e testbed_cpu_quotas_in_force=false

down: bootstrap ## Take the test bed down
	$(PLAYBOOK) playbooks/teardown.yml

evaluate: bootstrap ## Run the experiments of a profile (or EXPERIMENT alone) on what is up, into RESULTS; resumes where it stopped
	$(PLAYBOOK) playbooks/evaluate.yml -e profile=$(PROFILE) $(if $(EXPERIMENT),-e experiment=$(EXPERIMENT)) \
	  -e evaluation_results_directory=$(abspath $(RESULTS))
	sluice-evaluation claims --results $(RESULTS)

report: bootstrap ## Make the report from the committed records
	sluice-evaluation report

lint: bootstrap ## Run all formatters' checks, linters and the project's own rules
	tests/run.py --only lint

format: bootstrap ## Rewrite all code in its formatter's style
	ruff check --fix --quiet .
	ruff format .
	gofmt -w control
	buf format -w proto
	set -e; for format in build/stores/*/format; do "$$format"; done
	set -e; for project in ycsb-bindings/pom.xml build/tap-runner/pom.xml build/stores/*/{distribution,modules}/pom.xml plugins/pom.xml tests/*/faults/*/pom.xml; do \
	  [ ! -e "$$project" ] || mvn --batch-mode --quiet --file "$$project" spotless:apply; done

requirements: bootstrap ## Recompile build/requirements.txt after a change of build/requirements.in
	CUSTOM_COMPILE_COMMAND='make requirements' pip-compile --quiet --generate-hashes --allow-unsafe \
	  --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	  --output-file build/requirements.txt build/requirements.in

clean: ## Remove .work, the state of this checkout (downloads and compiler cache stay); FORCE=1 also work that is not exported, and keys of test beds
	build/clean $(if $(FORCE),--force)
