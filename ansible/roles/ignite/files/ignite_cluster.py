"""The cluster of Ignite of a run: settings of a node, and how processes become one that serves."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

NETWORK_PORT, CLIENT_PORT, REST_PORT = 3344, 10800, 10300
# The binding's own default.
PROFILE = "rocks"
START_TIMEOUT_SECONDS = 600.0
ANSWER_TIMEOUT_SECONDS = 5.0
CONFLICT = 409


class NoAnswer(Exception):
    """A node does not answer yet, or not with what was asked for."""


def configuration(address: str, members: list[str], partitions: Path, profile: dict) -> dict:
    """Settings of a node: tables and Raft logs in `partitions`, `profile` as Ignite has it."""
    return {
        "ignite": {
            "network": {
                "port": NETWORK_PORT,
                "listenAddresses": [address],
                "nodeFinder": {"netClusterNodes": [f"{m}:{NETWORK_PORT}" for m in members]},
            },
            "clientConnector": {"port": CLIENT_PORT, "listenAddresses": [address]},
            "rest": {"port": REST_PORT},
            "storage": {"profiles": [{"name": PROFILE, "engine": "rocksdb", **profile}]},
            "system": {"partitionsBasePath": str(partitions)},
        }
    }


def ask(address: str, path: str) -> object:
    """What a node answers by REST; None of one that does not serve yet."""
    # Not through a proxy: the nodes are on the test bed's own network.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        url = f"http://{address}:{REST_PORT}/management/v1/{path}"
        with opener.open(url, timeout=ANSWER_TIMEOUT_SECONDS) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code == CONFLICT:
            return None
        raise NoAnswer(f"{address} answers {error.code} at {path}") from error
    except (OSError, ValueError) as error:
        raise NoAnswer(f"{address}: {error}") from error


def wait(what: str, is_so: Callable[[], bool]) -> None:
    """Wait until it is so; an end of this program when that takes too long."""
    start, problem = time.monotonic(), "the nodes say that it is not"
    while True:
        try:
            if is_so():
                return
        except (NoAnswer, KeyError, TypeError) as error:
            problem = str(error)
        if time.monotonic() - start > START_TIMEOUT_SECONDS:
            raise SystemExit(f"{what}: {problem}; see journalctl --unit 'sluice-ignite-*' there")
        time.sleep(0.2)


def know_each_other(nodes: dict[str, str]) -> bool:
    """Whether each node reaches all of them."""
    found = [ask(address, "cluster/topology/physical") for address in nodes.values()]
    return all({node["name"] for node in known} >= set(nodes) for known in found)


def serves(address: str) -> bool:
    """Whether a node says so."""
    state = ask(address, "node/state")
    return state is not None and state["state"] == "STARTED"


def is_whole(address: str) -> bool:
    """Whether no partition lacks its replica or has one that is behind."""
    partitions = ask(address, "recovery/zone/state/global")["states"]
    return all(partition["state"] == "AVAILABLE" for partition in partitions)


def make_whole(nodes: dict[str, str], program: Path, user: str, is_new: bool) -> None:
    """Wait until all nodes serve, which run; a new cluster is made of them before."""
    first = next(iter(nodes.values()))
    wait("the nodes do not reach each other", lambda: know_each_other(nodes))
    if is_new:
        make(nodes, first, program, user)
    for name, address in nodes.items():
        wait(f"{name} does not serve", lambda address=address: serves(address))
    wait("partitions are not whole", lambda: is_whole(first))


def make(nodes: dict[str, str], first: str, program: Path, user: str) -> None:
    """Make a cluster, of which each node keeps the metadata."""
    keeping = [word for name in nodes for word in ("--metastorage-node", name)]
    argv = [program, "init", "--rest", f"{first}:{REST_PORT}", "--cluster", "evaluation", *keeping]
    argv += ["--timeout", str(round(START_TIMEOUT_SECONDS))]
    done = subprocess.run(
        [*map(str, argv)], user=user, group=user, extra_groups=[], cwd="/",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"{program} init ended with {done.returncode}: {done.stderr}")


def reported(address: str) -> dict[str, str]:
    """Settings of a node by their names, with dots between parts; passwords are not told."""
    found: dict[str, str] = {}

    def add(name: str, value: object) -> None:
        if isinstance(value, dict):
            for part, inner in value.items():
                add(f"{name}.{part}" if name else part, inner)
        else:
            found[name] = value if isinstance(value, str) else json.dumps(value)

    add("", ask(address, "configuration/node"))
    return found
