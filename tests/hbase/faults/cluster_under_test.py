"""A cluster that is hurt and mends: its list, its plug-ins, and what must hold afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from control_plane import ControlPlane
from hbase_commands import CommandError, HBaseCommands
from linked_list import TABLE, DamageError, LinkedList
from one_node import Layout, OneNode
from sluice_evaluation.bench.waiting import wait_until
from store_view import LEASE_SECONDS, WAIT_SECONDS, StoreView

LAYOUT = Layout(
    region_servers=2,
    # One more than there are copies: what a killed DataNode had of a block that was recovered
    # without it is in the way of a new copy there (docs/hdfs.md).
    datanodes=3,
    site={
        # The writes beside a hold bring no store near it: leases end for the fault alone.
        "hbase.hstore.blockingStoreFiles": "100",
        # Regions that were split or merged can be so again in the next round.
        "hbase.catalogjanitor.interval": "5000",
        "hbase.hfile.compaction.discharger.interval": "5000",
        "sluice.max.time.to.live.seconds": LEASE_SECONDS,
    },
    hdfs_site={
        "dfs.replication": "2",
        # How long a copy that a DataNode was asked for may take before another one is asked.
        "dfs.namenode.reconstruction.pending.timeout-sec": "10",
        # Clients wait for a NameNode that comes back, and for the end of its safe mode.
        "dfs.client.retry.policy.enabled": "true",
        "dfs.client.retry.policy.spec": "500,240",
    },
)
BLOCK = re.compile(r"blk_\d+")
LOGGED_CHARACTERS = 300
FILES_BEAN = "Hadoop:service=NameNode,name=FSNamesystemState"


class ClusterUnderTest:
    """Everything that a fault needs; orders and questions go to the store's own plug-ins."""

    def __init__(self, node: OneNode, commands: HBaseCommands, control_program: Callable[[], Path]):
        self.node = node
        self.commands = commands
        self.list = LinkedList(node)
        self.store = StoreView(node)
        self._control_program = control_program
        self._control_planes = 0

    def prepare(self) -> None:
        """Make the table. Regions stay where faults put them."""
        self.commands.run("balancer", "off")
        self.list.create(self.commands)

    def control_plane(self) -> ControlPlane:
        """A new agent and controller, not started."""
        self._control_planes += 1
        folder = self.node.folder / f"control{self._control_planes}"
        return ControlPlane(self._control_program(), folder, self.node.folder / "run")

    # States

    def server_with_files(self) -> str:
        """A region server that has something of the table to compact."""
        wait_until(
            self.store.hosting,
            "a region server with regions of the table",
            timeout_seconds=WAIT_SECONDS,
        )
        server = self.store.hosting()[0]
        self.store.flush(server)
        return server

    def hold(self) -> tuple[str, dict]:
        """Hold a compaction; returns its server and its task."""
        server = self.server_with_files()
        self.store.set(server, "hold")
        self.store.start_when_possible(server)
        return server, self.store.wait_for_task(server, "held")

    def defer(self) -> tuple[str, dict]:
        """Put a compaction off, which no order has started; returns its server and its task."""
        server = self.server_with_files()
        self.store.set(server, "defer_until_debt_bytes", 1e15)
        self.commands.run("compact", TABLE, "--major")
        return server, self.store.wait_for_task(server, "deferred")

    def throttle(self) -> tuple[str, dict]:
        """Slow a compaction down; returns its server and its task once it has had to wait."""
        server = self.server_with_files()
        self.store.set(server, "rate_bytes_per_second", 100_000)
        self.store.start_when_possible(server)
        task = self.store.wait_for_task(
            server, "running", lambda task: task["throttled_seconds"] > 0
        )
        return server, task

    def regions(self) -> list[dict]:
        """Regions of the table in the order of their keys."""
        rows = self.commands.json("regions", "--table", TABLE)
        return sorted(rows, key=lambda row: binary(row["first_row"]))

    def order_of_regions(self, *words: str) -> None:
        """Give an order to the master as soon as it takes it.

        A region that was split or merged is cleaned up in the background, and refuses until then.
        """
        problem = [""]

        def taken() -> bool:
            try:
                self.commands.run(*words)
            except CommandError as error:
                problem[0] = str(error)
                return False
            return True

        try:
            wait_until(taken, " ".join(words), interval_seconds=1, timeout_seconds=WAIT_SECONDS)
        except TimeoutError as error:
            error.add_note(problem[0])
            raise

    # Mending

    def mend(self) -> None:
        """Start whatever has ended, as the units do (Restart=on-failure), until all serves."""
        wait_until(
            self._started_and_serves,
            "a cluster that serves again",
            interval_seconds=0.5,
            timeout_seconds=WAIT_SECONDS,
        )

    def _started_and_serves(self) -> bool:
        ended = [daemon for daemon in self.node.daemons.values() if not daemon.running]
        for daemon in ended:
            daemon.start()
        return not ended and all(map(self.store.answers, self.store.servers)) and self._serves()

    def _serves(self) -> bool:
        try:
            status = self.commands.json("status")
        except CommandError:
            return False
        live = len(status["live_servers"])
        return live == len(self.store.servers) and not status["regions_in_transition"]

    # What must hold afterwards

    def require_no_leases(self) -> None:
        """AssertionError when a server has a lease."""
        leases = {server: self.store.leases(server) for server in self.store.servers}
        assert not any(leases.values()), leases

    def end_own_orders(self) -> None:
        """End what the test has ordered."""
        for server in self.store.servers:
            self.store.clear(server)

    def compact_all(self) -> None:
        """Have every region compacted to one file: nothing is held up any more."""
        for done, what in (
            (self._flushed, "nothing in memory"),
            (self._compacted, "one file for each region"),
        ):
            wait_until(done, what, interval_seconds=0.5, timeout_seconds=WAIT_SECONDS)

    def _flushed(self) -> bool:
        # A server that was killed can have come back without a region of the table.
        hosting = self.store.hosting()
        return bool(hosting) and not any(map(self.store.flush, hosting))

    def _compacted(self) -> bool:
        for server in self.store.hosting():
            if self.store.tasks(server):
                return False
            if self.store.files_to_merge(server):
                self.store.start(server)
                return False
        return True

    def require_sound_files(self) -> None:
        """DamageError unless HDFS finds every block of HBase's files, in all its replicas."""
        try:
            wait_until(
                self._all_replicas,
                "all replicas of all blocks",
                interval_seconds=0.5,
                timeout_seconds=WAIT_SECONDS,
            )
        except TimeoutError as error:
            error.add_note(self._missing_replicas())
            raise
        report = self.node.hdfs("fsck", "/hbase", check=False)
        if "is HEALTHY" not in report:
            raise DamageError(f"fsck says:\n{report}")

    def _all_replicas(self) -> bool:
        bean = self.node.jmx("namenode", FILES_BEAN)
        return not (bean["UnderReplicatedBlocks"] or bean["PendingReconstructionBlocks"])

    def _missing_replicas(self) -> str:
        """What HDFS says of blocks without all replicas, and what has been logged of them."""
        words = ("fsck", "/", "-files", "-blocks", "-replicaDetails")
        lines = self.node.hdfs(*words, check=False).splitlines()
        told = [line for line in lines if "Under replicated" in line or "Live_repl=1" in line]
        for block in sorted(set(BLOCK.findall("\n".join(told)))):
            told += [
                line[:LOGGED_CHARACTERS]
                for log in sorted(self.node.folder.glob("log/*"))
                for line in log.read_text(errors="replace").splitlines()
                if block in line
            ]
        return "\n".join(told)

    def check(self) -> None:
        """All of that, once the list is closed; an error says what is wrong."""
        self.end_own_orders()
        self.require_no_leases()
        self.compact_all()
        self.list.verify()
        self.require_sound_files()


def binary(text: str) -> bytes:
    r"""The bytes of a key as HBase prints it, with \xHH for what is not printable."""
    return text.encode("latin-1").decode("unicode_escape").encode("latin-1")
