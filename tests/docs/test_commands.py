"""Every shell block of the documentation runs, or says why it is not run."""

import os
import subprocess

import pytest
from blocks import Block, BlockError, command_lines, shell_blocks
from run import TOP, load_steps
from source_files import has_suffix, text_of

LIMIT_SECONDS = {"quick": 300, "all": 3600}
STEPS = {step.name: step for step in load_steps(TOP / "tests" / "steps")}


def blocks_of_all_pages() -> tuple[list[Block], list[str]]:
    found, wrong = [], []
    for page in has_suffix(".md"):
        try:
            found += shell_blocks(page, text_of(page) or "")
        except BlockError as error:
            wrong.append(str(error))
    return found, wrong


BLOCKS, WRONG = blocks_of_all_pages()


def of_kind(*kinds: str) -> list:
    return [pytest.param(block, id=block.where) for block in BLOCKS if block.kind in kinds]


def run_block(block: Block) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.commands],
        cwd=TOP,
        env=os.environ | {"PATH": f"{TOP / '.work/venv/bin'}:{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS[block.kind],
    )
    if done.returncode != 0:
        pytest.fail(f"{block.where}: exit code {done.returncode}\n{done.stdout}", pytrace=False)


def test_all_blocks_are_classed():
    if WRONG:
        pytest.fail("\n".join(WRONG), pytrace=False)
    assert BLOCKS


@pytest.mark.parametrize("block", of_kind("quick"))
def test_quick_block_runs(block):
    run_block(block)


if os.environ.get("SLUICE_SUITE") == "test-all":

    @pytest.mark.parametrize("block", of_kind("all"))
    def test_long_block_runs(block):
        run_block(block)


@pytest.mark.parametrize("block", of_kind("covered"))
def test_covered_block_is_a_step(block):
    unknown = set(block.steps) - set(STEPS)
    assert not unknown, f"{block.where}: no step {sorted(unknown)} in tests/steps"
    covered = {STEPS[name].command for name in block.steps}
    bare = [line for line in command_lines(block) if line not in covered]
    assert not bare, f"{block.where}: no command of {block.steps} reads {bare}: {sorted(covered)}"


def test_index_lists_every_page():
    index = (TOP / "docs" / "README.md").read_text()
    pages = [page.name for page in has_suffix(".md") if page.parent.name == "docs"]
    unlisted = [name for name in pages if name != "README.md" and f"]({name})" not in index]
    assert not unlisted, f"add to docs/README.md: {unlisted}"
