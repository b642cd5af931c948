"""Find a container runtime that works on this machine, and say which.

Podman's defaults fail on some machines: crun refuses hybrid cgroups, and a process without
CAP_SYS_RESOURCE cannot raise the default resource limits. This is the only place that knows:
each candidate configuration is tried by running a real container with CPU and memory limits, and
the first that works is written to `.work/containers/` for every other user of podman.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sluice_dist.errors import DistError
from sluice_dist.lock import only_one
from sluice_dist.stamp import read_stamp, write_stamp

PROBE_TIMEOUT_SECONDS = 60
OCI_RUNTIMES = ("crun", "runc")
CONFIGURATION = "containers.conf"


class ContainerRuntimeError(DistError):
    """No container can be run here, or a container command failed."""


@dataclass(frozen=True)
class Candidate:
    """One way to configure podman; `oci_runtime` None means podman's own choice."""

    oci_runtime: str | None
    raise_default_limits: bool

    @property
    def is_machine_default(self) -> bool:
        """Whether nothing is overridden."""
        return self.oci_runtime is None and self.raise_default_limits

    def describe(self) -> str:
        """One line for people."""
        runtime = self.oci_runtime or "podman's default runtime"
        return runtime if self.raise_default_limits else f"{runtime}, no default ulimits"

    def containers_conf(self) -> str:
        """Text of a containers.conf(5) that selects this candidate."""
        lines = ["# Written by `sluice-dist runtime`; remove this folder to detect again."]
        if not self.raise_default_limits:
            lines += ["[containers]", "default_ulimits = []"]
        if self.oci_runtime:
            lines += ["[engine]", f'runtime = "{self.oci_runtime}"']
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class ContainerRuntime:
    """A podman configuration that ran a container on this machine.

    `containers_conf` is None when the machine's own configuration works: podman ignores the
    machine's files as soon as CONTAINERS_CONF is set, so it is set only where it has to be.
    """

    podman: str
    podman_version: str
    oci_runtime: str
    containers_conf: str | None
    rejected: list[dict[str, str]] = field(default_factory=list)

    @property
    def overrides(self) -> dict[str, str]:
        """Environment variables that podman and buildah must be called with."""
        return {"CONTAINERS_CONF": self.containers_conf} if self.containers_conf else {}

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment to call podman and buildah with."""
        return {**os.environ, **self.overrides}

    def described(self) -> dict[str, Any]:
        """For scripts: the fields, and `environment` = the variables to set."""
        return {**asdict(self), "environment": self.overrides}

    def run(self, command: list[str], **options) -> subprocess.CompletedProcess[str]:
        """Run `podman ...` or `buildah ...`; raise ContainerRuntimeError with its message."""
        done = subprocess.run(
            command, env=self.environment, text=True, capture_output=True, check=False, **options
        )
        if done.returncode:
            said = (done.stderr or done.stdout).strip()
            name = " ".join(command[:2])
            raise ContainerRuntimeError(f"{name} ended with {done.returncode}: {said}")
        return done


def candidates() -> Iterator[Candidate]:
    """Configurations to try, the least intrusive first."""
    runtimes = [None, *(name for name in OCI_RUNTIMES if shutil.which(name))]
    for raise_default_limits in (True, False):
        for runtime in runtimes:
            yield Candidate(runtime, raise_default_limits)


def detect(state: Path, podman: str = "podman") -> ContainerRuntime:
    """Try the candidates and write the first that works below `state`.

    Raises ContainerRuntimeError that lists what was tried when none works.
    """
    with _alone(state, podman):
        return _detect(state, podman)


def load_or_detect(state: Path, podman: str = "podman") -> ContainerRuntime:
    """The runtime found earlier for the same podman, else a new detection."""
    found = _found_earlier(state, podman)
    if found:
        return found
    with _alone(state, podman):
        # Whoever was waited for may have found it.
        return _found_earlier(state, podman) or _detect(state, podman)


def _alone(state: Path, podman: str) -> AbstractContextManager[None]:
    if not shutil.which(podman):
        raise ContainerRuntimeError(f"{podman} is not installed", "run build/bootstrap")
    state.mkdir(parents=True, exist_ok=True)
    return only_one(state / "lock")


def _detect(state: Path, podman: str) -> ContainerRuntime:
    rejected: list[dict[str, str]] = []
    for candidate in candidates():
        tried = write_configuration(state, candidate)
        environment = {**os.environ, **({"CONTAINERS_CONF": str(tried)} if tried else {})}
        failure = probe(podman, environment, state / "probe")
        if failure:
            rejected.append({"candidate": candidate.describe(), "error": failure})
            continue
        oci_runtime = effective_runtime(podman, environment)
        conf = str(tried.replace(tried.with_name(CONFIGURATION))) if tried else None
        found = ContainerRuntime(podman, podman_version(podman), oci_runtime, conf, rejected)
        write_stamp(state / "runtime.json", found.described())
        return found
    errors = "\n".join(f"  {entry['candidate']}: {entry['error']}" for entry in rejected)
    raise ContainerRuntimeError(
        f"no container can be started on this machine; tried:\n{errors}",
        "install runc or crun, and run as root or with subordinate user ids (subuid(5))",
    )


def _found_earlier(state: Path, podman: str) -> ContainerRuntime | None:
    stored = read_stamp(state / "runtime.json")
    if not stored or not shutil.which(podman):
        return None
    stored.pop("environment")
    found = ContainerRuntime(**stored)
    conf_is_there = found.containers_conf is None or Path(found.containers_conf).exists()
    return found if conf_is_there and found.podman_version == podman_version(podman) else None


def write_configuration(state: Path, candidate: Candidate) -> Path | None:
    """Write the candidate's containers.conf; None when the machine's own is to be used.

    Beside the one that others go by, until it is known to work.
    """
    if candidate.is_machine_default:
        return None
    conf = state / f"candidate-{CONFIGURATION}"
    conf.write_text(candidate.containers_conf())
    return conf.resolve()


def probe(podman: str, environment: dict[str, str], root: Path) -> str | None:
    """Run `true` in a container with CPU and memory limits; the error's text, or None.

    The root file system is the machine's own /usr, read-only, so that no image is needed.
    """
    make_probe_root(root)
    command = [podman, "run", "--rm", "--network", "none", "--cpus", "0.5", "--memory", "64m"]
    command += ["--volume", "/usr:/usr:ro", "--rootfs", str(root.resolve()), "/usr/bin/true"]
    try:
        done = subprocess.run(
            command,
            env=environment,
            text=True,
            capture_output=True,
            check=False,
            timeout=PROBE_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {PROBE_TIMEOUT_SECONDS} s"
    return None if done.returncode == 0 else done.stderr.strip() or f"exit {done.returncode}"


def make_probe_root(root: Path) -> None:
    """An empty root file system whose /bin, /lib and so on lead into /usr."""
    for name in ("dev", "etc", "proc", "run", "sys", "tmp", "usr"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        link = root / name
        if not link.is_symlink():
            link.symlink_to(f"usr/{name}")


def podman_version(podman: str) -> str:
    """`X.Y.Z` of the podman client."""
    done = subprocess.run([podman, "--version"], text=True, capture_output=True, check=True)
    return done.stdout.split()[-1]


def effective_runtime(podman: str, environment: dict[str, str]) -> str:
    """Name of the OCI runtime that podman uses under `environment`."""
    command = [podman, "info", "--format", "{{.Host.OCIRuntime.Name}}"]
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=True)
    return done.stdout.strip()
