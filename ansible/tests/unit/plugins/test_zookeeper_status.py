"""The module zookeeper_status, against servers on a real socket."""

import socket
import threading
from contextlib import contextmanager

import pytest
from ansible_collections.sluice.stores.plugins.module_utils import zookeeper_words
from ansible_collections.sluice.stores.plugins.modules import zookeeper_status

LEADER = (
    "zk_version\t3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC\n"
    "zk_server_state\tleader\nzk_synced_followers\t2.0\n"
)
FOLLOWER = "zk_version\t3.8.4\nzk_server_state\tfollower\n"
NO_QUORUM = "This ZooKeeper instance is not currently serving requests\n"


@contextmanager
def server(answer: bytes):
    """Answers one connection, in parts, after it has read the word."""
    words = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            connection, _ = listening.accept()
            with connection:
                words.append(connection.recv(4))
                half = len(answer) // 2
                connection.sendall(answer[:half])
                connection.sendall(answer[half:])

        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1], words
        thread.join()


def test_a_leader_with_its_followers():
    with server(LEADER.encode()) as (port, words):
        found = zookeeper_status.status("127.0.0.1", port)
    assert words == [b"mntr"]
    assert found.pop("version").startswith("3.8.4-")
    assert found == {"available": True, "mode": "leader", "synced_followers": 2}


def test_a_follower_has_none():
    with server(FOLLOWER.encode()) as (port, _):
        found = zookeeper_status.status("127.0.0.1", port)
    assert found["mode"] == "follower" and found["synced_followers"] == 0


@pytest.mark.parametrize("answer", [NO_QUORUM, "", "mntr is not executed because it is not listed"])
def test_a_server_without_a_quorum_is_not_available(answer):
    with server(answer.encode()) as (port, _):
        found = zookeeper_status.status("127.0.0.1", port)
    assert found["available"] is False
    assert (answer.strip() or "empty") in found["problem"]


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    found = zookeeper_status.status("127.0.0.1", port)
    assert found["available"] is False and str(port) in found["problem"]


def test_an_answer_that_does_not_end_is_cut():
    endless = b"zk_server_state\tleader\n" + b"x" * (4 * zookeeper_words.MAXIMUM_ANSWER_BYTES)
    with server(endless[: zookeeper_words.MAXIMUM_ANSWER_BYTES + 1]) as (port, _):
        answer = zookeeper_words.ask("127.0.0.1", port, "mntr")
    assert len(answer) <= zookeeper_words.MAXIMUM_ANSWER_BYTES + 4096
