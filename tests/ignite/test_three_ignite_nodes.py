"""Three nodes of Ignite on the patched RocksDB, of which any one may be lost."""

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ignite_node import LONGEST_WAIT_SECONDS, POLL_SECONDS, IgniteNode, start_cluster

Preloaded = Callable[[str], dict[str, str]]
MakeNodes = Callable[[int], list[IgniteNode]]

PARTITIONS = 4
TABLE = (
    f"CREATE ZONE orders (PARTITIONS {PARTITIONS}, REPLICAS 3) STORAGE PROFILES ['rocks']",
    "CREATE TABLE orders (name VARCHAR PRIMARY KEY, amount INT) ZONE orders",
)
AMOUNTS = "SELECT amount FROM orders"
LAST = 1500
SEEN_BEFORE_THE_KILL = 200


class Writer:
    """Inserts a row for each number up to LAST, one after the other, through one node."""

    def __init__(self, node: IgniteNode, folder: Path) -> None:
        self.node = node
        self.said = folder / "said"
        self.errors: list[str] = []
        self._before: set[int] = set()
        self.process = self._begin(1)

    def acknowledged(self) -> set[int]:
        """Numbers whose rows are in the database: each was said after its insert had ended."""
        whole_lines = self.said.read_text().rpartition("\n")[0].splitlines()
        return self._before | {int(line) for line in whole_lines}

    def wait_for(self, count: int) -> None:
        """Wait until COUNT rows are acknowledged."""
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while len(self.acknowledged()) < count:
            assert self.process.poll() is None, self.process.communicate()[1]
            assert time.monotonic() < deadline, f"{len(self.acknowledged())} rows in time"
            time.sleep(POLL_SECONDS)

    def finish(self) -> set[int]:
        """Write the rest; what fails is given up, and the next number tried, as a client does."""
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while self.process.wait(LONGEST_WAIT_SECONDS):
            self.errors.append(self.process.communicate()[1])
            assert time.monotonic() < deadline, "\n".join(self.errors)
            self._before = self.acknowledged()
            # The row of the number that failed may be there or not.
            self.process = self._begin(max(self._before) + 1 + len(self.errors))
        return self.acknowledged()

    def stop(self) -> None:
        """End it; what it has sent may still be done."""
        self.process.kill()
        self.process.communicate()

    def _begin(self, first: int) -> subprocess.Popen:
        statements = []
        for number in range(first, LAST + 1):
            statements += [f"INSERT INTO orders VALUES ('order {number}', {number})"]
            statements += [f"SELECT {number}"]
        return self.node.start_sql(self.said, *statements)


@pytest.fixture
def nodes(make_nodes: MakeNodes, preloaded: Preloaded) -> list[IgniteNode]:
    """A cluster of three, with a table that each of them has."""
    made = make_nodes(3)
    for node in made:
        node.environment = preloaded(node.name)
    start_cluster(made)
    made[0].sql(*TABLE)
    for node in made:
        wait_for_replicas(node)
    return made


@pytest.fixture
def writer(nodes: list[IgniteNode], tmp_path: Path) -> Iterator[Writer]:
    begun = Writer(nodes[0], tmp_path)
    yield begun
    begun.stop()


def wait_for_replicas(node: IgniteNode) -> None:
    """Wait until NODE has all partitions of the table, and is not behind with any."""
    whole = ["HEALTHY"] * PARTITIONS
    node.wait_until(lambda: node.replicas("ORDERS"), lambda states: states == whole)


def amounts(node: IgniteNode) -> set[int]:
    """What the table has, read through NODE."""
    return {int(amount) for (amount,) in node.sql(AMOUNTS)}


def test_rows_outlive_the_loss_of_any_node(
    nodes: list[IgniteNode], writer: Writer, sockets: Path
) -> None:
    first, second, third = nodes
    found = {socket.name for socket in (sockets / "rocksdb").glob("*.sock")}
    assert found == {"n1.sock", "n2.sock", "n3.sock"}
    writer.wait_for(SEEN_BEFORE_THE_KILL)
    acknowledged = writer.acknowledged()
    assert acknowledged <= amounts(third)

    third.kill()
    assert LAST not in writer.acknowledged(), "it came too late; write more rows"
    acknowledged = writer.finish()
    assert LAST in acknowledged
    assert acknowledged <= amounts(second)

    third.start()
    third.wait_for("STARTED")
    wait_for_replicas(third)
    assert acknowledged <= amounts(third)
    assert all(line.endswith("OK): OK") for line in third.override_lines().values())

    # What the third has is not in doubt once it is half of those that are left.
    second.kill()
    assert acknowledged <= amounts(third)
    third.sql(f"INSERT INTO orders VALUES ('the last', {LAST + 1})")
    assert acknowledged | {LAST + 1} <= amounts(first)
