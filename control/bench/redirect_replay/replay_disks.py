"""A fast disk and slow ones in memory, with the rates and delays of the test bed's models."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml
from ansible.plugins.loader import init_plugin_loader

TOP = Path(__file__).resolve().parents[3]
init_plugin_loader([str(TOP / ".work")])

from ansible_collections.sluice.stores.plugins.module_utils.disk_rig import (  # noqa: E402
    DiskSpecification,
)
from ansible_collections.sluice.stores.plugins.module_utils.disk_rig_nbd import (  # noqa: E402
    NbdRig,
)

MODELS = TOP / "ansible/roles/testbed/vars/main.yml"
DISK_BYTES = 512 << 20
# As many bytes as the model lets through at once are not slowed: of a large write all would be.
FAST_BURSTINESS_SECONDS = 0.002


@dataclass(frozen=True)
class ReplayDisks:
    """Folders on the disks."""

    fast: Path
    slow: list[Path]


def models(fast_bytes_per_second: int) -> tuple[dict, dict]:
    """Device models of the fast disk and of a slow one."""
    known = yaml.safe_load(MODELS.read_text())["testbed_disk_models"]
    parameters = known["ssd"]["parameters"] | {"burstiness": FAST_BURSTINESS_SECONDS}
    fast = known["ssd"] | {
        "rate_bytes_per_second": fast_bytes_per_second,
        "parameters": parameters,
    }
    return fast, known["hdd"]


@contextlib.contextmanager
def replay_disks(
    memory: Path | None, fast_bytes_per_second: int, slow_count: int
) -> Iterator[ReplayDisks]:
    """New disks, taken down with their content afterwards; SystemExit where there can be none."""
    if os.geteuid() != 0:
        raise SystemExit("this makes disks: run it as root")
    if memory is None:
        raise SystemExit("this makes disks in memory: mount a tmpfs on /dev/shm")
    fast, slow = models(fast_bytes_per_second)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=memory)))
        yield ReplayDisks(
            _disk(stack, folder, "fast", fast),
            [_disk(stack, folder, f"slow{number}", slow) for number in range(slow_count)],
        )


def _disk(stack: contextlib.ExitStack, folder: Path, name: str, model: dict) -> Path:
    image = folder / f"{name}.image"
    rig = NbdRig(folder / name, DiskSpecification(str(image), DISK_BYTES, model))
    rig.record()
    stack.callback(rig.stop)
    rig.start()
    with image.open("r+b") as content:
        # Memory that a virtual machine has not used yet is slow when it is written first.
        os.posix_fallocate(content.fileno(), 0, DISK_BYTES)
    return rig.mount_point
