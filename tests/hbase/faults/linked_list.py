"""The linked list in a table of HBase: what was acknowledged has to be there, whatever happens.

The program is the Maven project linked-list; its package documentation says what a chain is.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

from cluster_protocols import AnyCluster
from hbase_commands import HBaseCommands
from sluice_evaluation.bench.waiting import wait_until

TABLE = "linked"
FAMILY = "l"
SCOPE = f"{TABLE}/{FAMILY}"
CHAINS = 4
# Keys are spread evenly: four regions alike.
SPLITS = r"\x40,\x80,\xC0"
TABLE_ATTRIBUTES = ",".join(
    (
        # Small, so that there are files, and compactions, all the time.
        "MEMSTORE_FLUSHSIZE=2097152",
        # Regions split only when told.
        "SPLIT_POLICY=org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy",
        # The writes beside a hold bring no store near it: leases end for the fault alone.
        "conf.hbase.hstore.blockingStoreFiles=100",
    )
)
WAIT_SECONDS = 600

PROJECT = Path(__file__).with_name("linked-list")
JAVA = ["java", "-Xmx256m", "-XX:+UseSerialGC"]
MAIN = "dev.sluice.tests.linkedlist.Main"


class DamageError(Exception):
    """Data was lost or damaged; the text says how much."""


def class_path() -> str:
    """Of the program; FileNotFoundError says how to build it."""
    jar = PROJECT / "target/linked-list.jar"
    if not jar.exists():
        command = f"mvn --batch-mode --file {PROJECT}/pom.xml verify"
        raise FileNotFoundError(f"{jar} is not there: run `{command}` first")
    return f"{jar}:{PROJECT}/target/lib/*"


class Writing:
    """A process that writes chains until it is told to end."""

    def __init__(self, command: list[str], errors: Path):
        self.acknowledged = 0
        self.chains: list[str] = []
        self._errors = errors
        with errors.open("w") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout:
            if line.startswith("acknowledged "):
                self.acknowledged = max(self.acknowledged, int(line.split()[1]))
            else:
                self.chains.append(line.strip())

    def wait_for_rows(self, more: int) -> None:
        """Wait until so many more rows are acknowledged."""
        target = self.acknowledged + more

        def written() -> bool:
            if self._process.poll() is not None:
                raise RuntimeError(f"the list has ended:\n{self._errors.read_text()}")
            return self.acknowledged >= target

        wait_until(written, f"{more} more rows of the list", timeout_seconds=WAIT_SECONDS)

    def finish(self) -> list[str]:
        """Have it close its chains, and return their lines; RuntimeError when it failed."""
        self._process.stdin.close()
        status = self._process.wait(timeout=WAIT_SECONDS)
        self._reader.join()
        if status or len(self.chains) != CHAINS:
            raise RuntimeError(f"the list ended with {status}:\n{self._errors.read_text()}")
        return self.chains

    def kill(self) -> None:
        """End it, if it still runs; its chains stay open."""
        self._process.kill()
        self._process.wait()


class LinkedList:
    """The list of one cluster, and the ledger of what was acknowledged."""

    def __init__(self, node: AnyCluster):
        self._node = node
        self.ledger = node.folder / "ledger"
        self._lines: list[str] = []
        self._started_chains = 0

    @staticmethod
    def drop(commands: HBaseCommands) -> None:
        """Remove the table, if it is there."""
        if TABLE in commands.run("tables").split():
            commands.run("drop", "--disable", TABLE)

    @staticmethod
    def create(commands: HBaseCommands) -> None:
        """Make the table."""
        words = ["create", TABLE, "--family", FAMILY, "--splits", SPLITS]
        commands.run(*words, "--set", TABLE_ATTRIBUTES)

    @property
    def rows(self) -> int:
        """Rows of all chains that are closed."""
        return sum(int(line.split()[3]) for line in self._lines)

    @contextlib.contextmanager
    def writing(self, at_least: int, rows_per_second: int = 0) -> Iterator[Writing]:
        """Chains that grow meanwhile, and are closed and in the ledger afterwards."""
        command = self._command("write")
        command += ["--first-chain", str(self._started_chains), "--chains", str(CHAINS)]
        command += ["--at-least", str(at_least), "--rows-per-second", str(rows_per_second)]
        command += ["--width", "200"]
        self._started_chains += CHAINS
        writing = Writing(command, self._node.folder / "linked-list.log")
        try:
            yield writing
            self._lines += writing.finish()
            self.ledger.write_text("".join(f"{line}\n" for line in self._lines))
        finally:
            writing.kill()

    def verify(self) -> dict[str, int]:
        """What a scan finds; DamageError unless it is exactly what was acknowledged."""
        command = [*self._command("verify"), "--ledger", str(self.ledger)]
        done = subprocess.run(command, capture_output=True, text=True)
        if not done.stdout:
            raise RuntimeError(f"the list could not be read:\n{done.stderr}")
        verdict = json.loads(done.stdout)
        if done.returncode or verdict["rows"] != self.rows:
            raise DamageError(f"of {self.rows} rows: {verdict}\n{done.stderr}")
        return verdict

    def _command(self, name: str) -> list[str]:
        site = self._node.configuration / "hbase-site.xml"
        java = [*JAVA, *self._node.client_java_options]
        command = [*java, "-cp", class_path(), MAIN, name]
        return [*command, "--site", str(site), "--table", TABLE]
