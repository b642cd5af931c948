"""A file system in memory that can be filled up."""

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class SmallFileSystem:
    """A mounted one, whose blocks are taken by a file that nobody needs."""

    def __init__(self, mount_point: Path) -> None:
        self.mount_point = mount_point
        self._ballast = mount_point / "ballast"

    def free_bytes(self) -> int:
        status = os.statvfs(self.mount_point)
        return status.f_bavail * status.f_frsize

    def fill(self, leave_bytes: int = 0) -> None:
        """Take all but so many bytes; what is freed meanwhile is taken, too."""
        taken_bytes = 0
        with self._ballast.open("wb") as ballast:
            while (more_bytes := self.free_bytes() - leave_bytes) > 0:
                taken_bytes += _take(ballast.fileno(), taken_bytes, more_bytes)

    def empty(self) -> None:
        self._ballast.unlink(missing_ok=True)


def _take(file: int, offset_bytes: int, more_bytes: int) -> int:
    """Make a file longer; gives by how much: not at all if somebody else was quicker."""
    try:
        os.posix_fallocate(file, offset_bytes, more_bytes)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return 0
    return more_bytes


@contextmanager
def small_file_system(mount_point: Path, size_bytes: int) -> Iterator[SmallFileSystem]:
    assert os.geteuid() == 0, "a file system is mounted: run this as root"
    mount_point.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=0755", "sluice-faults"]
    subprocess.run([*command, str(mount_point)], check=True)
    try:
        yield SmallFileSystem(mount_point)
    finally:
        subprocess.run(["umount", str(mount_point)], check=True)
