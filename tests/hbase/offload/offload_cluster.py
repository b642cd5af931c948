"""A cluster whose compactions a peer does, and a table of which every row is known."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
from collections.abc import Iterator
from pathlib import Path

from agents import wait_for
from hbase_commands import CommandError, HBaseCommands
from hdfs_files import HdfsFiles
from offload_nodes import OffloadNodes, Worker
from one_node import Layout, OneNode
from sluice_evaluation.bench.plugin_socket import PluginSocket

TABLE, FAMILY, COLUMN = "offloaded", "f", "f:v"
FOLDER = f"/hbase/data/default/{TABLE}"
# A worker takes a second or so to write them again: long enough to be caught at it.
FIRST_ROWS, VALUE_CHARACTERS = 1500, 8192
DONE = "compaction_offload_done_total"
LOCAL = "compaction_offload_local_"


class DamageError(Exception):
    """Rows are not as they were written."""


def layout(socket: Path) -> Layout:
    """Two region servers, so that a region can go to another one."""
    quick = "-XX:TieredStopAtLevel=1"
    kinds = ("zookeeper", "namenode", "datanode", "master", "regionserver")
    return Layout(
        region_servers=2,
        heaps={"regionserver": "512m"},
        java_options=dict.fromkeys(kinds, quick),
        site={
            "hbase.hstore.defaultengine.compactor.class": (
                "dev.sluice.hbase.offload.OffloadingCompactor"
            ),
            "sluice.compaction.offload.socket": str(socket),
            # Compactions are those that the test orders.
            "hbase.hstore.compaction.min": "1000",
            "hbase.hstore.blockingStoreFiles": "1000",
            "hbase.hfile.compaction.discharger.interval": "5000",
        },
        # What a worker writes has many blocks, each of which needs room of its own.
        hdfs_site={"dfs.blocksize": "1048576"},
    )


class OffloadCluster:
    """Everything that a fault needs."""

    def __init__(
        self,
        node: OneNode,
        commands: HBaseCommands,
        files: HdfsFiles,
        nodes: OffloadNodes,
        wall_clock: Path,
    ):
        self.node = node
        self.commands = commands
        self.files = files
        self.nodes = nodes
        self._wall_clock = wall_clock
        self._rows: dict[str, str] = {}
        self._numbers = itertools.count()

    def prepare(self) -> None:
        """Make the table, with one region of some MB."""
        self.commands.run("balancer", "off")
        self.commands.run("create", TABLE, "--family", FAMILY)
        value = "x" * VALUE_CHARACTERS
        self._rows = {f"first-{number:06d}": value for number in range(FIRST_ROWS)}
        lines = "".join(f"{row}\t{COLUMN}\t{value}\n" for row in self._rows)
        self.node.hbase("put", TABLE, "--stdin", input=lines)
        self.commands.run("flush", TABLE)

    # What is known of it

    def _served(self) -> list[dict]:
        """The region and its server; nothing while it is on its way."""
        return self.commands.json("regions", "--table", TABLE)

    def server(self) -> str:
        """The name of the daemon that serves the region; empty while it is on its way."""
        names = self.node.layout.region_server_names()
        ports = {str(self.node.ports[name]): name for name in names}
        found = [ports[region["server"].split(",")[1]] for region in self._served()]
        return "".join(found)

    def region(self) -> str:
        [region] = self._served()
        return region["region"]

    def figures(self) -> dict[str, float]:
        """What the plug-in of the region's server has counted since its start."""
        with PluginSocket(self.node.socket(self.server())) as plugin:
            return plugin.snapshot()["figures"]

    def locals(self) -> dict[str, float]:
        """How many compactions were left to the server, by reason."""
        return {n: v for n, v in self.figures().items() if n.startswith(LOCAL)}

    # Compactions

    def order(self) -> None:
        """Write another file, order a compaction of all of them, and wait until it has begun."""
        number = next(self._numbers)
        added, gone = f"further-{number:06d}", f"first-{number:06d}"
        self.commands.run("put", TABLE, added, COLUMN, str(number))
        self.commands.run("delete", TABLE, gone)
        self._rows[added] = str(number)
        del self._rows[gone]
        self.commands.run("flush", TABLE)
        before = self._ended()
        self.commands.run("compact", TABLE, "--major")
        wait_for("the begin", lambda: self.is_compacting() or self._ended() > before)

    def _ended(self) -> float:
        """How many compactions the server has counted."""
        return self.figures()[DONE] + sum(self.locals().values())

    def is_compacting(self) -> bool:
        return self.commands.run("compaction-state", TABLE).strip() != "none"

    def stop_worker_in_job(self) -> Worker:
        """Order compactions until a worker is in the middle of one, and have it stand still."""
        caught: list[Worker] = []
        self.order()

        def is_caught() -> bool:
            caught.extend(filter(_stop_while_writing, self.nodes.workers()))
            if not caught and not self.nodes.workers() and not self.is_compacting():
                self.order()
            return bool(caught)

        wait_for("a worker in the middle of a job", is_caught)
        return caught[0]

    @contextlib.contextmanager
    def left_to_server(self, reason: str) -> Iterator[None]:
        """Wait, in the end, until one more compaction was left to the server for this reason."""
        name = f"{LOCAL}{reason.replace('-', '_')}_total"
        before = self.figures().get(name, 0)
        yield
        wait_for(f"another of {name}", lambda: self.figures().get(name, 0) > before)

    def leave_to_server(self, reason: str) -> None:
        """Order a compaction that is left to the server for this reason."""
        wait_for("the end of compactions", lambda: not self.is_compacting())
        with self.left_to_server(reason):
            self.order()

    def have_done_by_peer(self) -> None:
        """Order compactions until the peer has done one: one that was lost gets none at first."""
        before = self.figures()[DONE]

        def is_done() -> bool:
            if not self.is_compacting() and self.figures()[DONE] == before:
                self.order()
            return self.figures()[DONE] > before

        wait_for("a compaction by the peer", is_done)

    def set_wall_clock(self, pid: int, ahead_seconds: int) -> None:
        """Put a process's clock ahead of the machine's; the process goes on if it was stopped."""
        subprocess.run([str(self._wall_clock), str(pid), str(ahead_seconds)], check=True)

    # What must hold afterwards

    def jobs_left(self) -> list[str]:
        """Folders of jobs, and files beside them that no compaction will take."""
        return self.files.list(f"{FOLDER}/*/.tmp/.sluice-compaction-*") + self.files.list(
            f"{FOLDER}/*/.tmp/*/*"
        )

    def wait_for_nothing_left(self) -> None:
        wait_for(
            "the end of what jobs have left",
            lambda: not (self.nodes.left() or self.nodes.processes() or self.jobs_left()),
        )

    def check_rows(self) -> None:
        """DamageError when a row is not as it was written, or one is there that was deleted."""
        lines = self.commands.run("scan", TABLE).splitlines()
        found = {row: value for row, _, value in (line.split("\t") for line in lines)}
        wrong = [row for row in found.keys() | self._rows if found.get(row) != self._rows.get(row)]
        if wrong:
            raise DamageError(f"of {len(self._rows)} rows {len(wrong)} wrong: {sorted(wrong)[:5]}")

    def check(self) -> None:
        """Check rows, files, and that no job has left anything."""
        wait_for("the end of compactions", lambda: not self.is_compacting())
        self.wait_for_nothing_left()
        wait_for("one file", lambda: len(self.files.list(f"{FOLDER}/*/{FAMILY}/*")) == 1)
        self.check_rows()

    def log_ends(self, lines: int) -> str:
        """The last lines of each log, of daemons and agents."""
        logs = sorted((self.node.folder / "agents").glob("*/agent.log"))
        ends = (f"== {log.parent.name}\n" + tail(log, lines) for log in logs)
        return "\n".join([self.node.log_ends(lines), *ends])

    def wait_until_served(self) -> None:
        """Start region servers that have ended, and wait until the region is served."""

        def is_served() -> bool:
            for daemon in self.node.ended():
                daemon.start()
            try:
                # It may wait until a killed server counts as dead: who lives is asked then.
                self.commands.run("get", TABLE, f"first-{FIRST_ROWS - 1:06d}")
                status = self.commands.json("status")
                served = not status["regions_in_transition"] and len(status["live_servers"]) == 2
                return served and bool(self.figures())
            except (CommandError, OSError, LookupError):
                return False

        wait_for("a cluster that serves", is_served)


def tail(log: Path, lines: int) -> str:
    """The last lines of a file."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])


def _stop_while_writing(worker: Worker) -> bool:
    """Whether it stands still now while it writes its output; it goes on if it does not write."""
    if not worker.is_writing():
        return False
    try:
        worker.stop()
        if worker.is_writing():
            return True
        worker.go_on()
    except ProcessLookupError:
        # It has ended meanwhile.
        return False
    return False
