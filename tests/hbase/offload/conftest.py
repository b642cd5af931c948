"""One cluster for all faults: what one of them leaves behind shows after the next."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents import build_program
from hbase_commands import HBaseCommands
from hdfs_files import HdfsFiles
from offload_cluster import OffloadCluster, layout
from offload_nodes import offload_nodes, socket_of
from one_node import one_node

ROUNDS = int(os.environ.get("SLUICE_CRASH_ROUNDS", "1"))
LOG_LINES = 60


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "crash_round" in metafunc.fixturenames:
        metafunc.parametrize("crash_round", range(1, ROUNDS + 1), ids="round {}".format)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What daemons and agents have said goes with a failure."""
    report = yield
    used = getattr(item, "funcargs", {}).get("cluster")
    if report.when == "call" and report.failed and used:
        report.sections.append(("ends of logs", used.log_ends(LOG_LINES)))
    return report


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OffloadCluster]:
    """Region servers of the staged build, both agents, and a table that the peer compacts."""
    programs = tmp_path_factory.mktemp("programs")
    program = build_program(programs)
    wall_clock = build_program(programs, "./tests/wallclock/program")
    with (
        tempfile.TemporaryDirectory(prefix="sluice-") as sockets,
        one_node(layout(socket_of(Path(sockets)))) as node,
        HBaseCommands(node) as commands,
        HdfsFiles(node) as files,
        offload_nodes(program, node, Path(sockets)) as nodes,
    ):
        made = OffloadCluster(node, commands, files, nodes, wall_clock)
        made.prepare()
        made.have_done_by_peer()
        yield made
