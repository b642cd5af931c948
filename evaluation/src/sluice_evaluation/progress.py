"""What of an experiment's profile has been run: complete runs, and those that failed."""

import statistics
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from sluice_evaluation.records import Record, epoch_seconds, result_directory

# So many own runs make a better guess of a run's length than the experiment's file.
RUNS_FOR_ESTIMATE = 3


@dataclass(frozen=True)
class State:
    """What the folder of results says about one experiment and profile.

    `failed` has the plan of the last failed attempt by cell and run.
    """

    complete: set[tuple[str, int]]
    failed: dict[tuple[str, int], dict[str, Any]]
    run_seconds: float | None

    @classmethod
    def of(cls, records: Iterable[Record], experiment: str, profile: str) -> "State":
        """Collect the state from records, those of other experiments left aside."""
        complete, failed, lengths = set(), {}, []
        for record in records:
            plan = record.plan
            if (plan["experiment"], plan["profile"]) != (experiment, profile):
                continue
            key = plan["cell"], plan["run"]
            if record.complete:
                complete.add(key)
                lengths.append(
                    epoch_seconds(record.document["ended_at"])
                    - epoch_seconds(record.document["started_at"])
                )
            elif key not in failed or failed[key]["attempt"] < plan["attempt"]:
                failed[key] = plan
        enough = len(lengths) >= RUNS_FOR_ESTIMATE
        return cls(complete, failed, statistics.median(lengths) if enough else None)

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


NOTHING_DONE = State(set(), {}, None)
