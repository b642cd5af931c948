"""Bounds what a unit of a container adds to the page cache, by control groups of version 1 or 2.

From outside of the container: its own systemd may not write the memory controller of version 1.
The bound is one of pages that come after it. What the unit's processes have already, such as the
heap of a Java machine, is not counted on version 1 and is added to the bound on version 2.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

# Where systemd as process 1 puts itself, below the group of its container.
INIT_GROUP = "/init.scope"


class LimitError(Exception):
    """The bound cannot be set; the message says what to do."""


@dataclass(frozen=True)
class ControlGroups:
    """The groups of a container, by its process 1 as this machine numbers it."""

    process: int
    proc: Path = Path("/proc")

    def folder(self, controller: str) -> Path:
        """The container's group of a controller; of version 2 by an empty name."""
        for line in (self.proc / str(self.process) / "cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controller in controllers.split(","):
                return self._mount(controller) / path.removesuffix(INIT_GROUP).lstrip("/")
        raise LimitError(
            f"process {self.process} has no control group '{controller}': name a container's first"
        )

    def is_version_1(self) -> bool:
        """Whether the memory controller is one of version 1."""
        lines = (self.proc / str(self.process) / "cgroup").read_text().splitlines()
        return any("memory" in line.split(":", 2)[1].split(",") for line in lines)

    def _mount(self, controller: str) -> Path:
        kind = "cgroup" if controller else "cgroup2"
        for line in (self.proc / "mounts").read_text().splitlines():
            _, place, found, options = line.split()[:4]
            if found == kind and (not controller or controller in options.split(",")):
                return Path(place)
        raise LimitError(
            f"{kind} {controller} is not mounted on this machine: mount it below /sys/fs/cgroup"
        )


def unit_folder(groups: ControlGroups, unit: str) -> Path:
    """Where systemd of the container has a unit's processes; LimitError when it does not run."""
    top = groups.folder("name=systemd" if groups.is_version_1() else "")
    found = next(top.rglob(f"{unit}/cgroup.procs"), None)
    if found is None:
        raise LimitError(f"{unit} does not run below {top}; start it, then set the limit")
    return found.parent


def group_to_reclaim(groups: ControlGroups, unit: str) -> str:
    """The folder of a group whose processes wait when it is full; empty with version 2."""
    return str(groups.folder("memory") / unit) if groups.is_version_1() else ""


def limit(groups: ControlGroups, unit: str, page_cache_bytes: int) -> bool:
    """Set the bound for a unit that runs; whether anything changed. LimitError when it cannot."""
    if groups.is_version_1():
        return _limit_by_group(groups, unit, page_cache_bytes)
    folder = unit_folder(groups, unit)
    stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    most = int(stat["anon"]) + int(stat["kernel"]) + page_cache_bytes
    (folder / "memory.max").write_text(str(most))
    return True


def _limit_by_group(groups: ControlGroups, unit: str, page_cache_bytes: int) -> bool:
    """A group of version 1 below the container's, with the unit's processes in it."""
    unit_processes = unit_folder(groups, unit) / "cgroup.procs"
    group = groups.folder("memory") / unit
    group.mkdir(exist_ok=True)
    (group / "memory.limit_in_bytes").write_text(str(page_cache_bytes))
    return _move(unit_processes, group / "cgroup.procs")


def _move(source: Path, group: Path) -> bool:
    """Put every process of one group into another too; whether one was not there.

    A process may start another, or end, while it is moved: look until none is left outside.
    """
    changed = False
    while outside := _processes(source) - _processes(group):
        changed = True
        for process in outside:
            with contextlib.suppress(ProcessLookupError):
                group.write_text(process)
    return changed


def _processes(group: Path) -> set[str]:
    return set(group.read_text().split()) if group.exists() else set()


def lift(groups: ControlGroups, unit: str) -> bool:
    """Take the bound away after the unit's end; whether there was one."""
    if not groups.is_version_1():
        # The group ended with the unit.
        return False
    group = groups.folder("memory") / unit
    if not group.exists():
        return False
    if left := (group / "cgroup.procs").read_text().split():
        raise LimitError(f"{unit} still has processes ({', '.join(left)}); stop it first")
    group.rmdir()
    return True
