"""A checkout of a made-up store, with real archives, real git and real scripts."""

import functools
import hashlib
import http.server
import json
import os
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from debian_repository import add_source, publish
from images import ROOT, Container, Podman, sluice_dist
from sluice_dist.cli import main
from sluice_dist.layout import Layout
from sluice_dist.release import Release, find_release

GREETING = 'const char *greeting(void)\n{\n\treturn "hello";\n}\n'
PROGRAM = """\
#include <stdio.h>

const char *greeting(void);

/* Prints the greeting. */
int main(void)
{
\tputs(greeting());
\treturn 0;
}
"""
FILES = {
    "src/greeting.c": GREETING,
    "src/main.c": PROGRAM,
    "README": "toy\n",
    ".gitignore": "*.o\n",
}
MESSAGE = """\
toy: add a hook that gives the greeting

Why a patch: the greeting is a constant of a static library, and the program
has no option for it; a preloaded library was tried and is not asked.

Inert by default: with the hook unset the greeting is the constant, after one
test of a pointer.

Origin: vendor
Forwarded: no
Applied-Upstream: no
Last-Update: 2026-11-20
Removal-Test: upstream has an option that sets the greeting
"""


@dataclass
class Project:
    """A checkout with the store toy; `served` is the folder of its upstream's archives."""

    root: Path
    served: Path

    @property
    def layout(self) -> Layout:
        return Layout.find(self.root)

    def release(self, name: str = "toy", variant: str = "patched") -> Release:
        return find_release(self.layout, name, variant)

    def run(self, *arguments: str) -> int:
        return main(["--root", str(self.root), *arguments])

    def add_upstream(self, version: str = "1.0", files: dict[str, str] = FILES) -> Path:
        archive = write_archive(self.served, version, files)
        folder = self.root / "patches" / "toy" / version
        folder.mkdir(parents=True)
        (folder / "upstream.toml").write_text(pin_text(version, archive))
        return archive

    def add_patch(self, name: str = "toy", message: str = MESSAGE, **edits: str) -> None:
        """Commit EDITS (file of src, without .c: new text) in the worktree, and export."""
        assert self.run("checkout", name) == 0
        worktree = self.release(name).worktree
        for stem, text in edits.items():
            (worktree / "src" / f"{stem}.c").write_text(text)
        commit(worktree, message)
        assert self.run("export", name) == 0


def write_archive(folder: Path, version: str, files: dict[str, str]) -> Path:
    source = folder / f"toy-{version}"
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
        os.utime(source / name, (1_700_000_000, 1_700_000_000))
    archive = folder / f"toy-{version}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(source, arcname=source.name)
    return archive


def pin_text(version: str, archive: Path, **changes: str) -> str:
    values = {
        "name": "toy",
        "version": version,
        "licence": "Apache-2.0",
        "archive": archive.name,
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
    } | changes
    keys = "".join(f'{key} = "{value}"\n' for key, value in values.items())
    return f'{keys}\n[[source]]\nkind = "url"\nurl = "{archive.as_uri()}"\n'


def user_git(folder: Path, *command: str) -> str:
    """Run git as a developer does, with an identity and settings of their own."""
    identity = ["-c", "user.name=Ada Dev", "-c", "user.email=ada@example.org"]
    command = ("git", *identity, *command)
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(worktree: Path, message: str, *options: str) -> None:
    user_git(worktree, "add", "--all")
    user_git(worktree, "commit", "--quiet", "--message", message, *options)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep tests away from the caller's cache and settings."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CCACHE_DIR", raising=False)
    (tmp_path / "home").mkdir()
    return tmp_path / "cache" / "sluice"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A checkout with toy 1.0 and no patches."""
    root, served = tmp_path / "checkout", tmp_path / "served"
    (root / "patches").mkdir(parents=True)
    (root / "build" / "stores" / "toy").mkdir(parents=True)
    served.mkdir()
    project = Project(root, served)
    project.add_upstream()
    return project


HOOKED_GREETING = """\
const char *(*greeting_hook)(void);

const char *greeting(void)
{
\tif (greeting_hook)
\t\treturn greeting_hook();
\treturn "hello";
}
"""


@pytest.fixture
def series(project: Project) -> Project:
    """The checkout with a series of one good patch."""
    project.add_patch(greeting=HOOKED_GREETING)
    return project


# Answers that are no HTTP, or end too early.
BROKEN_ANSWERS = {
    "/broken/chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf",
    "/broken/status": b"this is no answer\r\n\r\n",
}


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path not in BROKEN_ANSWERS:
            super().do_GET()
            return
        self.wfile.write(BROKEN_ANSWERS[self.path])
        self.close_connection = True

    def log_message(self, *arguments) -> None:
        pass


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Serve the folder `served` over HTTP; gives its address."""
    handler = functools.partial(QuietHandler, directory=str(tmp_path / "served"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def debian(project: Project, address: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian archive, and a machine whose apt knows only its oldest suite, for binaries."""
    archive = project.served / "debian"
    original = (project.served / "toy-1.0.tar.gz").read_bytes()
    add_source(archive, "oldstable", "toy", "0.9", b"an old one")
    add_source(archive, "testing", "toy", "1.0", original)
    add_source(archive, "unstable", "toy", "1.1", b"a newer one")
    publish(archive, "oldstable", "bookworm")
    publish(archive, "testing", "forky")
    publish(archive, "unstable", "sid")
    parts = project.root / "sources.list.d"
    parts.mkdir()
    (parts / "debian.sources").write_text(
        f"Types: deb\nURIs: {address}/debian\nSuites: bookworm\nComponents: main\nTrusted: yes\n"
    )
    configuration = project.root / "machine-apt.conf"
    configuration.write_text(
        f'Dir::Etc::sourcelist "{project.root}/none";\nDir::Etc::sourceparts "{parts}";\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(configuration))
    return archive


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """The caller's environment, taken before a test changes it."""
    return dict(os.environ)


@pytest.fixture(scope="session")
def runtime(environment: dict[str, str]) -> dict[str, str]:
    """The environment in which podman works on this machine."""
    found = json.loads(sluice_dist("runtime", "-o", "json", environment=environment))
    return {**environment, **found["environment"]}


@pytest.fixture
def podman(runtime: dict[str, str]) -> Iterator[Podman]:
    podman = Podman(runtime)
    yield podman
    podman.remove_all()


@pytest.fixture(scope="session")
def node(runtime: dict[str, str]) -> Iterator[Container]:
    """A node that knows Debian's packages and sees ours."""
    podman = Podman(runtime)
    node = podman.node("localhost/sluice/node:12", f"--volume={ROOT}/.work/packages:/packages:ro")
    node.call("apt-get", "update", "--quiet")
    yield node
    podman.remove_all()
