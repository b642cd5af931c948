"""A temporary PostgreSQL cluster of the staged build, for measurements."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg
from sluice_evaluation.bench import staged
from sluice_evaluation.bench.command_line import Store
from sluice_evaluation.bench.waiting import wait_until

SERVER_USER = "nobody"  # PostgreSQL does not run as root
PATIENCE_SECONDS = 600  # for a server that starts or stops, on a slow disk
STORE = Store("postgres", "PostgreSQL", "17.11")

BASE_SETTINGS = {
    "listen_addresses": "",
    "checkpoint_timeout": "1h",
    "max_wal_size": "4GB",
    "autovacuum": "off",
    "bgwriter_lru_maxpages": "0",
    "shared_buffers": "256MB",
    "log_checkpoints": "on",
    "wal_keep_size": "2GB",
}
SLUICE_SETTINGS = {"shared_preload_libraries": "sluice"}


def staged_prefix(version: str, variant: str, testing: bool = False) -> Path:
    """Folder of the staged build; tells to compile when there is none."""
    return staged.staged_prefix(STORE.name, version, variant, "bin/postgres", testing)


class Cluster:
    """One server with its data in a folder of its own, reached over a Unix socket."""

    def __init__(self, prefix: Path, folder: Path):
        self.prefix = prefix
        self.folder = folder
        self.data = folder / "data"

    def run(
        self, program: str, *args: str | Path, under: Sequence[str] = (), **options
    ) -> subprocess.CompletedProcess:
        """Run a program of the build as the server's user, perhaps by a tool such as taskset."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            return subprocess.run(
                [*under, self.prefix / "bin" / program, *args],
                check=True,
                text=True,
                **self._client(),
                **{**pipes, **options},
            )
        except subprocess.CalledProcessError as error:
            error.add_note(f"{error.stdout or ''}{error.stderr or ''}")
            raise

    def start_program(
        self, program: str, *args: str | Path, under: Sequence[str] = ()
    ) -> subprocess.Popen[str]:
        """Start what run runs; standard output and error are one pipe."""
        return subprocess.Popen(
            [*under, self.prefix / "bin" / program, *args],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **self._client(),
        )

    def _client(self) -> dict:
        """How a client's process is started: in the folder, as the server's user."""
        names = {"PGHOST": str(self.folder), "PGUSER": "postgres", "PGDATABASE": "postgres"}
        return {"cwd": self.folder, "env": {**os.environ, **names}, **_server_user()}

    def copy_data(self, template: Cluster) -> None:
        """Start from the data of a cluster that has been stopped."""
        subprocess.run(["cp", "--archive", template.data, self.data], check=True)

    def configure(self, settings: dict[str, str]) -> None:
        """Add settings to the configuration file; of one that is there twice the last counts."""
        lines = [f"{name} = '{value}'\n" for name, value in settings.items()]
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(lines)

    @property
    def log(self) -> Path:
        """What the server has logged."""
        return self.folder / "log"

    def start(self, under: Sequence[str] = ()) -> None:
        """Start the server and wait until it accepts connections."""
        self._pg_ctl("-l", self.log, "start", under=under)

    def start_inside(self, tool: Sequence[str]) -> subprocess.Popen:
        """Start the server inside a tool that executes it, such as valgrind.

        The server copies its own path and what it derives from it to its heap: paths of the same
        length give all builds the same layout.
        """
        program = self.folder / "postgres"
        program.symlink_to(self.prefix / "bin/postgres")
        paths = {name: str(self.folder) for name in ("PGSYSCONFDIR", "PGLOCALEDIR")}
        process = subprocess.Popen(
            [*tool, program, "-D", self.data],
            cwd=self.folder,
            env={**os.environ, **paths},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.log.open("a"),
            **_server_user(),
        )
        wait_until(self.answers, "a server that answers")
        return process

    def answers(self) -> bool:
        """Whether the server accepts connections."""
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, mode: str = "fast") -> None:
        """Stop the server; mode as of pg_ctl."""
        self._pg_ctl("-m", mode, "stop")

    def _pg_ctl(self, *arguments: str | Path, under: Sequence[str] = ()) -> None:
        patience = ["-w", "-t", str(PATIENCE_SECONDS)]
        self.run("pg_ctl", "-D", self.data, *patience, "-s", *arguments, under=under)

    def connect(self) -> psycopg.Connection:
        """A session of the superuser, in autocommit."""
        return psycopg.connect(
            host=str(self.folder), user="postgres", dbname="postgres", autocommit=True
        )


def _server_user() -> dict:
    return {"user": SERVER_USER, "extra_groups": []} if os.geteuid() == 0 else {}


def own(folder: Path) -> None:
    """Give a folder to the server's user."""
    if os.geteuid() == 0:
        user = pwd.getpwnam(SERVER_USER)
        os.chown(folder, user.pw_uid, user.pw_gid)


@contextlib.contextmanager
def temporary_cluster(
    prefix: Path,
    settings: dict[str, str],
    parent: Path | None = None,
    template: Cluster | None = None,
    under: Sequence[str] = (),
) -> Iterator[Cluster]:
    """A started cluster in a folder of its own, stopped and removed afterwards.

    Its data are new, or a copy of those of a template, which has been stopped.
    """
    folder = Path(tempfile.mkdtemp(prefix="sluice-bench-", dir=parent))
    own(folder)
    cluster = Cluster(prefix, folder)
    try:
        if template:
            cluster.copy_data(template)
        else:
            cluster.run("initdb", "-D", cluster.data, "-U", "postgres", "-A", "trust", "-k", "-N")
        cluster.configure({**BASE_SETTINGS, "unix_socket_directories": str(folder), **settings})
        cluster.start(under)
        yield cluster
    finally:
        if (cluster.data / "postmaster.pid").exists():
            cluster.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)


def dirty_buffers(session: psycopg.Connection, buffers: int) -> None:
    """Leave about this many dirty buffers of 8 KiB."""
    session.execute("CREATE TABLE IF NOT EXISTS pages (i int, filler text STORAGE plain)")
    session.execute(
        "INSERT INTO pages SELECT i, repeat('x', 7000) FROM generate_series(1, %s) i", (buffers,)
    )


def progress(session: psycopg.Connection, *columns: str) -> tuple:
    """Columns of the progress row."""
    query = f"SELECT {', '.join(columns)} FROM sluice.checkpoint_progress"
    row = session.execute(query).fetchone()
    assert row is not None
    return row
