"""A disk served by nbdkit: realistic latency, rates that change, and failure."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from ansible_collections.sluice.stores.plugins.module_utils.disk_rig import (
    DiskError,
    LoopRig,
    run,
    unmount,
    wait_until,
)

# Longer paths do not fit into a Unix socket address.
SOCKET_PATH_MAX_BYTES = 107


class NbdRig(LoopRig):
    """nbdkit with delay and rate filters -> nbdfuse -> loop device."""

    @property
    def backing(self) -> Path:
        """See Rig."""
        return self.directory / "device"

    @property
    def socket(self) -> Path:
        """The socket between nbdkit and nbdfuse; it also marks the processes as this disk's."""
        return self.directory / "nbd.sock"

    def process(self, name: str) -> int | None:
        """Process id from `NAME.pid` when it still is this disk's process; ids are reused."""
        try:
            pid = int((self.directory / f"{name}.pid").read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        except (OSError, ValueError):
            return None
        return pid if str(self.socket) in command else None

    def is_healthy(self) -> bool:
        """See Rig."""
        return bool(self.process("nbdkit") and self.process("nbdfuse") and super().is_healthy())

    def start(self) -> None:
        """See Rig."""
        if len(str(self.socket).encode()) > SOCKET_PATH_MAX_BYTES:
            raise DiskError(
                f"{self.socket} is too long for a socket: set a shorter testbed_runtime_directory"
            )
        self.make_image()
        self.start_nbdkit()
        self.start_nbdfuse()
        self.attach()

    def start_nbdkit(self) -> None:
        """Start the NBD server, which puts itself into the background."""
        model = self.disk.model
        self.set_rate(model["rate_bytes_per_second"])
        self.socket.unlink(missing_ok=True)
        # Where the filter `cache` keeps what is not flushed; it is as large as what was written.
        command = ["env", f"TMPDIR={self.image.parent}"]
        command += ["nbdkit", "--pidfile", self.directory / "nbdkit.pid", "--unix", self.socket]
        command += [
            "--threads",
            model["threads"],
            *(f"--filter={name}" for name in model["filters"]),
        ]
        command += ["file", self.image, *(f"{key}={it}" for key, it in model["parameters"].items())]
        command += [f"rate={model['rate_bytes_per_second'] * 8}"]
        command += [f"rate-file={self.directory / 'rate'}"]
        run(*command)
        # It goes into the background before it writes the file that later finds it again.
        wait_until(lambda: self.process("nbdkit"), f"{self.directory / 'nbdkit.pid'} from nbdkit")

    def start_nbdfuse(self) -> None:
        """Start the FUSE file over the server; it is there once it has the disk's size."""
        self.backing.write_bytes(b"")
        command = ["nbdfuse", self.backing, "--unix", self.socket]
        with (self.directory / "nbdfuse.log").open("ab") as log:
            process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        (self.directory / "nbdfuse.pid").write_text(str(process.pid))
        wait_until(
            lambda: process.poll() is not None or self.backing.stat().st_size,
            f"{self.backing} from nbdfuse",
        )
        if process.poll() is not None:
            raise DiskError(f"nbdfuse ended: {(self.directory / 'nbdfuse.log').read_text()}")

    def stop(self) -> None:
        """See Rig."""
        self.detach()
        unmount(self.backing)
        for name in ("nbdfuse", "nbdkit"):
            self.end(name, signal.SIGTERM)

    def end(self, name: str, number: signal.Signals) -> None:
        """Send a signal to one of the rig's processes and wait for its end."""
        pid = self.process(name)
        if pid is None:
            return
        os.kill(pid, number)
        wait_until(lambda: self.process(name) is None, f"the end of {name} (process {pid})")

    def fail(self) -> None:
        """See Rig."""
        self.end("nbdkit", signal.SIGKILL)

    def rate(self) -> int | None:
        """See Rig."""
        return int((self.directory / "rate").read_text()) // 8

    def set_rate(self, bytes_per_second: int) -> None:
        """See Rig."""
        # nbdkit reads bits per second, and looks at the file every few requests.
        (self.directory / "rate").write_text(f"{bytes_per_second * 8}\n")
