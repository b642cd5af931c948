"""Fills a stage from Maven artifacts: every jar that a lock file names, with its checksum.

`distribution/` of a store's recipe is a Maven project, whose `package` copies the jars to the
folder that the property `distribution.lib` names, after it has compared each with its
dependencies-lock.json. What the store's own compile step staged takes the place of the artifact of
the same file name. `distribution/tree` is laid over the prefix: launchers, web pages.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from sluice_dist.errors import DistError
from sluice_dist.release import Release, exported_files, files_sha256
from sluice_dist.reproducible import file_sha256

TREE = "tree"
_LAST_LINES = 20


class Distribution:
    """The Maven project FOLDER, for one RELEASE."""

    def __init__(self, release: Release, folder: Path):
        self.release = release
        self.folder = folder
        self.copy = release.build / "distribution"

    def sha256(self) -> str:
        """Hash over path and content of all that it is made from, and over how it is made."""
        content = files_sha256(self.folder, exported_files(self.folder))
        return f"{content} {file_sha256(Path(__file__))}"

    def assemble(self, stage: Path) -> None:
        """Add jars and tree to STAGE; raises DistError if Maven fails or a jar has no namesake."""
        shutil.rmtree(self.copy, ignore_errors=True)
        # Not in the checkout: both variants may be built at a time.
        for file in exported_files(self.folder):
            target = self.copy / file.relative_to(self.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
        fetched = self.copy / "assembled"
        self._run_maven(fetched)
        prefix = stage / self.release.prefix.relative_to("/")
        add_jars(fetched / "lib", prefix / "lib")
        for tree in (fetched / TREE, self.copy / TREE):
            if tree.is_dir():
                shutil.copytree(tree, prefix, symlinks=True, dirs_exist_ok=True)

    def _run_maven(self, fetched: Path) -> None:
        command = ["mvn", "--batch-mode", "--file", str(self.copy / "pom.xml"), "package"]
        command += ["-DskipTests", "-Dspotless.check.skip", f"-Ddistribution.lib={fetched / 'lib'}"]
        command += [f"-Ddistribution.tree={fetched / TREE}"]
        log = self.release.build / "distribution.log"
        title = f"assemble {self.release.store}/{self.release.build_label}"
        print(f"{title}: log {log}", file=sys.stderr)
        with log.open("w") as output:
            try:
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    check=False,
                )
            except FileNotFoundError:
                raise DistError("there is no Maven", "run build/bootstrap") from None
        if done.returncode != 0:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-_LAST_LINES:])
            raise DistError(f"{title} failed:\n{tail}", f"see {log}")


def add_jars(fetched: Path, lib: Path) -> None:
    """Copy to LIB what is FETCHED and not there; raises DistError for a jar of LIB that is not.

    A compiled jar under another name would be a second copy of its classes.
    """
    names = {file.name for file in fetched.glob("*.jar")} if fetched.is_dir() else set()
    if not names:
        raise DistError(f"Maven copied no jar to {fetched}", "let `package` copy them there")
    lib.mkdir(parents=True, exist_ok=True)
    compiled = {file.name for file in lib.glob("*.jar")}
    if strange := sorted(compiled - names):
        raise DistError(
            f"the compile step staged {', '.join(strange)}, which replaces no locked artifact",
            "stage it under the file name of the artifact",
        )
    for name in sorted(names - compiled):
        shutil.copy2(fetched / name, lib / name)
