"""Compactions of a JVM with the jar as published, done by sluice-compact for another node."""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from agents import STORE_NODE, WORKER_NODE, Agent, Authority, build_program, wait_for
from rocksdb_stage import Staged

PROGRAM = Path(__file__).with_name("OverwriteAndScan.java")
DONE = 'sluice_compaction_client_jobs_total{result="done"}'
PEER_IS_UP = f'sluice_compaction_peer_up{{peer="{WORKER_NODE}"}}'
FAULTS = 20


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"


@dataclass
class Nodes:
    """A node with a store, one that compacts for it, and what they share."""

    store: Agent
    worker: Agent
    sockets: Path
    database: Path
    state: Path
    compact: Path

    def workers(self) -> list[int]:
        found = subprocess.run(
            ["pgrep", "-f", f"^{self.compact}"], capture_output=True, text=True, check=False
        )
        return [int(line) for line in found.stdout.split()]

    def left(self) -> list[Path]:
        """Give what jobs may have left: directories, and notes to remove them."""
        return [*self.database.glob(".sluice-compaction-*"), *self.state.glob("compactions/*")]


@pytest.fixture
def nodes(patched: Staged, tmp_path: Path) -> Iterator[Nodes]:
    program = build_program(tmp_path)
    authority = Authority(tmp_path / "tls")
    # The path of a socket is short.
    with tempfile.TemporaryDirectory(prefix="sluice-") as sockets:
        compact = patched.prefix / "bin" / "sluice-compact"
        database, state = tmp_path / "db", tmp_path / "state"
        worker_at = free_address()
        client = {
            "socket": f"{sockets}/compaction.sock",
            "peers": [{"node": WORKER_NODE, "address": worker_at}],
            # Both nodes are this machine, whose load is the same for both.
            "threshold_share": -1,
            "minimum_input_bytes": 0,
        }
        worker = {
            "programs": [
                {"rocksdb_series": patched.version.rpartition(".")[0], "path": str(compact)}
            ],
            "paths": [str(tmp_path)],
            "state_directory": str(state),
            "free_bytes": 0,
            # For all that the store compacts at a time.
            "slots": 16,
            "memory_bytes": 16 << 30,
        }

        def start(node: str, listen: str, part: dict[str, object]) -> Agent:
            folder = tmp_path / node
            folder.mkdir()
            configuration = {
                "cluster": "test",
                "node": node,
                "listen": listen,
                "metrics_listen": free_address(),
                "tls": authority.issue(node),
                "socket_directory": sockets if node == STORE_NODE else str(folder),
                "compaction": part,
            }
            return Agent(program, folder, configuration)

        made = Nodes(
            start(STORE_NODE, free_address(), {"client": client}),
            start(WORKER_NODE, worker_at, {"worker": worker}),
            Path(sockets),
            database,
            state,
            compact,
        )
        wait_for("the peer", lambda: made.store.metrics().get(PEER_IS_UP) == 1)
        yield made
        made.store.end()
        made.worker.end()


def start_store(nodes: Nodes, patched: Staged, jar: Path, rounds: int) -> subprocess.Popen[str]:
    service = {
        "id": "sluice",
        "socket_directory": nodes.sockets,
        "agent_socket": nodes.sockets / "compaction.sock",
        "minimum_input_bytes": 1,
    }
    settings = ";".join(f"{name}={value}" for name, value in service.items())
    variables = {
        "LD_PRELOAD": str(patched.preload),
        "ROCKSDB_DB_OPTIONS_OVERRIDE": f"compaction_service={{{settings}}}",
    }
    # The jar unpacks its library into the folder for temporary files.
    options = ["-Xmx128m", f"-Djava.io.tmpdir={nodes.database.parent}", "-cp", str(jar)]
    return subprocess.Popen(
        ["java", *options, str(PROGRAM), str(nodes.database), str(rounds)],
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def check_rows(said: str) -> None:
    figures = dict(line.split() for line in said.splitlines())
    assert figures["expected"] == figures["rows"] == figures["right"], said


def test_compactions_run_on_the_other_node(nodes: Nodes, patched: Staged, jar: Path) -> None:
    said, _ = start_store(nodes, patched, jar, rounds=10).communicate()
    check_rows(said)
    results = {
        name: value
        for name, value in nodes.store.metrics().items()
        if name.startswith("sluice_compaction_client_jobs_total") and value > 0
    }
    assert results.pop(DONE) > 0
    assert results == {}, "some were left to the store"
    assert nodes.left() == []
    assert nodes.workers() == []


def test_faults_in_the_middle_of_jobs(nodes: Nodes, patched: Staged, jar: Path) -> None:
    """Workers and agents are killed while they compact: no row is lost, and nothing is left."""

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

    faults: list[Callable[[], None]] = [kill_worker, kill_worker_agent, kill_store_agent]
    store = start_store(nodes, patched, jar, rounds=100)
    struck = 0
    while store.poll() is None and struck < FAULTS:
        if nodes.workers():
            faults[struck % len(faults)]()
            struck += 1
    said, _ = store.communicate()
    check_rows(said)
    assert struck == FAULTS, "the store was done before"
    wait_for("the end of what jobs have left", lambda: not nodes.left() and not nodes.workers())
