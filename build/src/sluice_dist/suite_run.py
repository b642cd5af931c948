"""Runs upstream's test suites on a build with its test support, as a user that is not root."""

import os
import pwd
import subprocess
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass

from sluice_dist.compilation import Compilation
from sluice_dist.errors import DistError
from sluice_dist.lock import only_one
from sluice_dist.recipe import Suite
from sluice_dist.release import Release
from sluice_dist.script import run_logged
from sluice_dist.tap import Results, read_results


@dataclass(frozen=True)
class SuiteResult:
    """What one suite gave on one build in one mode."""

    suite: str
    mode: str
    variant: str
    version: str
    exit_status: int
    seconds: float
    log: str
    results: Results

    @property
    def succeeded(self) -> bool:
        """Whether tests ran, and none failed."""
        return self.exit_status == 0 and bool(self.results.passed) and not self.results.failed

    def summary(self) -> dict[str, object]:
        """Counts for a script; the names of failed tests, as they are what one looks for."""
        facts = asdict(self)
        facts["seconds"] = round(self.seconds, 1)
        results = facts.pop("results")
        counts = {outcome: len(names) for outcome, names in results.items()}
        return facts | counts | {"failures": results["failed"], "succeeded": self.succeeded}


class SuiteRun:
    """Suites on one release; compiles it with upstream's test support first."""

    def __init__(self, release: Release, jobs: int | None = None):
        self.release = release.with_testing()
        self.compilation = Compilation(self.release, jobs)
        self.folder = self.release.build / "test"

    def prepare(self) -> None:
        """Compile, and give the tests a place that their user can write to."""
        self.compilation.run()
        self.folder.mkdir(exist_ok=True)
        if os.geteuid() != 0:
            return
        # A suite that runs makes and removes files, which chown would miss or not find.
        with self._alone():
            self._hand_over()

    def run(self, suite: Suite, mode: str) -> SuiteResult:
        """Run SUITE in MODE and give its results."""
        script = self.compilation.recipe.folder / self.compilation.recipe.test_script
        label = f"{self.release.store}/{self.release.label}"
        log = self.release.build / f"test-{suite.name}-{mode}.log"
        title = f"test {label} {suite.name} {mode}"
        environment = self._environment(suite, mode)
        # Suites install into one temporary place.
        with self._alone():
            status, seconds = run_logged(script, title, log, environment, self._as_user())
        results = read_results(log.read_text(errors="replace"))
        if status != 0 and not results.failed:
            results.failed.append(f"(the suite as a whole, exit status {status})")
        variant, version = self.release.variant, self.release.version
        return SuiteResult(suite.name, mode, variant, version, status, seconds, str(log), results)

    def _alone(self) -> AbstractContextManager[None]:
        return only_one(self.release.build / "test.lock")

    def _environment(self, suite: Suite, mode: str) -> dict[str, str]:
        # What is compiled here is little, and the user has no right to the cache.
        return self.compilation.environment() | {
            "SUITE": suite.name,
            "MODE": mode,
            "TEST_FOLDER": str(self.folder),
            "PLUGIN_SRC": str(self.release.plugin_copy),
            "HOME": str(self.folder),
            "CCACHE_DISABLE": "1",
        }

    def _as_user(self) -> tuple[str, ...]:
        if os.geteuid() != 0:
            return ()
        user = self._user()
        identity = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        return ("setpriv", *identity, "--")

    def _hand_over(self) -> None:
        user = self._user()
        folders = [self.compilation.objects, self.folder, self.release.build / "plugin"]
        owner = f"{user.pw_uid}:{user.pw_gid}"
        for folder in (folder for folder in folders if folder.is_dir()):
            subprocess.run(["chown", "--recursive", owner, str(folder)], check=True)
        seen = subprocess.run([*self._as_user(), "test", "-w", str(self.folder)], check=False)
        if seen.returncode != 0:
            raise DistError(
                f"the tests run as user {user.pw_name}, who cannot reach {self.folder}",
                "move the checkout to a folder that others may enter, or run this command as a "
                "user who is not root",
            )

    def _user(self) -> pwd.struct_passwd:
        name = self.compilation.recipe.test_user
        try:
            return pwd.getpwnam(name)
        except KeyError:
            raise DistError(f"there is no user {name}", "name another in recipe.toml") from None


def differences(one: Results, other: Results) -> tuple[list[str], list[str]]:
    """Give the tests that passed only in ONE and those that passed only in OTHER."""
    first, second = set(one.passed), set(other.passed)
    return sorted(first - second), sorted(second - first)
