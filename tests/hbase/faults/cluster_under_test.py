"""A cluster that is hurt and mends: its list, its plug-ins, and what must hold afterwards."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable

from cluster_protocols import AnyCluster, AnyControlPlane
from hbase_commands import CommandError, HBaseCommands
from linked_list import FAMILY, TABLE, DamageError, LinkedList
from one_node import Layout
from sluice_evaluation.bench.waiting import wait_until
from store_view import LEASE_SECONDS, WAIT_SECONDS, StoreView, region_of

LAYOUT = Layout(
    region_servers=2,
    # One more than there are copies: what a killed DataNode had of a block that was recovered
    # without it is in the way of a new copy there (docs/hdfs.md).
    datanodes=3,
    site={
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
REPLICA = re.compile(r"DatanodeInfoWithStorage\[([^],]+),")
LOGGED_CHARACTERS = 300
FILES_BEAN = "Hadoop:service=NameNode,name=FSNamesystemState"
STATE_BEAN = "Hadoop:service=NameNode,name=NameNodeStatus"
SAFE_MODE_BEAN = "Hadoop:service=NameNode,name=NameNodeInfo"
# A slowed compaction of the least region goes on for longer than a command of HDFS takes.
SLOW_BYTES_PER_SECOND = 10_000


class ClusterUnderTest:
    """Everything that a fault needs; orders and questions go to the store's own plug-ins."""

    def __init__(
        self,
        node: AnyCluster,
        commands: HBaseCommands,
        control_plane: Callable[[], AnyControlPlane],
    ):
        self.node = node
        self.commands = commands
        self.list = LinkedList(node)
        self.store = StoreView(node)
        self.control_plane = control_plane
        self._balancer_before = "on"

    def prepare(self) -> None:
        """Make the table, anew if it is there. Regions stay where faults put them."""
        self.mend()
        self.end_own_orders()
        self._balancer_before = self.commands.run("balancer", "off").strip()
        self.list.drop(self.commands)
        self.list.create(self.commands)

    def leave(self) -> None:
        """Leave it as it was found; not after damage, which somebody will want to look at."""
        self.list.drop(self.commands)
        self.commands.run("balancer", self._balancer_before)

    # States

    def server_with_files(self) -> str:
        """A region server that has something of the table to compact."""
        server = self.store.wait_for_host()
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
        self.store.set(server, "rate_bytes_per_second", SLOW_BYTES_PER_SECOND)
        self.store.start_when_possible(server)
        task = self.store.wait_for_task(
            server, "running", lambda task: task["throttled_seconds"] > 0
        )
        return server, task

    def datanode_read_by(self, task: dict) -> str:
        """The DataNode that has most of the blocks that a compaction reads, by fsck."""
        store = f"/hbase/data/default/{TABLE}/{region_of(task)}/{FAMILY}"
        report = self.node.hdfs("fsck", store, "-files", "-blocks", "-locations", check=False)
        names = self.node.datanodes()
        places = REPLICA.findall(report)
        found = Counter(names[place] for place in places if place in names)
        assert found, f"of {sorted(names)} none is a place of {store}:\n{report}"
        return found.most_common(1)[0][0]

    def namenode_states(self) -> dict[str, str]:
        """How each NameNode is: active, standby, starting, or down when it does not answer."""
        names = [name for name in self.node.daemons if name.startswith("namenode")]
        return {name: self._namenode_state(name) for name in names}

    def _namenode_state(self, name: str) -> str:
        with contextlib.suppress(OSError, LookupError, ValueError):
            state = self.node.jmx(name, STATE_BEAN)["State"]
            # It could take over, and would then keep clients waiting until it knows its blocks.
            starts = state == "standby" and self.node.jmx(name, SAFE_MODE_BEAN)["Safemode"]
            return "starting" if starts else state
        return "down"

    def active_namenode(self) -> str:
        """The NameNode that serves, as soon as one does."""
        found: list[str] = []

        def there() -> bool:
            states = self.namenode_states()
            found[:] = [name for name, state in states.items() if state == "active"]
            return bool(found)

        wait_until(there, "an active NameNode", 0.5, timeout_seconds=WAIT_SECONDS)
        return found[0]

    def wait_for_standby(self) -> None:
        """Wait until there is a NameNode that can take over from the active one."""
        wait_until(
            lambda: sorted(self.namenode_states().values()) == ["active", "standby"],
            "an active NameNode and one that stands by",
            interval_seconds=0.5,
            timeout_seconds=WAIT_SECONDS,
        )

    def live_servers(self) -> list[str]:
        """Region servers by the names that tell when each was started."""
        return sorted(row["server"] for row in self.commands.json("status")["live_servers"])

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
        """Start whatever has ended until all serves.

        Units (Restart=on-failure) do that by themselves, but for what a fault has taken away.
        """
        wait_until(
            self._started_and_serves,
            "a cluster that serves again",
            interval_seconds=0.5,
            timeout_seconds=WAIT_SECONDS,
        )

    def _started_and_serves(self) -> bool:
        ended = self.node.ended()
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
        bean = self.node.jmx(self.active_namenode(), FILES_BEAN)
        return not (bean["UnderReplicatedBlocks"] or bean["PendingReconstructionBlocks"])

    def _missing_replicas(self) -> str:
        """What HDFS says of blocks without all replicas, and what has been logged of them."""
        words = ("fsck", "/", "-files", "-blocks", "-replicaDetails")
        lines = self.node.hdfs(*words, check=False).splitlines()
        told = [line for line in lines if "Under replicated" in line or "Live_repl=1" in line]
        logged = self.node.lines_with(sorted(set(BLOCK.findall("\n".join(told)))))
        return "\n".join([*told, *(line[:LOGGED_CHARACTERS] for line in logged)])

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
