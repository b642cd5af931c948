"""What must be true of a server's data after any crash."""

from __future__ import annotations

import subprocess
from collections import Counter

import psycopg
from powered_server import CLIENTS, PoweredServer

SUMS = """
SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history)
   AND (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(delta) FROM pgbench_history)
   AND (SELECT sum(bbalance) FROM pgbench_branches) = (SELECT sum(delta) FROM pgbench_history)
"""
COMMITTED = "SELECT trim(filler)::int, count(*) FROM pgbench_history GROUP BY 1"


class DamageError(Exception):
    """Data was lost or is inconsistent; the text says which."""


def start(server: PoweredServer) -> str:
    """Start the server and return what it said of its recovery; DamageError when it cannot."""
    before = len(server.said())
    try:
        server.start()
    except subprocess.CalledProcessError as error:
        raise DamageError(f"the server does not start:\n{server.said()[before:]}") from error
    return server.said()[before:]


def check_commits(server: PoweredServer, acknowledged: Counter[int]) -> None:
    """DamageError unless each client finds what it was told, and at most one commit beyond that."""
    with server.connect() as session:
        found = Counter(dict(session.execute(COMMITTED).fetchall()))
    for client in range(CLIENTS):
        told, there = acknowledged[client], found[client]
        if not told <= there <= told + 1:
            raise DamageError(f"client {client} was told of {told} commits, {there} are there")


def check_content(server: PoweredServer) -> None:
    """DamageError unless sums, indexes and, after a stop, checksums agree; leaves it stopped."""
    if server.value("SELECT count(*) FROM sluice.leases"):
        raise DamageError("a lease has outlived the crash")
    if not server.value(SUMS):
        raise DamageError("the sums disagree")
    server.run("pg_amcheck", "--heapallindexed", "--parent-check", "postgres")
    server.stop()
    server.run("pg_checksums", "-c", "-D", server.data)


def check(server: PoweredServer, acknowledged: Counter[int]) -> None:
    """All checks of a server that has recovered; DamageError says what is wrong."""
    try:
        check_commits(server, acknowledged)
        check_content(server)
    except subprocess.CalledProcessError as error:
        raise DamageError(f"{error}\n{error.stdout}{error.stderr}") from error
    except psycopg.Error as error:
        raise DamageError(f"the data cannot be read: {error}") from error
