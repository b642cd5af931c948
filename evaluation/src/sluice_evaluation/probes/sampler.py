"""Samples CPU, memory, disks and pressure of the machine, its groups and processes into a CSV file.

Standard library alone, so that a node can run this very file. Ends on SIGTERM or SIGINT, or after
--duration. Counters are cumulative, as the kernel gives them; a reader takes differences. How late
the timer was is the most since the last sample.
"""

import argparse
import contextlib
import csv
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

COLUMNS = ("epoch_seconds", "source", "name", "value")
SECTOR_BYTES = 512
_DISKS = re.compile(r"^(?:[shv]d[a-z]+|nvme\d+n\d+|loop\d+|nbd\d+|dm-\d+|md\d+)$")
_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_MEMORY_FIELDS = {"MemFree", "MemAvailable", "Cached", "Dirty", "Writeback", "SwapFree"}
_GROUP_FILES = {
    "cpu.stat": "cpu",
    "memory.current": "memory",
    "memory.usage_in_bytes": "memory",
    "cpuacct.usage": "cpu",
}
# Throttled: how long the group was held up by its CPU quota; the first name is of version 2.
_CPU_STAT_FIELDS = (
    ("usage_usec", "cpu_seconds", 1e6),
    ("throttled_usec", "throttled_seconds", 1e6),
    ("throttled_time", "throttled_seconds", 1e9),
)

# Of /proc/PID/stat behind the name of the program: time in the program, and in the kernel for it.
_PROCESS_CPU_FIELDS = slice(11, 13)

# Often enough to see a stall that is in a 99th percentile, seldom enough to cost nothing.
_TIMER_SECONDS = 0.01

Sample = tuple[str, str, float]


