"""Data to start from, and disks and servers that are gone after each test."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from powered_server import SCALE, SETTINGS, Load, PoweredServer, testing_prefix
from volatile_disk import VolatileDisk

ROUNDS = int(os.environ.get("SLUICE_CRASH_ROUNDS", "1"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "crash_round" in metafunc.fixturenames:
        metafunc.parametrize("crash_round", range(1, ROUNDS + 1), ids="round {}".format)


@pytest.fixture(scope="session", autouse=True)
def end_when_told(request) -> Iterator[None]:
    """SIGINT and SIGTERM let the running test end first: a mount cannot be broken off."""

    def stop_after_this_test(number, _frame):
        request.session.shouldstop = signal.Signals(number).name

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, stop_after_this_test) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@contextmanager
def _memory_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="sluice-power-", dir="/dev/shm"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def origin(end_when_told) -> Iterator[Path]:
    """The data of a stopped server with pgbench's tables, to be copied."""
    if os.geteuid():
        pytest.skip("mounting disks needs root")
    os.environ["PGCTLTIMEOUT"] = "180"
    with _memory_folder() as folder:
        server = PoweredServer(testing_prefix(), folder / "server", folder / "server/data")
        server.run("initdb", "-D", server.data, "-U", "postgres", "-A", "trust", "-k", "-N")
        server.configure({**SETTINGS, "unix_socket_directories": str(server.folder)})
        try:
            server.start()
            server.execute(
                "CREATE EXTENSION sluice",
                "CREATE EXTENSION amcheck",
                "CREATE TABLE pages (i int, filler text STORAGE plain)",
            )
            server.run("pgbench", "-i", "-q", "-s", str(SCALE), "postgres")
            server.stop()
            yield server.data
        finally:
            server.kill(server.running())


class Stand:
    """What a test starts; all of it ends with the context, whatever state it is in."""

    def __init__(self, folder: Path, origin: Path):
        self.disk = VolatileDisk(folder)
        self._folder = folder
        self._origin = origin
        self._ends = ExitStack()

    def __enter__(self) -> Stand:
        self._ends.callback(self.disk.remove)
        with self._ends:
            self.disk.start()
            self._ends = self._ends.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._ends.close()

    def server(self, name: str, on_disk: bool, **settings: str) -> PoweredServer:
        """A server over a copy of the origin, not started."""
        data = (self.disk.mount_point if on_disk else self._folder) / f"{name}-data"
        server = PoweredServer(testing_prefix(), self._folder / name, data)
        server.adopt(self._origin, settings)
        self._ends.callback(lambda: server.kill(server.running()))
        return server

    def load(self, server: PoweredServer) -> Load:
        """A load on a server that runs."""
        load = Load(server)
        self._ends.callback(load.end)
        return load

    def lose_power(self, server: PoweredServer) -> None:
        """Cut the disk off with the server's processes; when it returns, the disk is back."""
        running = server.running()
        self.disk.write_proofs()
        self.disk.cut_power()
        server.kill(running)
        self.disk.restore_power()
        self.disk.require_loss()


@pytest.fixture
def stand(origin) -> Iterator[Stand]:
    """A disk that loses power, and servers on it or beside it."""
    with _memory_folder() as folder, Stand(folder, origin) as made:
        yield made
