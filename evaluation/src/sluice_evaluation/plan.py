"""What to run next: cells by runs in seeded random order, finished ones left out.

The order is that of randomised complete blocks: repetition r of an experiment is block r and holds
every cell once, shuffled by a generator seeded with the experiment's seed and r. So a drift of the
machine falls on all cells alike, and runs can be compared in pairs by block.
"""

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice_evaluation import budget, freeze, left_over
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.experiment import MEASURE, TUNE, Cell, Experiment
from sluice_evaluation.progress import NOTHING_DONE, State
from sluice_evaluation.records import Record, result_directory

MAXIMUM_ATTEMPTS = 2
# Clients run on past the normal phase, so that its last second is under full load.
CLIENT_MARGIN_SECONDS = 1.0
# Java machines on busy nodes do not begin at the same second.
NODES_MARGIN_SECONDS = 5.0


@dataclass(frozen=True)
class Stage:
    """A stage of a profile, with what its runs depend on."""

    experiment: Experiment
    profile: str
    name: str
    state: State
    frozen: dict[str, Any] | None

    @property
    def table(self) -> dict[str, Any]:
        """The profile's table."""
        return self.experiment.profile(self.profile)

    @property
    def seed(self) -> int:
        """Of the order of runs; told to load generators that take one."""
        return self.table["seed"] + self.experiment.stage(self.name).get("seed_offset", 0)

    @property
    def waits_for_freeze(self) -> bool:
        """Tuning that is done waits for `sluice-evaluation freeze` before anything is measured."""
        return self.name == TUNE and self.frozen is None

    @property
    def finished(self) -> bool:
        """Whether all runs are complete: with one given up, nothing is left and this is not."""
        blocks = range(1, self.experiment.runs(self.profile, self.name) + 1)
        cells = self.experiment.cells(self.profile, self.name)
        return all((cell.id, block) in self.state.complete for cell in cells for block in blocks)

    def open_blocks(self, maximum_attempts: int) -> list[list[dict[str, Any]]]:
        """The runs that are left, block by block in shuffled order."""
        blocks, left_out = [], freeze.left_out(self.frozen) if self.name == TUNE else ()
        for block in range(1, self.experiment.runs(self.profile, self.name) + 1):
            cells = self.experiment.cells(self.profile, self.name)
            order = random.Random(f"{self.experiment.name}/{self.name}/{self.seed}/{block}")
            order.shuffle(cells)
            attempts = {c.id: self.state.attempts(c.id, block) + 1 for c in cells}
            blocks.append([
                planned_run(self, cell, block, attempts[cell.id])
                for cell in cells
                if (cell.id, block) not in self.state.complete
                and cell.id not in left_out
                and attempts[cell.id] <= maximum_attempts
            ])  # fmt: skip
        return blocks


def make_plan(
    experiment: Experiment,
    profile: str,
    records: Iterable[Record],
    results: Path,
    budget_seconds: float | None = None,
    maximum_attempts: int = MAXIMUM_ATTEMPTS,
) -> dict[str, Any]:
    """The next stage that has something to run, as the command prints it.

    With `budget_seconds` the plan ends with the last block that fits. EvaluationError where a run
    could not be recorded.
    """
    table = experiment.profile(profile)
    state = State.of(records, experiment.name, profile)
    frozen = freeze.load(results, experiment.name, profile)
    for name in experiment.stage_names(profile):
        stage = Stage(experiment, profile, name, state, frozen)
        blocks = stage.open_blocks(maximum_attempts)
        if any(blocks) or stage.waits_for_freeze or name == MEASURE:
            break
    failed = state.failures(maximum_attempts, _wanted(experiment, profile, frozen))
    overhead = state.overhead(budget.guessed_overhead_seconds(table))
    runs = [run for block in budget.fitting(blocks, table, budget_seconds) for run in block]
    left_over.require_none(runs, results)
    return {
        "experiment": experiment.name,
        "profile": profile,
        "stage": stage.name,
        "experiment_sha256": experiment.digest(),
        "freeze_needed": stage.waits_for_freeze and stage.finished,
        "runs_left_in_stage": sum(map(len, blocks)),
        "runs_given_up": sum(run["given_up"] for run in failed),
        "failed": failed,
        "estimated_seconds": round(budget.seconds(runs, table), 1),
        "next_block_seconds": round(next((budget.seconds(b, table) for b in blocks if b), 0.0), 1),
        "overhead_seconds": round(overhead.seconds, 1),
        "overhead_runs_count": overhead.runs,
        "disk_bytes": table["estimate"]["disk_bytes"],
        "runs": runs,
    }


def _wanted(
    experiment: Experiment, profile: str, frozen: dict[str, Any] | None
) -> set[tuple[str, int]]:
    """The runs of the experiment as it is today, but for cells that are left out on purpose."""
    left_out = freeze.left_out(frozen)
    return {
        (cell.id, block)
        for stage in experiment.stage_names(profile)
        for cell in experiment.cells(profile, stage)
        if cell.id not in left_out
        for block in range(1, experiment.runs(profile, stage) + 1)
    }


