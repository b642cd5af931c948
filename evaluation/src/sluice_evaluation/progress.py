"""What of an experiment's profile has been run: complete runs, and those that failed."""

import statistics
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from sluice_evaluation.records import Record, epoch_seconds, result_directory

# So many own runs make a better guess of what comes with a run than the experiment's file.
RUNS_FOR_ESTIMATE = 3


@dataclass(frozen=True)
class Overhead:
    """What a run takes beyond its phases: the median of so many runs, or a guess where it is 0."""

    seconds: float
    runs: int

    @property
    def text(self) -> str:
        """For people who wonder about an estimate."""
        by = f"the median of {self.runs} runs" if self.runs else "the experiment's file"
        return f"each takes {self.seconds:.0f} s beyond its phases, by {by}"


@dataclass(frozen=True)
class State:
    """What the folder of results says about one experiment and profile.

    `failed` has the plan of the last failed attempt by cell and run, `beyond_phases` the seconds
    that each complete run took beyond its phases.
    """

    complete: set[tuple[str, int]]
    failed: dict[tuple[str, int], dict[str, Any]]
    beyond_phases: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, records: Iterable[Record], experiment: str, profile: str) -> "State":
        """Collect the state from records, those of other experiments left aside."""
        complete, failed, beyond_phases = set(), {}, []
        for record in records:
            plan = record.plan
            if (plan["experiment"], plan["profile"]) != (experiment, profile):
                continue
            key = plan["cell"], plan["run"]
            if record.complete:
                complete.add(key)
                beyond_phases.append(_beyond_phases(record))
            elif key not in failed or failed[key]["attempt"] < plan["attempt"]:
                failed[key] = plan
        return cls(complete, failed, beyond_phases)

    def overhead(self, guess_seconds: float) -> Overhead:
        """What the next run takes beyond its phases, which may be longer than those of others."""
        if len(self.beyond_phases) < RUNS_FOR_ESTIMATE:
            return Overhead(guess_seconds, 0)
        return Overhead(statistics.median(self.beyond_phases), len(self.beyond_phases))

    def attempts(self, cell: str, run: int) -> int:
        """How often a run was tried and failed."""
        return self.failed[cell, run]["attempt"] if (cell, run) in self.failed else 0

    def failures(
        self, maximum_attempts: int, wanted: Collection[tuple[str, int]]
    ) -> list[dict[str, Any]]:
        """Runs that failed and were not made since, of those that are wanted, by cell and run."""
        return [
            {
                "cell": cell,
                "run": run,
                "attempts": plan["attempt"],
                "given_up": plan["attempt"] >= maximum_attempts,
                "record_directory": str(result_directory(plan, failed=True)),
            }
            for (cell, run), plan in sorted(self.failed.items())
            if (cell, run) not in self.complete and (cell, run) in wanted
        ]


def _beyond_phases(record: Record) -> float:
    ended, started = (epoch_seconds(record.document[at]) for at in ("ended_at", "started_at"))
    # It has ended before it cools down.
    phases = record.plan["settle_seconds"] + record.plan["phases"][-1]["end_seconds"]
    return ended - started - phases


NOTHING_DONE = State(set(), {})
