"""A disk of a given rate: an ext4 file system on a loop device over a file in memory.

Reads and writes have a rate each, by the throttle of the root group of cgroup v1's blkio, which
covers what the kernel writes back as well; it works in slices of about a tenth of a second. Little
may be dirty at a time: the kernel writes it at once, and the loop device lets reads wait meanwhile.
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

BYTES_PER_SECOND = 80 << 20
OPERATIONS_PER_SECOND = 3000
MOST_DIRTY_BYTES = 4 << 20
FILE_SYSTEM_OPTIONS = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
LIMITS = {
    "read_bps": BYTES_PER_SECOND,
    "write_bps": BYTES_PER_SECOND,
    "read_iops": OPERATIONS_PER_SECOND,
    "write_iops": OPERATIONS_PER_SECOND,
}


def run(*command: str | Path) -> str:
    """What a command prints; CalledProcessError with its complaint as a note."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        error = subprocess.CalledProcessError(done.returncode, done.args)
        error.add_note(done.stderr)
        raise error
    return done.stdout.strip()


@dataclass(frozen=True)
class ThrottledDisk:
    """A disk that is mounted, and goes as fast as memory until it is told otherwise."""

    mount_point: Path
    device: Path
    blkio: Path

    def slow_down(self) -> None:
        """Give it its rates."""
        self._write_limits(LIMITS)
        dirty = Path("/sys/block", self.device.name, "bdi")
        (dirty / "strict_limit").write_text("1")
        (dirty / "max_bytes").write_text(str(MOST_DIRTY_BYTES))

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
        run("sync", "--file-system", self.mount_point)


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
        image = folder / "image"
        with image.open("wb") as file:
            # Memory that a virtual machine has not used yet is slow when it is written first.
            os.posix_fallocate(file.fileno(), 0, size_bytes)
        run("mkfs.ext4", "-q", "-F", "-E", FILE_SYSTEM_OPTIONS, image)
        device = run("losetup", "--find", "--show", image)
        stack.callback(run, "losetup", "--detach", device)
        disk = ThrottledDisk(folder / "disk", Path(device), blkio)
        stack.callback(disk.free)
        disk.mount_point.mkdir()
        run("mount", "-o", "noatime", device, disk.mount_point)
        stack.callback(run, "umount", disk.mount_point)
        yield disk
