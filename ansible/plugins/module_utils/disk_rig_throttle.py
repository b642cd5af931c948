"""A disk whose rates the block layer limits."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.sluice.stores.plugins.module_utils.disk_rig import DiskError, LoopRig

BLKIO_ROOT = Path("/sys/fs/cgroup/blkio")


class ThrottleRig(LoopRig):
    """A loop device limited in the root cgroup, the one place that covers all writeback."""

    LIMITS = ("read_bps", "write_bps", "read_iops", "write_iops")

    def limits(self) -> dict[str, int]:
        """Wanted limits by name of the cgroup file; 0 lifts a limit."""
        model = self.disk.model
        return {
            "read_bps": model.get("read_bytes_per_second", 0),
            "write_bps": model.get("rate_bytes_per_second", 0),
            "read_iops": model.get("read_operations_per_second", 0),
            "write_iops": model.get("write_operations_per_second", 0),
        }

    def limit_file(self, limit: str) -> Path:
        """The cgroup file of a limit."""
        file = BLKIO_ROOT / f"blkio.throttle.{limit}_device"
        if not file.exists():
            raise DiskError(
                f"{file} is not there: rig throttle needs the blkio controller of cgroup v1; "
                "use a model of rig nbd"
            )
        return file

    def limit(self, limit: str) -> int:
        """The limit in force, 0 when there is none."""
        for line in self.limit_file(limit).read_text().splitlines():
            device, value = line.split()
            if device == self.device_number():
                return int(value)
        return 0

    def set_limit(self, limit: str, value: int) -> None:
        """Write one limit; the kernel takes 0 as none."""
        self.limit_file(limit).write_text(f"{self.device_number()} {value}\n")

    def is_healthy(self) -> bool:
        """See Rig."""
        wanted = (name for name, value in self.limits().items() if value)
        return super().is_healthy() and all(self.limit(name) for name in wanted)

    def start(self) -> None:
        """See Rig."""
        self.limit_file("write_bps")
        super().start()
        for name, value in self.limits().items():
            self.set_limit(name, value)

    def stop(self) -> None:
        """See Rig."""
        # A limit outlives the loop device's content and would hit its next user.
        if self.loop_device():
            for name in self.LIMITS:
                self.set_limit(name, 0)
        super().stop()

    def rate(self) -> int | None:
        """See Rig."""
        return self.limit("write_bps")

    def set_rate(self, bytes_per_second: int) -> None:
        """See Rig."""
        self.set_limit("write_bps", bytes_per_second)
