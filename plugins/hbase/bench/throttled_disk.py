"""A disk of a given rate: an ext4 file system on a loop device over a file in memory.

Reads and writes have a rate each, by the throttle of the root group of cgroup v1's blkio, which
covers what the kernel writes back as well; it works in slices of about a tenth of a second. Little
may be dirty at a time, and few requests are under way, reads before writes, as Linux has it for a
disk of one queue: of what is written at once reads would wait for all.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import control_groups
from ansible.plugins.loader import init_plugin_loader

init_plugin_loader([str(Path(__file__).resolve().parents[3] / ".work")])

from ansible_collections.sluice.stores.plugins.module_utils.disk_rig import (  # noqa: E402
    DiskSpecification,
    LoopRig,
)

BYTES_PER_SECOND = 80 << 20
OPERATIONS_PER_SECOND = 3000
MODEL = {
    "rig": "loop",
    "queue": {"scheduler": "mq-deadline", "nr_requests": 8, "max_sectors_kb": 128},
    "most_dirty_bytes": 4 << 20,
}
LIMITS = {
    "read_bps": BYTES_PER_SECOND,
    "write_bps": BYTES_PER_SECOND,
    "read_iops": OPERATIONS_PER_SECOND,
    "write_iops": OPERATIONS_PER_SECOND,
}


@dataclass(frozen=True)
class ThrottledDisk:
    """A disk that is mounted, and goes as fast as memory until it is told otherwise."""

    mount_point: Path
    device: Path
    blkio: Path

    def slow_down(self) -> None:
        """Give it its rates."""
        self._write_limits(LIMITS)

    def free(self) -> None:
        """Take its rates away; a limit would outlast the device and meet the next of its name."""
        self._write_limits(dict.fromkeys(LIMITS, 0))

    def _write_limits(self, limits: dict[str, int]) -> None:
        number = self.device.stat().st_rdev
        for name, limit in limits.items():
            file = self.blkio / f"blkio.throttle.{name}_device"
            file.write_text(f"{os.major(number)}:{os.minor(number)} {limit}")

    def write_back(self) -> None:
        """Leave nothing in memory that is still to be written."""
        subprocess.run(["sync", "--file-system", self.mount_point], check=True)


@contextlib.contextmanager
def throttled_disk(size_bytes: int, memory: Path | None) -> Iterator[ThrottledDisk]:
    """A new disk, taken down with its content afterwards; SystemExit where it cannot be made."""
    if os.geteuid() != 0:
        raise SystemExit("this makes a disk: run it as root")
    if memory is None:
        raise SystemExit("this makes a disk in memory: mount a tmpfs on /dev/shm")
    blkio = control_groups.folder("blkio")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=memory)))
        rig = LoopRig(folder / "disk", DiskSpecification(str(folder / "image"), size_bytes, MODEL))
        rig.record()
        stack.callback(rig.stop)
        rig.start()
        with rig.image.open("r+b") as image:
            # Memory that a virtual machine has not used yet is slow when it is written first.
            os.posix_fallocate(image.fileno(), 0, size_bytes)
        disk = ThrottledDisk(rig.mount_point, Path(rig.loop_device()), blkio)
        stack.callback(disk.free)
        yield disk
