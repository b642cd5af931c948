"""A database whose logs are on two disks that lose what was not synced."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from database_program import compiled_program, plugin_options
from rocksdb_stage import Staged
from row_writer import RowWriter, checked_rows
from sluice_evaluation.bench.plugin_socket import PluginSocket
from sluice_evaluation.bench.waiting import wait_until
from volatile_disk import VolatileDisk

ROUNDS = int(os.environ.get("SLUICE_CRASH_ROUNDS", "1"))
SOURCE = Path(__file__).parent.with_name("acknowledged_rows.cc")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "crash_round" in metafunc.fixturenames:
        metafunc.parametrize("crash_round", range(1, ROUNDS + 1), ids="round {}".format)


@pytest.fixture(scope="session")
def program(patched: Staged, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_program(patched.prefix, tmp_path_factory.mktemp("program"), SOURCE)


class TwoDisks:
    """A fast and a slow one, with the database on the fast one, and its logs in it or beside it."""

    def __init__(self, folder: Path, program: Path, *, has_log_folder: bool):
        self._folder = folder
        self._program = program
        self._has_log_folder = has_log_folder
        self.fast = VolatileDisk(_made(folder / "fast"))
        self.slow = VolatileDisk(_made(folder / "slow"))
        self._ends = ExitStack()
        self._cuts = 0
        self._losses = 0

    def __enter__(self) -> TwoDisks:
        for disk in (self.fast, self.slow):
            self._ends.callback(disk.remove)
        with self._ends:
            for disk in (self.fast, self.slow):
                disk.start()
            _made(self.slow_folder)
            self._ends = self._ends.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    @property
    def slow_folder(self) -> Path:
        return self.slow.mount_point / "logs"

    @property
    def database(self) -> Path:
        return self.fast.mount_point / "orders"

    def options(self) -> str:
        plugin = plugin_options(
            socket_directory=self._folder, remote="false", wal_slow_directory=self.slow_folder
        )
        beside = f";wal_dir={self.fast.mount_point / 'wal'}" if self._has_log_folder else ""
        return plugin + beside

    def writer(self, *, makes_logs_ahead: bool = False) -> RowWriter:
        options = f"{self.options()};async_wal_precreate={str(makes_logs_ahead).lower()}"
        return RowWriter(self._program, options, self.database, self._folder / "writer.log")

    def plugin(self) -> PluginSocket:
        """A connection to the plug-in of the writer that was just started."""
        made: list[PluginSocket] = []

        def connects() -> bool:
            # That of a writer that was killed is still there, and refuses.
            with suppress(OSError):
                made.append(PluginSocket(self._folder / "rocksdb/main.sock"))
            return bool(made)

        wait_until(connects, "the socket of the plug-in")
        return made[0]

    def checked_rows(self) -> int:
        return checked_rows(self._program, self.options(), self.database)

    def lose_power(self, writer: RowWriter, dice: random.Random) -> int:
        """Cut both disks off while it writes; gives which row was acknowledged before that."""
        disks = [self.fast, self.slow]
        dice.shuffle(disks)
        for disk in disks:
            disk.write_proofs()
        acknowledged = writer.acknowledged
        for disk in disks:
            disk.cut_power()
        writer.kill()
        for disk in disks:
            disk.restore_power()
            self._cuts += 1
            self._losses += disk.has_lost()
        return acknowledged

    def require_losses(self) -> None:
        """AssertionError unless unsynced data was lost nearly always; the writer syncs, too."""
        assert self._losses >= self._cuts * 0.8, f"{self._losses} losses in {self._cuts} cuts"


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session", params=[False, True], ids=["logs in it", "logs beside it"])
def two_disks(request: pytest.FixtureRequest, program: Path) -> Iterator[TwoDisks]:
    if os.geteuid():
        pytest.skip("mounting disks needs root")
    with (
        tempfile.TemporaryDirectory(prefix="sluice-logs-", dir="/dev/shm") as folder,
        TwoDisks(Path(folder), program, has_log_folder=request.param) as made,
    ):
        yield made
        made.require_losses()


@pytest.fixture
def dice(request: pytest.FixtureRequest) -> random.Random:
    """Numbers that are the same whenever a test is run again."""
    return random.Random(request.node.name)
