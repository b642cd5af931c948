"""No value is lost or wrong while db_stress is killed again and again and others compact for it."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents import Agent, build_program, wait_for
from crash_test import CrashTest, Round
from rocksdb_stage import Staged, staged
from two_nodes import Nodes, two_nodes
from worker_library import build_library

SECONDS = int(os.environ.get("SLUICE_CRASH_TEST_SECONDS", "600"))

BY_RULE = {"cancelled", "not-open"}
"""Why a compaction may be local in any round: the database closes, or is not open yet."""

BY_LOSS = {
    "agent-silent",
    # Free slots of a peer that was started again are not known at once.
    "busy",
    "no-peer",
    "peer-lost",
    "peer-refused",
    "worker-lost",
    "worker-silent",
}
"""And while the worker's agent is lost."""

SLOTS = 32
"""For all jobs of db_stress at a time; an agent cannot be given more."""

MANY = 10
"""Compactions of a round of which another node must have done some."""


@pytest.fixture(params=["blackbox", "whitebox"])
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def tree(mode: str) -> Staged:
    """Points at which db_stress kills itself are in the build for tests alone."""
    return staged("patched", testing=mode == "whitebox")


@pytest.fixture
def nodes(tree: Staged, tmp_path: Path, sockets: Path) -> Iterator[Nodes]:
    library = build_library(tree.build, tmp_path)
    database = tmp_path / "databases" / "any"
    database.parent.mkdir()
    limits = {
        "libraries": [str(library)],
        "slots": SLOTS,
        "memory_bytes": SLOTS << 29,
        # The threads of db_stress leave nothing to who stands back on the same processors.
        "nice": 0,
    }
    program = build_program(tmp_path)
    with two_nodes(program, tree, tmp_path, sockets, database, **limits) as made:
        yield made


def results_of(store: Agent) -> dict[str, int]:
    """Give how many jobs of the store's agent came to which end."""
    jobs = re.compile(r'sluice_compaction_client_jobs_total\{result="(.*)"\}')
    matches = ((jobs.fullmatch(name), int(value)) for name, value in store.metrics().items())
    return {match[1]: count for match, count in matches if match and count > 0}


def unexplained(seen: Round) -> dict[str, int]:
    """Give the compactions that another node should have done, by why it has not."""
    allowed = BY_RULE | (BY_LOSS if seen.is_disturbed else set())
    return {reason: count for reason, count in seen.local.items() if reason not in allowed}


def report(rounds: list[Round]) -> str:
    lines = [
        f"{number:4} {'disturbed' if each.is_disturbed else 'steady':9} "
        f"remote {each.remote:5}  local {each.local}"
        for number, each in enumerate(rounds, 1)
    ]
    total = sum(each.remote for each in rounds)
    return "\n".join([*lines, f"{total} remote compactions in {len(rounds)} rounds"])


def check_rounds(rounds: list[Round]) -> None:
    assert sum(each.remote for each in rounds) > 0, "no compaction was done by the other node"
    seen = [each for each in rounds if each.figures]
    assert len(seen) > len(rounds) / 2, "most rounds did not have the plug-in, or were not seen"
    for number, each in enumerate(rounds, 1):
        assert unexplained(each) == {}, f"round {number}"
        offered = each.remote + sum(each.local.values())
        assert each.remote > 0 or offered < MANY, f"round {number}: all were local"


def test_no_mismatch(mode: str, tree: Staged, nodes: Nodes) -> None:
    crash_test = CrashTest(mode, tree, nodes, SECONDS)
    status = crash_test.run()
    rounds = crash_test.rounds
    print(report(rounds))
    assert status == 0, f"a mismatch, or db_stress failed: the end of {crash_test.log} says how"
    check_rounds(rounds)
    assert crash_test.strikes > 0, "the worker's agent was never killed"
    results = results_of(nodes.store)
    assert results.get("done", 0) >= sum(each.remote for each in rounds)
    assert set(results) <= {"done", "cancelled"} | BY_LOSS
    assert crash_test.left.read_text() == "", "jobs have left directories in the database"
    wait_for("the end of what jobs have left", lambda: not nodes.left() and not nodes.workers())
