"""Pages that are overwritten in a mount, whose process, agents and servers are killed meanwhile.

Every page that its writer was told of is there, or a later one. SLUICE_CRASH_ROUNDS says how often
(default 1).
"""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from agents import wait_for
from mounted_pool import SERVERS, MountedPool
from page_writer import PAGE_BYTES, PAGES

WRITER = Path(__file__).with_name("page_writer.py")


class Writer:
    """A process that overwrites pages, and what it was told of them."""

    def __init__(self, path: Path, seed: int):
        self.path = path
        self.acknowledged: dict[int, int] = {}
        self.process = subprocess.Popen(
            [sys.executable, WRITER, path, str(seed)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reading = Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            at, number = line.split()
            self.acknowledged[int(at)] = int(number)

    def last(self) -> int:
        return max(self.acknowledged.values(), default=0)

    def wait_for_more(self, writes: int = 100) -> None:
        target = self.last() + writes

        def are_there() -> bool:
            assert self.process.poll() is None, self.process.stderr.read()
            return self.last() >= target

        wait_for("more pages", are_there)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reading.join()

    def check(self) -> None:
        """All pages are whole, and none is older than its writer was told."""
        content = self.path.read_bytes()
        assert len(content) == PAGES * PAGE_BYTES
        for at in range(PAGES):
            page = content[at * PAGE_BYTES :][:PAGE_BYTES]
            (number,) = struct.unpack("<Q", page[:8])
            assert page == page[:8] * (PAGE_BYTES // 8), f"page {at} is torn"
            told = self.acknowledged.get(at, 0)
            assert number >= told, f"page {at} has the write {number}, {told} was acknowledged"


@pytest.fixture
def writer(pool: MountedPool, request: pytest.FixtureRequest):
    started = Writer(
        pool.mount_point / "pages", random.Random(request.node.name).randrange(1 << 30)
    )
    started.wait_for_more()
    yield started
    started.end()
    if not pool.mount_point.is_mount():
        pool.mount()
    started.path.unlink()


def test_mount_killed(crash_round: int, pool: MountedPool, writer: Writer):
    pool.kill_mount()
    writer.process.wait()
    writer.end()
    pool.mount()
    writer.check()


def test_mount_ended(crash_round: int, pool: MountedPool, writer: Writer):
    writer.end()
    pool.unmount()
    assert not list(pool.mount_point.iterdir())
    pool.mount()
    writer.check()


def test_agent_killed(crash_round: int, pool: MountedPool, writer: Writer):
    pool.client.kill()
    pool.start_client()
    writer.wait_for_more()
    writer.end()
    writer.check()
    pool.unmount()
    pool.mount()
    writer.check()


def test_agent_restarted(crash_round: int, pool: MountedPool, writer: Writer):
    pool.client.end()
    pool.start_client()
    writer.wait_for_more()
    writer.end()
    writer.check()


def test_agent_and_mount_killed(crash_round: int, pool: MountedPool, writer: Writer):
    pool.client.kill()
    pool.kill_mount()
    writer.process.wait()
    writer.end()
    pool.start_client()
    pool.mount()
    writer.check()


@pytest.mark.parametrize("server", SERVERS)
def test_server_killed(crash_round: int, server: str, pool: MountedPool, writer: Writer):
    pool.servers[server].kill()
    writer.wait_for_more()
    pool.servers[server].start()
    wait_for("a leader of the metadata", lambda: pool.leader() is not None)
    writer.wait_for_more()
    writer.end()
    writer.check()


def test_many_overwrites_are_cleaned(pool: MountedPool):
    """What a file of 8 MiB leaves behind that is overwritten again and again is bounded."""
    path = pool.mount_point / "again"
    content = bytes(8 << 20)
    with path.open("wb") as file:
        for _ in range(150):
            file.seek(0)
            file.write(content)
    held = [line.split() for line in pool.command("list", "orders", "/").splitlines()[1:]]
    segments = [words for words in held if words[0].startswith("segment-")]
    assert len(segments) < 20, held
    path.unlink()
