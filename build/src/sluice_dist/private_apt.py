"""An apt with lists and cache of its own, for the source packages of one suite."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from sluice_dist.apt_entries import Archive, paragraphs

# Read after the machine's settings, so that its proxy stays and its hooks, which may empty the
# system's own cache, do not run.
CONFIGURATION = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Dir::State "{folder}/state";
Dir::State::lists "{folder}/lists";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/suite.sources";
Dir::Etc::sourceparts "-";
Dir::Etc::preferences "-";
Dir::Etc::preferencesparts "-";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Acquire::PDiffs "false";
Acquire::Languages "none";
"""


class AptFailure(Exception):
    """apt could not do it; the text is its first error."""


@dataclass(frozen=True)
class SourceFile:
    """One file of a source package of a suite."""

    package: str
    version: str
    name: str
    sha256: str


class PrivateApt:
    """Source packages of SUITE in ARCHIVE, with state below FOLDER."""

    def __init__(self, folder: Path, archive: Archive, suite: str):
        self.archive = archive
        self.suite = suite
        place = hashlib.sha256(f"{archive.uri} {suite}".encode()).hexdigest()[:8]
        self.folder = folder / f"{suite.replace('/', '-')}-{place}"

    def update(self) -> set[str]:
        """Fetch the suite's source index; gives the suite's names (its codename and its suite).

        Raises AptFailure if there is no such suite, or if its origin is not Debian.
        """
        for name in ("state", "lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "status").touch()
        (self.folder / "suite.sources").write_text(self._entry())
        (self.folder / "apt.conf").write_text(self._configuration())
        self._run("apt-get", "--error-on=any", "update")
        release = self._release()
        if release.get("origin") != "Debian":
            raise AptFailure(f"its origin is '{release.get('origin')}', not Debian")
        return {self.suite, release.get("codename", ""), release.get("suite", "")}

    def files(self, package: str) -> list[SourceFile]:
        """Files of all versions of source PACKAGE in the suite; none if it is not there."""
        try:
            listing = self._run("apt-cache", "showsrc", "--only-source", package)
        except AptFailure:
            return []
        return [
            SourceFile(package, fields["version"], name, sha256)
            for fields in paragraphs(listing)
            for sha256, name in _checksums(fields.get("checksums-sha256", ""))
        ]

    def download(self, file: SourceFile, destination: Path) -> None:
        """Write FILE, checked by apt, to DESTINATION; raises AptFailure."""
        wanted = f"{file.package}={file.version}"
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            arguments = ["--download-only", "--tar-only", "--only-source", wanted]
            self._run("apt-get", "source", *arguments, cwd=Path(folder))
            # Not a rename: the cache that it goes to may be on another file system.
            shutil.move(Path(folder) / file.name, destination)

    def _entry(self) -> str:
        fields = {"types": "deb-src", "uris": self.archive.uri, "suites": self.suite}
        fields |= {"components": "main", **dict(self.archive.options)}
        return "".join(f"{name.title()}: {value}\n" for name, value in fields.items())

    def _configuration(self) -> str:
        text = CONFIGURATION.format(folder=self.folder)
        # apt's own download user cannot reach a checkout in a private home.
        return text + ('APT::Sandbox::User "root";\n' if os.geteuid() == 0 else "")

    def _release(self) -> dict[str, str]:
        files = [file for file in (self.folder / "lists").glob("*Release") if file.is_file()]
        text = files[0].read_text() if files else ""
        # InRelease is the same paragraph inside a signature.
        return next((fields for fields in paragraphs(text) if "origin" in fields), {})

    def _run(self, program: str, *arguments: str, cwd: Path | None = None) -> str:
        command = [program, "-q", "-c", str(self.folder / "apt.conf"), *arguments]
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
            )
        except FileNotFoundError:
            raise AptFailure(f"there is no {program} on this machine") from None
        if done.returncode == 0:
            return done.stdout
        errors = [line[3:] for line in done.stderr.splitlines() if line.startswith("E: ")]
        raise AptFailure(errors[0] if errors else f"{program} ended with {done.returncode}")


def _checksums(field: str) -> list[tuple[str, str]]:
    rows = [row.split() for row in field.splitlines() if row.strip()]
    return [(row[0], row[2]) for row in rows if len(row) == 3]
