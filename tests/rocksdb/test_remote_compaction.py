"""Compactions of a JVM with the jar as published, done by sluice-compact for another node."""

import contextlib
import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents import build_program, wait_for
from commanded_store import CommandedStore, compile_store
from rocksdb_stage import Staged
from two_nodes import Nodes, two_nodes

DONE = 'sluice_compaction_client_jobs_total{result="done"}'
BATCHES = 1000
BATCHES_AT_A_TIME = 5
FAULTS = 20


@pytest.fixture
def nodes(patched: Staged, sockets: Path, tmp_path: Path) -> Iterator[Nodes]:
    shared = tmp_path / "shared"
    shared.mkdir()
    with two_nodes(build_program(tmp_path), patched, tmp_path, sockets, shared / "db") as made:
        yield made


@pytest.fixture
def store(nodes: Nodes, patched: Staged, jar: Path, tmp_path: Path) -> Iterator[CommandedStore]:
    variables = {
        "LD_PRELOAD": str(patched.preload),
        "ROCKSDB_DB_OPTIONS_OVERRIDE": nodes.service_options(),
    }
    made = CommandedStore(compile_store(jar, tmp_path), nodes.database, tmp_path, variables)
    made.open()
    yield made
    made.end()


def test_compactions_run_on_the_other_node(nodes: Nodes, store: CommandedStore) -> None:
    for _ in range(BATCHES):
        store.write()
    store.settle()
    store.check()
    store.close()
    results = {
        name: value
        for name, value in nodes.store.metrics().items()
        if name.startswith("sluice_compaction_client_jobs_total") and value > 0
    }
    assert results.pop(DONE) > 0
    assert results == {}, "some were left to the store"
    assert nodes.left() == []
    assert nodes.workers() == []


def test_faults_one_after_the_other(nodes: Nodes, store: CommandedStore) -> None:
    """Workers and agents are killed as soon as there is a job, whatever the one before has left."""

    def kill_worker() -> None:
        for worker in nodes.workers():
            # It may have ended meanwhile.
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)

    def kill_worker_agent() -> None:
        nodes.worker.kill()
        nodes.worker.start()

    def kill_store_agent() -> None:
        nodes.store.kill()
        nodes.store.start()

    def is_compacting() -> bool:
        for _ in range(BATCHES_AT_A_TIME):
            store.write()
        return nodes.workers() != []

    kinds = [kill_worker, kill_worker_agent, kill_store_agent]
    for strike in itertools.islice(itertools.cycle(kinds), FAULTS):
        wait_for("a worker", is_compacting)
        strike()
    store.settle()
    store.check()
    store.close()
    wait_for("the end of what jobs have left", lambda: not nodes.left() and not nodes.workers())
