# Every target is one command; what it needs it makes first by build/bootstrap.
.DEFAULT_GOAL := help
.PHONY: help requirements clean

BOOTSTRAP := build/bootstrap

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

requirements: ## Recompile build/requirements.txt after a change of build/requirements.in
	@$(BOOTSTRAP)
	CUSTOM_COMPILE_COMMAND='make requirements' .work/venv/bin/pip-compile --quiet --generate-hashes \
	  --allow-unsafe --strip-extras --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	  --output-file build/requirements.txt build/requirements.in

clean: ## Remove .work, the state of this checkout (the cache of sources and compilers stays)
	rm -rf .work
