"""Rigs that make a mounted file system which behaves like a given disk.

A rig lives in a directory of its own: `record.json` (written before anything is made, so that
whatever a failed start leaves can be taken down), `fs` (the mount point), and its processes' files.
"""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from ansible_collections.sluice.stores.plugins.module_utils import block_queue

DEADLINE_SECONDS = 120
ANEW = "keep its model and size, or make the disk anew (tasks_from: recreate_disk)"


class DiskError(Exception):
    """A disk cannot be brought into the wanted state; the text says what to do next."""


@dataclass(frozen=True)
class DiskSpecification:
    """What a disk is made of; `model` is one entry of the role's `testbed_disk_models`."""

    image: str
    size_bytes: int
    model: dict


def run(*command: str | Path) -> str:
    """Standard output of a command; DiskError with its message when it fails."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise DiskError(f"{words[0]} is not installed; run build/bootstrap") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip()
        raise DiskError(f"`{' '.join(words)}` ended with {done.returncode}: {said}")
    return done.stdout.strip()


def wait_until(condition, what: str) -> None:
    """Poll `condition` until it holds; DiskError after DEADLINE_SECONDS."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise DiskError(f"{what} did not happen within {DEADLINE_SECONDS} s")
        time.sleep(0.02)


def mount_source(point: Path, process: str = "self") -> str | None:
    """Source of the topmost mount on `point` that `process` sees, None when nothing is there."""
    source = None
    for line in Path(f"/proc/{process}/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        if before.split()[4] == str(point).replace(" ", "\\040"):
            source = after.split()[1]
    return source


def unmount(point: Path) -> None:
    """Unmount `point` however often it is mounted, and its copies in other mount namespaces.

    A process that got a namespace of its own while the disk was mounted (`unshare --mount`, builds
    of images) has a copy and would keep the disk busy. Nodes have it at another path and keep it.
    """
    while mount_source(point):
        run("umount", point)
    seen = {Path("/proc/self/ns/mnt").readlink()}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            namespace = (process / "ns/mnt").readlink()
            if namespace in seen or not mount_source(point, process.name):
                continue
        except OSError:  # it ended meanwhile
            continue
        seen.add(namespace)
        # It may end, and its copy with it, before this comes to it.
        command = ["nsenter", f"--target={process.name}", "--mount", "umount", str(point)]
        subprocess.run(command, capture_output=True, check=False)


class Rig:
    """The parts that all rigs share; a rig adds what is between image and mount point."""

    def __init__(self, directory: Path, disk: DiskSpecification):
        self.directory = directory
        self.disk = disk
        self.image = Path(disk.image)
        self.mount_point = directory / "fs"

    def is_healthy(self) -> bool:
        """Whether everything of the rig is there and works."""
        raise NotImplementedError

    def start(self) -> None:
        """Make and mount the disk; the image is kept when it is there already."""
        raise NotImplementedError

    def stop(self) -> None:
        """Take down whatever of the rig is there; the image stays."""
        raise NotImplementedError

    def fail(self) -> None:
        """Make every further request of the disk end with an error."""
        raise DiskError(
            f"rig {self.disk.model['rig']} cannot fail on order; use a model of rig nbd"
        )

    def rate(self) -> int | None:
        """Rate in force in bytes per second, None when the rig has none."""
        return None

    def set_rate(self, bytes_per_second: int) -> None:
        """Change the rate of the running disk."""
        raise DiskError(f"rig {self.disk.model['rig']} has no rate; use a model of rig nbd")

    def require_fitting_image(self) -> None:
        """DiskError when there is an image that this rig cannot use."""
        raise NotImplementedError

    def remove_image(self) -> None:
        """Delete the disk's content."""
        run("rm", "-rf", "--one-file-system", self.image)

    def record(self) -> None:
        """Write what the rig is made of, before it is made."""
        self.mount_point.mkdir(parents=True, exist_ok=True)
        (self.directory / "record.json").write_text(json.dumps(asdict(self.disk), indent=2) + "\n")


class DirectoryRig(Rig):
    """A plain directory, bind-mounted: no device model at all."""

    def is_healthy(self) -> bool:
        """See Rig."""
        return mount_source(self.mount_point) is not None and self.image.is_dir()

    def start(self) -> None:
        """See Rig."""
        self.image.mkdir(parents=True, exist_ok=True)
        run("mount", "--bind", self.image, self.mount_point)

    def stop(self) -> None:
        """See Rig."""
        unmount(self.mount_point)

    def require_fitting_image(self) -> None:
        """See Rig."""
        if self.image.exists() and not self.image.is_dir():
            raise DiskError(f"{self.image} is no directory: {ANEW}")


class LoopRig(Rig):
    """An ext4 file system on a loop device over `backing`, without the host's page cache."""

    @property
    def backing(self) -> Path:
        """The file below the loop device."""
        return self.image

    def loop_device(self) -> str | None:
        """Path of the loop device over `backing`, None when there is none."""
        for entry in Path("/sys/block").glob("loop*/loop/backing_file"):
            try:
                backing = entry.read_text().strip()
            except OSError:  # detached meanwhile
                continue
            # The kernel marks a backing file whose file system is gone.
            if backing.removesuffix(" (deleted)") == str(self.backing):
                return f"/dev/{entry.parts[3]}"
        return None

    def is_healthy(self) -> bool:
        """See Rig."""
        device = self.loop_device()
        return device is not None and mount_source(self.mount_point) == device

    def require_fitting_image(self) -> None:
        """See Rig."""
        if not self.image.exists():
            return
        size = self.image.stat().st_size
        if self.image.is_dir() or size != self.disk.size_bytes:
            raise DiskError(f"{self.image} is no file of {self.disk.size_bytes} bytes: {ANEW}")

    def make_image(self) -> None:
        """Make a sparse ext4 image; check the one that is there as a machine does at boot."""
        if self.image.exists():
            self.check_image()
            return
        # Formatted without the device's delays; complete, or not there under its name.
        unfinished = self.image.with_name(self.image.name + ".new")
        unfinished.unlink(missing_ok=True)
        with unfinished.open("wb") as file:
            file.truncate(self.disk.size_bytes)
        options = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
        run("mkfs.ext4", "-q", "-F", "-E", options, unfinished)
        unfinished.rename(self.image)

    def check_image(self) -> None:
        """Repair the file system; DiskError when it is beyond repair."""
        done = subprocess.run(
            ["e2fsck", "-p", str(self.image)], capture_output=True, text=True, check=False
        )
        if done.returncode > 1:  # 1: repaired
            raise DiskError(f"{self.image} is damaged ({done.stdout.strip()}): {ANEW}")

    def attach(self) -> None:
        """Put the loop device over `backing` and mount it."""
        device = run("losetup", "--find", "--show", "--direct-io=on", self.backing)
        self.configure_queue(Path("/sys/block", Path(device).name))
        run("mount", "-o", "noatime", device, self.mount_point)

    def configure_queue(self, block: Path) -> None:
        """Queue requests as the model says; by default as the kernel does for a loop device."""
        model = self.disk.model
        try:
            block_queue.configure(block, model.get("queue", {}), model.get("most_dirty_bytes"))
        except block_queue.QueueError as error:
            raise DiskError(f"model of {self.image}: {error}") from error

    def detach(self) -> None:
        """Undo attach."""
        unmount(self.mount_point)
        device = self.loop_device()
        if device is None:
            return
        run("losetup", "--detach", device)
        wait_until(
            lambda: self.loop_device() is None, f"detaching {device}; is the disk in use by a node?"
        )

    def start(self) -> None:
        """See Rig."""
        self.make_image()
        self.attach()

    def stop(self) -> None:
        """See Rig."""
        self.detach()
