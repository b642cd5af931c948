"""Measures what SSD Write Redirect is worth on a trace of writes, by replaying it on two devices.

One trace after the other is drawn from its characteristics, anew each round, and replayed by
`sluice replay redirect`, which is compiled from this checkout: without redirects, and with them for
each p, with one slow disk and with two. The order is drawn anew each round. All sides of a round
replay the same trace. The disks are those of the test bed, made for this, in memory; S_max is the
size above which requests are the largest ones of the characteristics. Ratios are to the replay
without redirects with as many slow disks; intervals are Fieller's at 95 %, over rounds. The bounds
are those of the published ranges: see the characteristics of each trace. It makes disks, as root.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from replay_disks import ReplayDisks, replay_disks
from sluice_dist.control_plane import VERSION
from sluice_evaluation import write_trace
from sluice_evaluation.bench.command_line import (
    Store,
    at_least,
    measurement_parser,
    report,
)
from sluice_evaluation.bench.ratios import ratio_figure
from sluice_evaluation.bench.turns import memory_folder
from sluice_evaluation.inference import MINIMUM_RUNS
from sluice_evaluation.measurements import Figure

TOP = Path(__file__).resolve().parents[3]
TRACES = TOP / "evaluation/write-traces"
STORE = Store("control", "the control plane", VERSION)

FAST_BYTES_PER_SECOND = 250_000_000
STEPS = (0.0, 0.125, 0.25, 0.5, 1.0)
SLOW_COUNTS = (1, 2)
QUEUE_REQUESTS = 8
# What was published of all five servers, or of three of them.
BYTES_RATIO = {"min": 0.30, "max": 0.56}
REDIRECTED_SHARE = {"min": 0.007, "max": 0.02}
P99_RATIO = {"max": 0.70}
MEAN_RATIO = {"max": 0.95}


@dataclass(frozen=True)
class Side:
    """One way to replay a trace; without a step nothing is redirected."""

    slow_count: int
    step_ratio: float | None

    @property
    def title(self) -> str:
        """In words."""
        disks = "one slow disk" if self.slow_count == 1 else f"{self.slow_count} slow disks"
        return disks if self.step_ratio is None else f"{disks}, p = {self.step_ratio:g}"


SIDES = [Side(count, step) for count in SLOW_COUNTS for step in (None, *STEPS)]


@dataclass(frozen=True)
class Replays:
    """How a trace is replayed."""

    program: Path
    disks: ReplayDisks
    what: write_trace.Characteristics
    seconds: float

    def command(self, trace: Path, side: Side) -> list[str]:
        """The command of one replay."""
        slow = [f"--slow={folder}" for folder in self.disks.slow[: side.slow_count]]
        called = [str(self.program), "replay", "redirect", f"--trace={trace}", "--output=json"]
        called += [f"--fast={self.disks.fast}", *slow]
        if side.step_ratio is None:
            return [*called, "--without"]
        largest = self.what.document["largest"]["requests_share"]
        return [
            *called,
            f"--queue-requests={QUEUE_REQUESTS}",
            f"--size-quantile={1 - largest:g}",
            f"--step-ratio={side.step_ratio:g}",
        ]

    def round(self, seed: int) -> dict[Side, dict]:
        """What each side came to with one trace."""
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.csv"
            with trace.open("w") as to:
                write_trace.write(write_trace.draw(self.what, self.seconds, seed), to)
            order = random.Random(seed).sample(SIDES, len(SIDES))
            return {side: self._replay(trace, side) for side in order}

    def _replay(self, trace: Path, side: Side) -> dict:
        done = subprocess.run(
            self.command(trace, side), capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"{side.title}: {done.stderr.strip()}")
        return json.loads(done.stdout)


def figures_of(title: str, rounds: Sequence[dict[Side, dict]]) -> Iterator[Figure]:
    """Each side beside the one without redirects and with as many slow disks."""
    for side in SIDES:
        outcomes = [outcome[side] for outcome in rounds]
        if side.step_ratio is None:
            yield from _without(f"{title}, {side.title}", outcomes)
            continue
        base = [outcome[Side(side.slow_count, None)] for outcome in rounds]
        yield from _redirected(f"{title}, {side.title}", outcomes, base)


def _without(what: str, outcomes: list[dict]) -> Iterator[Figure]:
    p99 = [outcome["fast"]["p99_seconds"] for outcome in outcomes]
    late = [outcome["latest_seconds"] for outcome in outcomes]
    yield Figure(f"{what}: p99 of writes, nothing redirected", "s", sum(p99) / len(p99), values=p99)
    yield Figure(f"{what}: the latest request", "s", max(late), values=late)


def _redirected(what: str, outcomes: list[dict], base: list[dict]) -> Iterator[Figure]:
    shares = [outcome["redirected_share"] for outcome in outcomes]
    mean = sum(shares) / len(shares)
    yield Figure(
        f"{what}: redirected of the writes", "1", mean, None, None, REDIRECTED_SHARE, shares
    )
    for name, field, expected in (
        ("bytes written to the fast disk", "written_bytes", BYTES_RATIO),
        ("p99 of writes to the fast disk", "p99_seconds", P99_RATIO),
        ("mean of writes to the fast disk", "mean_seconds", MEAN_RATIO),
    ):
        values = [outcome["fast"][field] for outcome in outcomes]
        before = [outcome["fast"][field] for outcome in base]
        yield ratio_figure(f"{what}: {name}, over without", values, before, expected)


def compiled(folder: Path) -> Path:
    """The program `sluice` of this checkout."""
    program = folder / "sluice"
    command = ["go", "build", "-mod=readonly", "-trimpath", "-o", str(program), "./cmd/sluice"]
    subprocess.run(command, cwd=TOP / "control", env=os.environ | {"CGO_ENABLED": "0"}, check=True)
    return program


def labels_of(program: Path) -> dict[str, str]:
    """What is measured: the same sources give the same program."""
    return {"dev.sluice.program.sha256": hashlib.sha256(program.read_bytes()).hexdigest()}


def measure(args: argparse.Namespace, program: Path, path: Path) -> list[Figure]:
    """Figures of one trace."""
    what = write_trace.load(path)
    rounds = []
    with replay_disks(memory_folder(), FAST_BYTES_PER_SECOND, max(SLOW_COUNTS)) as disks:
        replays = Replays(program, disks, what, args.seconds)
        for number in range(1, args.rounds + 1):
            print(f"{path.stem}: round {number} of {args.rounds}", file=sys.stderr)
            rounds.append(replays.round(number))
    return list(figures_of(what.document["title"], rounds))


def command_line() -> argparse.ArgumentParser:
    """The command line."""
    parser = measurement_parser(STORE, __doc__)
    parser.add_argument(
        "--trace",
        action="append",
        choices=sorted(path.stem for path in TRACES.glob("*.yml")),
        help="replay this one alone; may be repeated",
    )
    parser.add_argument(
        "--rounds", type=at_least(MINIMUM_RUNS), default=MINIMUM_RUNS, help="(default: %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of each replay (default: %(default)g)"
    )
    return parser


def main() -> None:
    """Replay and report, trace by trace: what is measured is kept before the next one begins."""
    args = command_line().parse_args()
    chosen = [p for p in sorted(TRACES.glob("*.yml")) if not args.trace or p.stem in args.trace]
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        for path in chosen:
            title = f"Replay of writes with SSD Write Redirect, trace {path.stem}"
            figures = measure(args, program, path)
            report(args, f"swr-replay-{path.stem}", title, figures, labels_of(program))


if __name__ == "__main__":
    main()
