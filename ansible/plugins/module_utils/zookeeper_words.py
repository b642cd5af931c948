"""ZooKeeper's four-letter words: asking a server how it is, without a client library."""

from __future__ import annotations

import socket

TIMEOUT_SECONDS = 5.0
MAXIMUM_ANSWER_BYTES = 64 * 1024


class NoAnswer(Exception):
    """The server cannot be reached, or does not serve."""


def ask(address: str, port: int, word: str) -> str:
    """The answer of a server to one word."""
    try:
        with socket.create_connection((address, port), TIMEOUT_SECONDS) as connection:
            connection.sendall(word.encode("ascii"))
            return _read(connection)
    except OSError as error:
        raise NoAnswer(f"{address}:{port} does not answer: {error}") from error


def _read(connection: socket.socket) -> str:
    answer = b""
    while len(answer) < MAXIMUM_ANSWER_BYTES:
        part = connection.recv(4096)
        if not part:
            break
        answer += part
    return answer.decode("utf-8", "replace")


def figures(answer: str) -> dict[str, str]:
    """The figures of an answer to `mntr`, by name."""
    if "zk_server_state" not in answer:
        raise NoAnswer(f"the server does not serve: {answer.strip() or 'an empty answer'}")
    pairs = [line.split("\t", 1) for line in answer.splitlines() if "\t" in line]
    return {name.strip(): value.strip() for name, value in pairs}


def summary(by_name: dict[str, str]) -> dict:
    """What a rolling restart has to know of a server."""
    return {
        "mode": by_name["zk_server_state"],
        "version": by_name.get("zk_version", ""),
        "synced_followers": _whole(by_name, "zk_synced_followers"),
    }


def _whole(by_name: dict[str, str], name: str) -> int:
    # ZooKeeper writes some counts as 2.0.
    return int(float(by_name.get(name, "0")))