class TimerProbe:
    """How late a timer is that asks for the processor again and again.

    What holds the whole machine up, as another guest of its host does, is in no counter of the
    kernel; a timer shows it.
    """

    def __init__(self, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._clock = clock
        self._sleep = sleep
        self._latest = 0.0
        self._lock = threading.Lock()

    def start(self) -> None:
        """Ask until the process ends."""
        threading.Thread(target=self._run, name="timer", daemon=True).start()

    def _run(self) -> None:
        while True:
            self.step()

    def step(self) -> None:
        """Sleep once, and take note of how late that ended."""
        due = self._clock() + _TIMER_SECONDS
        self._sleep(_TIMER_SECONDS)
        late = self._clock() - due
        with self._lock:
            self._latest = max(self._latest, late)

    def samples(self) -> Iterator[Sample]:
        """The latest since it was asked last, in seconds."""
        with self._lock:
            latest, self._latest = self._latest, 0.0
        yield "timer", "latest_seconds", latest


def cpu_samples(text: str, ticks_per_second: int) -> Iterator[Sample]:
    """Seconds of CPU time by state, over all CPUs, from /proc/stat."""
    values = text.splitlines()[0].split()[1:]
    for name, value in zip(_CPU_FIELDS, values, strict=False):
        yield "cpu", f"{name}_seconds", int(value) / ticks_per_second


def memory_samples(text: str) -> Iterator[Sample]:
    """Bytes from /proc/meminfo."""
    for line in text.splitlines():
        name, _, rest = line.partition(":")
        if name in _MEMORY_FIELDS:
            yield "memory", f"{_snake(name)}_bytes", int(rest.split()[0]) * 1024


def disk_samples(text: str) -> Iterator[Sample]:
    """Requests, bytes, time and queue of whole disks that were used, from /proc/diskstats."""
    for line in text.splitlines():
        fields = line.split()
        name, numbers = fields[2], [int(field) for field in fields[3:]]
        if not _DISKS.match(name) or not any(numbers):
            continue
        source = f"disk:{name}"
        yield source, "reads_count", numbers[0]
        yield source, "read_bytes", numbers[2] * SECTOR_BYTES
        yield source, "writes_count", numbers[4]
        yield source, "written_bytes", numbers[6] * SECTOR_BYTES
        yield source, "in_flight_count", numbers[8]
        yield source, "busy_seconds", numbers[9] / 1000
        yield source, "queue_seconds", numbers[10] / 1000


def pressure_samples(resource: str, text: str) -> Iterator[Sample]:
    """Stalled time in seconds, from a /proc/pressure file."""
    for line in text.splitlines():
        kind, *fields = line.split()
        total = dict(field.split("=") for field in fields)["total"]
        yield f"pressure:{resource}", f"{kind}_seconds", int(total) / 1e6


def group_samples(group: str, file_name: str, text: str) -> Iterator[Sample]:
    """CPU time, time without it for its quota, memory of a control group of version 1 or 2."""
    source = f"group:{group}"
    if file_name == "cpuacct.usage":
        yield source, "cpu_seconds", int(text) / 1e9
    elif file_name == "cpu.stat":
        values = dict(line.split() for line in text.splitlines())
        for key, name, per_second in _CPU_STAT_FIELDS:
            if key in values:
                yield source, name, int(values[key]) / per_second
    else:
        yield source, "memory_bytes", int(text)


def process_samples(process: str, text: str, ticks_per_second: int) -> Iterator[Sample]:
    """CPU time of a process, of all its threads, from /proc/PID/stat."""
    # The name of a program is in parentheses, and may have blanks and parentheses itself.
    fields = text.rpartition(")")[2].split()
    ticks = sum(map(int, fields[_PROCESS_CPU_FIELDS]))
    yield f"process:{process}", "cpu_seconds", ticks / ticks_per_second


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def read_all(
    proc: Path, groups: dict[str, list[Path]], processes: dict[str, int]
) -> Iterator[Sample]:
    """One sample of everything; what the kernel does not offer is left out."""
    ticks = os.sysconf("SC_CLK_TCK")
    readers = {
        "stat": lambda text: cpu_samples(text, ticks),
        "meminfo": memory_samples,
        "diskstats": disk_samples,
    }
    for name, reader in readers.items():
        yield from reader((proc / name).read_text())
    for resource in ("cpu", "io", "memory"):
        # Absent, or refused, where the kernel was built or booted without it.
        with contextlib.suppress(OSError):
            yield from pressure_samples(resource, (proc / "pressure" / resource).read_text())
    for group, files in groups.items():
        for path in files:
            # A group goes away with its container.
            with contextlib.suppress(OSError):
                yield from group_samples(group, path.name, path.read_text())
    for process, pid in processes.items():
        # It may have ended.
        with contextlib.suppress(OSError):
            yield from process_samples(process, (proc / str(pid) / "stat").read_text(), ticks)


def group_files(specifications: list[str]) -> dict[str, list[Path]]:
    """Files to read for each NAME=PATH; ValueError when a specification is not one."""
    found: dict[str, list[Path]] = {}
    for specification in specifications:
        name, separator, path = specification.partition("=")
        if not separator or not name or not path:
            raise ValueError(f"--group {specification}: write NAME=PATH of a control group")
        files = [Path(path) / file for file in _GROUP_FILES if (Path(path) / file).is_file()]
        found.setdefault(name, []).extend(files)
    return found


def process_numbers(specifications: list[str]) -> dict[str, int]:
    """The number of each NAME=PID; ValueError when a specification is not one."""
    found: dict[str, int] = {}
    for specification in specifications:
        name, _, number = specification.partition("=")
        if not name or not number.isdecimal():
            raise ValueError(f"--process {specification}: write NAME=PID of a process")
        found[name] = int(number)
    return found


def sample(
    output: Path,
    interval_seconds: float,
    duration_seconds: float | None,
    groups: dict[str, list[Path]],
    stop: threading.Event,
    proc: Path = Path("/proc"),
    timer: TimerProbe | None = None,
    processes: dict[str, int] | None = None,
) -> int:
    """Append samples to a new file until `stop` is set; returns how many rounds were made."""
    begun = time.monotonic()
    rounds = 0
    with output.open("x", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        while not stop.is_set():
            now = f"{time.time():.3f}"
            found = read_all(proc, groups, processes or {})
            writer.writerows((now, *_formatted(row)) for row in found)
            if timer:
                writer.writerows((now, *_formatted(row)) for row in timer.samples())
            out.flush()
            rounds += 1
            # From the begin, not from the last round: the sampler does not drift.
            due = begun + rounds * interval_seconds
            if duration_seconds is not None and due - begun > duration_seconds:
                break
            stop.wait(max(0.0, due - time.monotonic()))
    return rounds


def _formatted(row: Sample) -> tuple[str, str, str]:
    return row[0], row[1], f"{row[2]:.6f}".rstrip("0").rstrip(".")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this program."""
    parser.add_argument("--interval", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--duration", type=float, metavar="SECONDS", help="default: until SIGTERM")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE", help="a new CSV file")
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help="also a control group, by its folder below /sys/fs/cgroup; repeatable",
    )
    parser.add_argument(
        "--process",
        action="append",
        default=[],
        metavar="NAME=PID",
        help="also the CPU time of a process, under this name; repeatable",
    )


def run(options: argparse.Namespace) -> int:
    """Sample as the arguments say; 2 when they are wrong."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if options.interval <= 0:
        print("--interval must be more than 0 seconds", file=sys.stderr)
        return 2
    try:
        groups = group_files(options.group)
        processes = process_numbers(options.process)
        timer = TimerProbe(time.monotonic, time.sleep)
        timer.start()
        sample(
            options.output,
            options.interval,
            options.duration,
            groups,
            stop,
            timer=timer,
            processes=processes,
        )
    except (ValueError, FileExistsError) as error:
        print(f"sample: {error}", file=sys.stderr)
        return 2
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Sample this machine."""
    parser = argparse.ArgumentParser(prog="sampler", description=__doc__.splitlines()[0])
    add_arguments(parser)
    return run(parser.parse_args(arguments))


if __name__ == "__main__":
    sys.exit(main())
