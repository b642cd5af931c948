"""How the kernel queues what a disk is asked for, and how much may wait in memory to be written.

A loop device keeps what its last user has set, so all of it is set for each.
"""

from __future__ import annotations

from pathlib import Path

NAMES = ("scheduler", "nr_requests", "max_sectors_kb")
"""Files of /sys/block/DEVICE/queue that a model may set, in the order in which they are set."""


class QueueError(Exception):
    """The kernel has no such setting, or refuses it; the text says which."""


def configure(block: Path, queue: dict, most_dirty_bytes: int | None) -> None:
    """Set the queue of a device (its folder of /sys/block) and the bound on its dirty pages.

    What `queue` does not name, and a bound of None, are as for a device that nobody has touched.
    QueueError for what is not known.
    """
    if unknown := set(queue) - set(NAMES):
        raise QueueError(f"a queue has no {', '.join(sorted(unknown))}; it has {', '.join(NAMES)}")
    # Without a scheduler there are as many requests as the device takes.
    _write(block / "queue/scheduler", "none")
    _write(block / "queue/max_sectors_kb", (block / "queue/max_hw_sectors_kb").read_text())
    for name in NAMES:
        if name in queue:
            _write(block / "queue" / name, queue[name])
    _bound_dirty_pages(block / "bdi", most_dirty_bytes)


def _bound_dirty_pages(folder: Path, most_bytes: int | None) -> None:
    strict = folder / "strict_limit"
    if not strict.exists():
        if most_bytes is not None:
            raise QueueError("dirty pages are bounded from Linux 6.2 on: boot a newer kernel")
        return
    _write(strict, 0 if most_bytes is None else 1)
    if most_bytes is None:
        _write(folder / "max_ratio", 100)
    else:
        _write(folder / "max_bytes", most_bytes)


def _write(path: Path, value: object) -> None:
    try:
        path.write_text(str(value))
    except OSError as error:
        raise QueueError(f"{path} does not take {value}: {error.strerror}") from error