def planned_run(stage: Stage, cell: Cell, block: int, attempt: int) -> dict[str, Any]:
    """Everything that a runner needs to know of one run."""
    document, table = stage.experiment.document, stage.table
    timing, load = stage.experiment.phases(stage.profile, stage.name), _load_of(table, cell)
    warm_up = float(timing["warm_up_seconds"])
    end = warm_up + timing["normal_seconds"]
    shift = stage.experiment.stage(stage.name).get("burst_shift_seconds", 0.0)
    windows = _burst_windows(load, timing, shift)
    device = document["devices"][cell.device]
    parameters = _order_parameters(document, table, cell)
    run = {
        "experiment": stage.experiment.name,
        "profile": stage.profile,
        "stage": stage.name,
        "store": document["store"],
        "version": document["version"],
        "cell": cell.id,
        "factors": cell.factors,
        "run": block,
        "block": block,
        "attempt": attempt,
        "seed": stage.seed,
        "variant": cell.variant,
        "settings": _settings(cell, stage.frozen),
        "device": {"name": cell.device, **{k: device[k] for k in ("model", "parameters")}},
        "workload": cell.workload,
        **_operations(document["workloads"][cell.workload]),
        "data": table["data"],
        "clients": _clients(load, cell, windows, document, end),
        "orders": _orders(cell, parameters, windows, warm_up),
        **_control(cell, parameters, warm_up, end),
        "phases": [
            {"name": "warm-up", "start_seconds": 0.0, "end_seconds": warm_up},
            {"name": "normal", "start_seconds": warm_up, "end_seconds": end},
        ],
        "windows": windows,
        "measure": document["measure"],
        "settle_seconds": timing["settle_seconds"],
        "cool_down_seconds": timing["cool_down_seconds"],
        "duration_seconds": end + CLIENT_MARGIN_SECONDS,
    }
    overhead = stage.state.overhead(budget.guessed_overhead_seconds(table))
    run["result_directory"] = str(result_directory(run, failed=False))
    run["estimated_seconds"] = round(sum(timing.values()) + overhead.seconds, 1)
    return run


def planned_otherwise(
    record: Record, experiment: Experiment, frozen: dict[str, Any] | None
) -> bool:
    """Whether the experiment as it is today would run this cell in another way, or not at all."""
    done = record.plan
    stage = Stage(experiment, done["profile"], done["stage"], NOTHING_DONE, frozen)
    cells = {c.id: c for c in experiment.cells(done["profile"], done["stage"])}
    cell = cells.get(done["cell"])
    if cell is None:
        return True
    if cell.settings_from and frozen is None:
        return False
    planned = planned_run(stage, cell, done["block"], done["attempt"])
    # Of both: policies, faults and the like are in a plan only where there are some.
    named = (planned.keys() | done.keys()) - {"estimated_seconds"}
    return any(planned.get(name) != done.get(name) for name in named)


def _load_of(table: dict, cell: Cell) -> dict[str, Any]:
    load = table.get("load_by_device", {}).get(cell.device) or table.get("load") or {}
    load = {"steady": load["even"]} if cell.even_load else load
    return _scaled(load, cell.load_share) if cell.load_share != 1.0 else load


def _scaled(load: dict[str, Any], share: float) -> dict[str, Any]:
    """The load with all its rates multiplied."""
    rate = "target_operations_per_second"
    return {name: entry | {rate: entry[rate] * share} for name, entry in load.items()}


def _burst_windows(load: dict, timing: dict, shift: float) -> list[dict[str, Any]]:
    bursts, windows = load.get("bursts"), []
    if not bursts:
        return windows
    start = timing["warm_up_seconds"] + bursts["first_start_seconds"] + shift
    end = timing["warm_up_seconds"] + timing["normal_seconds"]
    while start + bursts["duration_seconds"] <= end:
        windows.append({
            "kind": "burst",
            "name": f"burst-{len(windows) + 1}",
            "start_seconds": float(start),
            "end_seconds": float(start + bursts["duration_seconds"]),
        })  # fmt: skip
        start += bursts["period_seconds"]
    return windows


def _clients(
    load: dict, cell: Cell, windows: list[dict], document: dict, end: float
) -> list[dict[str, Any]]:
    duration = end + CLIENT_MARGIN_SECONDS
    client = {
        "start_seconds": 0.0,
        "duration_seconds": duration,
        "threads": cell.threads or load.get("steady", {}).get("threads", 1),
        "schedule": _schedule(load, windows, duration) if load else None,
        "status_interval_seconds": document["measure"]["status_interval_seconds"],
    }
    if cell.loaded_nodes is None:
        return [{"name": "steady", **client}, *_neighbours(load, cell, client)]
    # They begin within some seconds of each other, and the first to begin is not to end too soon.
    client["duration_seconds"] += NODES_MARGIN_SECONDS
    if load:
        client["schedule"] = _schedule(load, windows, client["duration_seconds"])
    nodes = range(1, cell.loaded_nodes + 1)
    return [{"name": f"steady-{node}", "node": node, **client} for node in nodes]


