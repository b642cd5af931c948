"""Every shell block of the documentation runs, or says why it is not run."""

import os
import subprocess
from pathlib import Path

import pytest
from blocks import Block, command_lines
from pages import BLOCKS, WRONG, of_kind
from run import TOP, load_steps
from source_files import has_suffix

# For what hangs: a busy machine takes several times as long as a quiet one.
LIMIT_SECONDS = {"quick": 900, "all": 3600}
STEPS = {step.name: step for step in load_steps(TOP / "tests" / "steps")}


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
    unknown = set(block.names) - set(STEPS)
    assert not unknown, f"{block.where}: no step {sorted(unknown)} in tests/steps"
    covered = {line for name in block.names for line in STEPS[name].command.splitlines()}
    bare = [line for line in command_lines(block) if line not in covered]
    assert not bare, f"{block.where}: no command of {block.names} reads {bare}: {sorted(covered)}"


@pytest.mark.parametrize("block", of_kind("server"))
def test_server_of_block_is_known(block):
    for store in block.names:
        runs = Path(__file__).with_name(f"test_{store}_sql.py")
        assert runs.exists(), f"{block.where}: no {runs.name} runs the blocks of server:{store}"


@pytest.mark.parametrize("block", of_kind("program"))
def test_program_of_block_is_run(block):
    for store in block.names:
        runs = TOP / "tests" / store / "test_documented_programs.py"
        assert runs.exists(), f"{block.where}: no {runs.name} of {store} runs the program"


def test_index_lists_every_page():
    index = (TOP / "docs" / "README.md").read_text()
    pages = [page.name for page in has_suffix(".md") if page.parent.name == "docs"]
    unlisted = [name for name in pages if name != "README.md" and f"]({name})" not in index]
    assert not unlisted, f"add to docs/README.md: {unlisted}"
