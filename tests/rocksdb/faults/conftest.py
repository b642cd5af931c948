"""One store and one peer for all faults: what one of them leaves behind shows after the next."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents import build_program
from commanded_store import CommandedStore, compile_store
from compaction_faults import KEPT_FREE_BYTES
from offloading import Offloading
from rocksdb_stage import Staged
from small_file_system import small_file_system
from two_nodes import two_nodes

ROUNDS = int(os.environ.get("SLUICE_CRASH_ROUNDS", "1"))
# Many times what the database has.
SHARED_BYTES = 512 << 20
LOG_LINES = 30


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "crash_round" in metafunc.fixturenames:
        metafunc.parametrize("crash_round", range(1, ROUNDS + 1), ids="round {}".format)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What store and agents have said goes with a failure."""
    report = yield
    used = getattr(item, "funcargs", {}).get("under_test")
    if report.when == "call" and report.failed and used:
        report.sections.append(("ends of logs", used.log_ends(LOG_LINES)))
    return report


@pytest.fixture(scope="session")
def under_test(
    patched: Staged, jar: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Offloading]:
    folder = tmp_path_factory.mktemp("faults")
    program = build_program(folder)
    wall_clock = build_program(folder, "./tests/wallclock/program")
    command = compile_store(jar, folder)
    limits = {"free_bytes": KEPT_FREE_BYTES}
    with (
        tempfile.TemporaryDirectory(prefix="sluice-") as sockets,
        small_file_system(folder / "shared", SHARED_BYTES) as shared,
        two_nodes(
            program, patched, folder, Path(sockets), shared.mount_point / "db", **limits
        ) as nodes,
    ):
        # Two threads: one for flushes, and one for compactions, so that there is one job at a time.
        options = f"max_background_jobs=2;{nodes.service_options()}"
        variables = {
            "LD_PRELOAD": str(patched.preload),
            "ROCKSDB_DB_OPTIONS_OVERRIDE": options,
        }
        store = CommandedStore(command, nodes.database, folder, variables)
        store.open()
        try:
            yield Offloading(store, nodes, shared, wall_clock, folder)
            store.close()
        finally:
            store.end()
