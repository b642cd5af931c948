"""The environment of a run: hardware, kernel, clock and versions; no host or user names.

Standard library alone, so that a node can run this very file.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

VERSION_COMMANDS = {
    "ansible": ["ansible", "--version"],
    "fio": ["fio", "--version"],
    "java": ["java", "-version"],
    "nbdkit": ["nbdkit", "--version"],
    "podman": ["podman", "--version"],
    "runc": ["runc", "--version"],
}
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-+~][\w.+~-]+)?")
TIMEOUT_SECONDS = 20


def fingerprint(root: Path = Path("/")) -> dict:
    """The environment as records hold it; `root` stands for / in tests."""
    return {
        "schema_version": 1,
        "cpu": {
            "model": cpu_model((root / "proc/cpuinfo").read_text()),
            "count": os.cpu_count() or 1,
        },
        "memory_bytes": memory_bytes((root / "proc/meminfo").read_text()),
        "kernel": platform.release(),
        "operating_system": operating_system((root / "etc/os-release").read_text()),
        "control_groups": control_groups(root),
        "clock_source": clock_source(root),
        "versions": {"python": platform.python_version()} | tool_versions(),
    }


def cpu_model(cpuinfo: str) -> str:
    """The first CPU's model name; the machine type where the kernel gives none."""
    match = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.M)
    return match.group(1).strip() if match else platform.machine()


def memory_bytes(meminfo: str) -> int:
    """Total memory."""
    return int(re.search(r"^MemTotal:\s+(\d+) kB", meminfo, re.M).group(1)) * 1024


def operating_system(os_release: str) -> str:
    """The distribution's own name for itself."""
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', os_release, re.M)
    return match.group(1) if match else "unknown"


def control_groups(root: Path) -> str:
    """v1, v2 or hybrid."""
    mount = root / "sys/fs/cgroup"
    if (mount / "cgroup.controllers").exists():
        return "v2"
    return "hybrid" if (mount / "unified/cgroup.controllers").exists() else "v1"


def clock_source(root: Path) -> str:
    """The kernel's current clock source."""
    path = root / "sys/devices/system/clocksource/clocksource0/current_clocksource"
    return path.read_text().strip() if path.exists() else "unknown"


def tool_versions() -> dict[str, str]:
    """Versions of the tools of the test bed that are installed."""
    found = {}
    for name, command in VERSION_COMMANDS.items():
        if not shutil.which(command[0]):
            continue
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
        )
        if match := _VERSION.search(done.stdout + done.stderr):
            found[name] = match.group()
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the fingerprint of this machine."""
    parser = argparse.ArgumentParser(prog="fingerprint", description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output-format", choices=("json",), default="json")
    parser.parse_args(arguments)
    print(json.dumps(fingerprint(), indent=1, sort_keys=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
