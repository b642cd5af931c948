"""Processes: started, stopped, killed and started again, with what they say."""

import os
import socket
import sys

import pytest
from daemons import Daemon, free_ports

SERVES = "import time; print('serves', flush=True); time.sleep(600)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SERVES
ENDS = "raise SystemExit('no data')"


@pytest.fixture
def daemon(tmp_path):
    made = []

    def make(program: str) -> Daemon:
        made.append(
            Daemon("server", [sys.executable, "-c", program], os.environ, tmp_path / "server.log")
        )
        return made[-1]

    yield make
    for each in made:
        each.kill()


def test_it_starts_again_after_its_end(daemon):
    server = daemon(SERVES)
    assert not server.running
    for end in (server.kill, server.stop):
        server.start()
        server.wait_for("serves")
        assert server.running
        with pytest.raises(RuntimeError, match="runs already"):
            server.start()
        end()
        assert not server.running
    assert server.log.read_text() == "serves\n" * 2


def test_what_was_said_before_the_last_start_does_not_count(daemon):
    server = daemon(ENDS)
    server.log.write_text("serves\n")
    server.start()
    with pytest.raises(RuntimeError, match=r"has ended\s+serves\s+no data"):
        server.wait_for("serves")


def test_one_that_is_frozen_stops_all_the_same(daemon):
    server = daemon(SERVES)
    server.start()
    server.wait_for("serves")
    server.freeze()
    server.stop()
    assert not server.running


def test_one_that_does_not_stop_is_killed_and_told_of(daemon):
    server = daemon(DEAF)
    server.start()
    server.wait_for("serves")
    with pytest.raises(TimeoutError, match="did not stop"):
        server.stop(timeout_seconds=0.1)
    assert not server.running


def test_ends_are_idempotent(daemon):
    server = daemon(SERVES)
    server.kill()
    server.stop()
    with pytest.raises(RuntimeError, match="has not been started"):
        server.pid  # noqa: B018


def test_ports_are_free_and_different():
    ports = free_ports(20)
    assert len(set(ports)) == 20
    for port in ports:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
