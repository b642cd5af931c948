"""One cluster for all faults: what one of them has left behind would show after the next."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import control_plane
import pytest
from cluster_under_test import LAYOUT, ClusterUnderTest
from deployed_cluster import Description, deployed_cluster
from deployed_control_plane import DeployedControlPlane
from hbase_commands import HBaseCommands
from linked_list import class_path
from one_node import one_node
from what_is_run import DEPLOYED, ROUNDS

# More than one region can hold up: a compaction looks at its orders every 64 KiB.
FIRST_ROWS = 40_000
LOG_LINES = 100


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "crash_round" in metafunc.fixturenames:
        metafunc.parametrize("crash_round", range(1, ROUNDS + 1), ids="round {}".format)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What the daemons have said goes with a failure: their logs are gone after the last test."""
    report = yield
    used = getattr(item, "funcargs", {}).get("cluster")
    if report.when == "call" and report.failed and used:
        report.sections.append(("logs of the cluster", used.node.log_ends(LOG_LINES)))
    return report


@pytest.fixture(scope="session")
def control_program(tmp_path_factory) -> Callable[[], Path]:
    """Gives the program of agent and controller, compiled when the first fault needs it."""
    return functools.cache(lambda: control_plane.build(tmp_path_factory.mktemp("control")))


@pytest.fixture(scope="session")
def cluster(control_program, request) -> Iterator[ClusterUnderTest]:
    """Region servers with the plug-in over three DataNodes, and the first rows."""
    class_path()
    with found(DEPLOYED) if DEPLOYED else started(control_program) as made:
        made.prepare()
        with made.list.writing(FIRST_ROWS):
            pass
        made.compact_all()
        yield made
        if DEPLOYED and not request.session.testsfailed:
            made.leave()


@contextlib.contextmanager
def started(control_program: Callable[[], Path]) -> Iterator[ClusterUnderTest]:
    """Of processes of this machine, which end with it."""
    with one_node(LAYOUT) as node, HBaseCommands(node) as commands:
        planes = control_plane.control_planes(control_program, node)
        yield ClusterUnderTest(node, commands, planes)


@contextlib.contextmanager
def found(description: Description) -> Iterator[ClusterUnderTest]:
    """On the nodes that a playbook has described."""
    with deployed_cluster(description) as node, HBaseCommands(node) as commands:
        yield ClusterUnderTest(node, commands, lambda: DeployedControlPlane(node))
