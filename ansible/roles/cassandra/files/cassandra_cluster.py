"""The cluster of Cassandra of a run: settings of a node, and when the nodes serve."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

STORAGE_PORT, CLIENT_PORT, MANAGEMENT_PORT = 7000, 9042, 7199
# Of Murmur3's tokens, from the least.
TOKENS_COUNT, LEAST_TOKEN = 2**64, -(2**63)
START_TIMEOUT_SECONDS = 600.0
ANSWER_TIMEOUT_SECONDS = 5.0
# A node's line of `nodetool status`: state and address.
NODE = re.compile(r"^([UD?][NLJMS]) +(\S+) ", re.M)


def configuration(node: str, nodes: dict[str, str], further: dict[str, str]) -> dict:
    """Settings of a node: one part of the ring for each node, all of one size, and `further`."""
    number = list(nodes).index(node)
    return {
        "cluster_name": "evaluation",
        "num_tokens": 1,
        "initial_token": str(LEAST_TOKEN + TOKENS_COUNT * number // len(nodes)),
        # All begin empty, or from what they had together.
        "auto_bootstrap": False,
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "endpoint_snitch": "SimpleSnitch",
        "seed_provider": [
            {
                "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters": [{"seeds": f"{next(iter(nodes.values()))}:{STORAGE_PORT}"}],
            }
        ],
        "listen_address": nodes[node],
        "rpc_address": nodes[node],
        "storage_port": STORAGE_PORT,
        "native_transport_port": CLIENT_PORT,
        "commitlog_sync": "periodic",
        "commitlog_sync_period": "10s",
        "storage_compatibility_mode": "NONE",
        # Tables that are dropped between runs leave nothing behind.
        "auto_snapshot": False,
        **{name: plain(value) for name, value in further.items()},
    }


def plain(value: str) -> object:
    """A setting of a plan as JSON has it; what is none, as `16MiB/s`, is text."""
    try:
        return json.loads(value)
    except (ValueError, TypeError):
        return value


def wait(what: str, is_so: Callable[[], bool]) -> None:
    """Wait until it is so; an end of this program when that takes too long."""
    start = time.monotonic()
    while not is_so():
        if time.monotonic() - start > START_TIMEOUT_SECONDS:
            raise SystemExit(f"{what}; see journalctl --unit 'sluice-cassandra-*' there")
        time.sleep(0.2)


def serves(address: str) -> bool:
    """Whether a node takes clients."""
    try:
        with socket.create_connection((address, CLIENT_PORT), timeout=ANSWER_TIMEOUT_SECONDS):
            return True
    except OSError:
        return False


def run(program: Path, configuration_folder: Path, *words: str) -> str:
    """What a command of Cassandra prints; an error ends this program."""
    command = [str(program), "--config", str(configuration_folder), *words]
    environment = os.environ | {"CASSANDRA_JMX_PORT": str(MANAGEMENT_PORT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def is_whole(status: str, nodes: dict[str, str]) -> bool:
    """Whether a node sees all nodes up and normal."""
    normal = {address for state, address in NODE.findall(status) if state == "UN"}
    return normal >= {socket.gethostbyname(name) for name in nodes.values()}


def make_whole(nodes: dict[str, str], program: Path, configuration_folder: Path) -> None:
    """Wait until all nodes serve, and this one sees all of them."""
    for name, address in nodes.items():
        wait(f"{name} does not serve", lambda address=address: serves(address))
    wait(
        "a node is not seen by the last one that was started",
        lambda: is_whole(run(program, configuration_folder, "nodetool", "status"), nodes),
    )


def reported(address: str, program: Path, configuration_folder: Path) -> dict[str, str]:
    """Settings as a node tells them."""
    query = "SELECT name, value FROM system_views.settings"
    told = run(program, configuration_folder, "cql", "--address", address, query)
    lines = (line.partition("\t") for line in told.splitlines())
    return {name: value for name, tab, value in lines if tab}