def _neighbours(load: dict, cell: Cell, client: dict[str, Any]) -> list[dict[str, Any]]:
    """The other application of the run, if there is one: its load begins with the main one."""
    if not cell.neighbour:
        return []
    entry = load["neighbour"]
    own = {"warm_up": load["warm_up"]} if "warm_up" in load else {}
    schedule = _schedule(own | {"steady": entry}, [], client["duration_seconds"])
    told = {"properties": entry["properties"], "threads": entry["threads"], "schedule": schedule}
    return [client | {"name": "neighbour", "beside": True, **told}]


def _schedule(load: dict, windows: list[dict], duration: float) -> str:
    """The rates of a client as `sluice-ycsb --schedule` reads them, over its whole duration."""
    steady, phases, now = load["steady"]["target_operations_per_second"], [], 0.0
    if warm_up := load.get("warm_up"):
        now = warm_up["duration_seconds"]
        phases.append((now, warm_up["target_operations_per_second"]))
    for window in windows:
        phases.append((window["start_seconds"] - now, steady))
        length = window["end_seconds"] - window["start_seconds"]
        phases.append((length, load["bursts"]["target_operations_per_second"]))
        now = window["end_seconds"]
    phases.append((duration - now, steady))
    return ",".join(f"{seconds:g}s:{rate:g}" for seconds, rate in phases if seconds > 0)


def _settings(cell: Cell, frozen: dict[str, Any] | None) -> dict[str, Any]:
    if cell.settings_from is None:
        return cell.settings
    if frozen is None:
        raise EvaluationError(
            f"cell {cell.id} takes the settings that stage {cell.settings_from} finds: run that "
            f"stage, then `sluice-evaluation freeze`"
        )
    return cell.settings | freeze.settings_for(frozen, cell.factors)


def _operations(workload: dict) -> dict[str, Any]:
    """Those that count; those told apart where there are some, as in no run from before."""
    apart = {"operations_apart": workload["apart"]} if "apart" in workload else {}
    return {"operations": workload["operations"], **apart}


def _order_parameters(document: dict, table: dict, cell: Cell) -> dict[str, Any]:
    """What fills braces: what the device can take, what workload and profile make of it."""
    device, workload = document["devices"][cell.device], document["workloads"][cell.workload]
    filled: dict[str, Any] = {}
    for source in (device, workload, table):
        filled |= source.get("order_parameters", {})
    return filled


def _orders(
    cell: Cell, parameters: dict[str, Any], windows: list[dict], warm_up: float
) -> list[dict[str, Any]]:
    moments = {
        "start": [0.0],
        "normal-start": [warm_up],
        "burst-start": [w["start_seconds"] for w in windows],
        "burst-end": [w["end_seconds"] for w in windows],
    }
    orders = []
    for index, order in enumerate(cell.orders):
        for moment in moments[order["at"]]:
            offset = order.get("offset_seconds", order.get("offset_warm_up_share", 0.0) * warm_up)
            orders.append((round(max(0.0, moment + offset), 3), index, order))
    return [
        {
            "name": f"{order['at']}-{number}",
            "at_seconds": at_seconds,
            "statement": order["statement"].format(**parameters),
        }
        for number, (at_seconds, _, order) in enumerate(sorted(orders, key=lambda o: o[:2]), 1)
    ]


def _control(cell: Cell, parameters: dict[str, Any], start: float, end: float) -> dict[str, Any]:
    """Policies and faults; nothing where there are none, as in runs from before there were any."""
    planned: dict[str, Any] = {}
    if cell.agents:
        planned["agents"] = cell.agents
    for name in ("policies", "service_levels"):
        if entries := getattr(cell, name):
            planned[name] = [_filled(entry, parameters) for entry in entries]
    if cell.leases:
        planned["leases"] = list(cell.leases)
    if cell.faults:
        planned["faults"] = [
            {
                "name": f"{fault['what']}-{number}",
                "what": fault["what"],
                "at_seconds": start + fault["at_share"] * (end - start),
            }
            for number, fault in enumerate(cell.faults, 1)
        ]
    return planned


def _filled(value: Any, parameters: dict[str, Any]) -> Any:
    """The value, with its value for every text that is a parameter's name in braces.

    Names that only the runner knows, such as {measured_device}, stay.
    """
    if isinstance(value, dict):
        return {key: _filled(entry, parameters) for key, entry in value.items()}
    if isinstance(value, list):
        return [_filled(entry, parameters) for entry in value]
    if isinstance(value, str) and value.startswith("{") and value.endswith("}"):
        return parameters.get(value[1:-1], value)
    return value


def find_run(plan: dict[str, Any], cell: str, run: int) -> dict[str, Any]:
    """The run of a plan; EvaluationError when the plan does not hold it."""
    for planned in plan["runs"]:
        if (planned["cell"], planned["run"]) == (cell, run):
            return planned
    raise EvaluationError(
        f"the plan holds no run {run} of cell {cell}; "
        "`cell` and `run` of its `runs` are those it has"
    )


def read(path: Path) -> dict[str, Any]:
    """A plan that was saved with `-o json`."""
    try:
        return json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise EvaluationError(f"{path} is not a plan saved with `plan -o json`: {error}") from error
