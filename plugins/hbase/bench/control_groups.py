"""Where the machine has its control groups, of version 1."""

from __future__ import annotations

from pathlib import Path


def folder(controller: str, mounts: str | None = None) -> Path:
    """The root group of a controller, by /proc/mounts; SystemExit when it is not mounted."""
    for line in (mounts or Path("/proc/mounts").read_text()).splitlines():
        _, place, kind, options = line.split()[:4]
        if kind == "cgroup" and controller in options.split(","):
            return Path(place)
    raise SystemExit(
        f"this needs the controller {controller} of cgroup v1, which is not mounted: "
        f"run `mkdir DIR && mount -t cgroup -o {controller} cgroup DIR`, "
        "after a boot with systemd.unified_cgroup_hierarchy=0 if that is refused"
    )
