"""One pool and one mount for all faults: what one of them leaves behind shows after the next."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents import build_program
from mounted_pool import MountedPool, mounted_pool

ROUNDS = int(os.environ.get("SLUICE_CRASH_ROUNDS", "1"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "crash_round" in metafunc.fixturenames:
        metafunc.parametrize("crash_round", range(1, ROUNDS + 1), ids="round {}".format)


@pytest.fixture(scope="session")
def pool() -> Iterator[MountedPool]:
    if os.geteuid():
        pytest.skip("a mount for all users needs root")
    # Servers of databases, which are other users, go into it: those of pytest are for one alone.
    with tempfile.TemporaryDirectory(prefix="sluice-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        with mounted_pool(build_program(folder), folder) as started:
            yield started
