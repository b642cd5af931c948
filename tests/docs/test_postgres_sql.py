"""Every SQL block of the documentation is executed by a real server with the extension.

Each block has a database of its own, with the extension unless the block makes it. Roles and orders
belong to the server: orders are cleared behind each block.
"""

import subprocess

import pytest
from cluster import SLUICE_SETTINGS, staged_prefix, temporary_cluster
from pages import of_kind


@pytest.fixture(scope="module")
def server():
    prefix = staged_prefix("17.11", "patched", testing=True)
    with temporary_cluster(prefix, SLUICE_SETTINGS) as cluster:
        yield cluster


@pytest.fixture
def database(server):
    with server.connect() as session:
        session.execute("CREATE DATABASE documented")
        yield "documented"
        session.execute("DROP DATABASE documented WITH (FORCE)")


def psql(server, database: str, statements: str) -> subprocess.CompletedProcess:
    options = ["--no-psqlrc", "--set=ON_ERROR_STOP=1", "--echo-errors", f"--dbname={database}"]
    return server.run("psql", *options, input=statements)


@pytest.mark.parametrize("block", [b for b in of_kind("server") if "postgres" in b.values[0].names])
def test_sql_block_runs(block, server, database):
    try:
        if "CREATE EXTENSION" not in block.commands:
            psql(server, database, "CREATE EXTENSION sluice")
        psql(server, database, block.commands)
        psql(server, database, "SELECT sluice.clear_leases(owner) FROM sluice.leases")
    except subprocess.CalledProcessError as error:
        pytest.fail(f"{block.where}: {error.stderr}", pytrace=False)
