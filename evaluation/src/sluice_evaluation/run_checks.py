"""What makes the output of a run no run of its plan, although each of its programs ended well.

Each check raises EvaluationError with what was missing; the runner then records a failed run, and
tries it again.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sluice_evaluation import histograms, store_logs
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.histograms import Interval
from sluice_evaluation.node_metrics import DRAIN
from sluice_evaluation.plan import NODES_MARGIN_SECONDS
from sluice_evaluation.raw_clients import Key, begin_of
from sluice_evaluation.records import epoch_seconds

# A controller decides once a second.
SILENCE_SECONDS = 5.0
# They count from the first answer, which a server that is cold gives within a second. What a policy
# does in a burst differs from what it does some seconds later.
FAULT_SECONDS = 2.0
# Failed requests are in no latency, and give those that did not fail an idle store.
FAILED_SHARE = 0.01
# What a client may end with: 3 is done, but operations failed. They are counted.
CLIENT_EXIT_CODES = (0, 3)


def require_steps(planned: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    """Refuse a run of which a step failed, or an order or drain is not in the timeline.

    Without a drain the time to its end, and what it took, would be that of the load alone.
    """
    if bad := [step["name"] for step in steps if not _ended_well(step)]:
        raise EvaluationError(
            f"these steps of the timeline failed: {', '.join(bad)}; record the run as failed"
        )
    for kind, wanted, what in (
        ("order", {order["name"] for order in planned["orders"]}, "orders were not given"),
        (DRAIN, _drains(planned), "drains were not waited for"),
    ):
        if missing := wanted - {step["name"] for step in steps if step["kind"] == kind}:
            raise EvaluationError(
                f"these {what}: {', '.join(sorted(missing))}; record the run as failed"
            )


def _ended_well(step: dict[str, Any]) -> bool:
    allowed = CLIENT_EXIT_CODES if step["kind"] == "client" else (0,)
    return step["attributes"]["exit_code"] in allowed


def _drains(planned: dict[str, Any]) -> set[str]:
    """Names of the steps that wait until nothing is left to do behind a client."""
    if not planned["measure"].get("drain", False):
        return set()
    return {f"{DRAIN}-{client['name']}" for client in planned["clients"]}


def require_background(
    planned: dict[str, Any], events: list[dict[str, Any]], normal: dict[str, float]
) -> None:
    """Refuse a run whose order for work behind, which is asynchronous, led to none in its time."""
    kind = getattr(store_logs.reader(planned["store"]), "BACKGROUND", (None,))[0]
    start, end = normal["start_seconds"], normal["end_seconds"]
    late = [order for order in planned["orders"] if order["at_seconds"] >= start]
    if kind is None or not late:
        return
    if not any(e["kind"] == kind and start <= e["start_seconds"] <= end for e in events):
        raise EvaluationError(
            f"{late[0]['statement']} was ordered, and no {kind} began between {start:g} and "
            f"{end:g} s of the run by the store's log; record the run as failed"
        )


def require_no_recovery(events: list[dict[str, Any]], steps: list[dict[str, Any]]) -> None:
    """Refuse a run in which the store crashed and recovered: clients may have waited for it.

    What a kill after the run leads to begins when they have ended.
    """
    end = max(step["end_seconds"] for step in steps if step["kind"] == "client")
    for event in events:
        if event["kind"] == "redo" and event["start_seconds"] <= end and event["end_seconds"] >= 0:
            raise EvaluationError(
                f"the store recovered from a crash at {event['end_seconds']:g} s of the run: its "
                "log says why it went down; record the run as failed"
            )


def require_answers(results: dict[str, Any]) -> None:
    """Refuse a run in which more than 1 % of the operations failed."""
    failed, done = results["error_count"], results["measured"]["operations"]
    if failed > FAILED_SHARE * done:
        raise EvaluationError(
            f"{failed} operations failed, beside {done} that were done in the normal phase: see "
            "the output of the load generator; record the run as failed"
        )


def require_whole_load(
    raw: Path, planned: dict[str, Any], clients: dict[Key, list[Interval]], origin: float
) -> None:
    """Refuse a run that was not under its load from its begin to the end of the normal phase."""
    _require_together(raw, planned, origin)
    end = planned["phases"][-1]["end_seconds"]
    for client in planned["clients"]:
        last = min(_ends_of_logs(raw, client, clients, origin), default=origin) - origin
        if last < end - client["status_interval_seconds"]:
            raise EvaluationError(
                f"a log of load generator {client['name']} has nothing after {last:.1f} s of the "
                f"run, and was to until {end:g} s: see its output; record the run as failed"
            )


def _ends_of_logs(
    raw: Path, client: dict[str, Any], clients: dict[Key, list[Interval]], origin: float
) -> Iterator[float]:
    """While it runs it closes an interval of each log, whether an operation ended in it or not."""
    logs = [found for (name, *_), found in clients.items() if name == client["name"]]
    if client.get("beside", False):
        paths = sorted((raw / "clients" / client["name"]).glob("*.hdr"))
        logs = [histograms.read_log(path) for path in paths]
    return (max((interval.end for interval in log), default=origin) for log in logs)


def _require_together(raw: Path, planned: dict[str, Any], origin: float) -> None:
    """Refuse a run whose load generators did not begin when they were to."""
    for client in planned["clients"]:
        begun = begin_of(raw / "clients" / client["name"] / "run.properties")
        late = begun - origin - client["start_seconds"]
        if late > NODES_MARGIN_SECONDS:
            raise EvaluationError(
                f"load generator {client['name']} began {late:.1f} s later than planned, so that "
                "it ended later than the others; record the run as failed"
            )


def require_decisions(
    lines: Iterable[str], planned: dict[str, Any], faults: list[dict[str, Any]], origin: float
) -> None:
    """Refuse a run whose policies did not decide to the end, or to the fault that ended them."""
    end = min([planned["phases"][-1]["end_seconds"], *(fault["start_seconds"] for fault in faults)])
    last: dict[str, float] = {}
    for decision in (json.loads(line)["decision"] for line in lines):
        at = epoch_seconds(decision["made_at"]) - origin
        last[decision["policy"]] = max(at, last.get(decision["policy"], at))
    for policy in planned.get("policies", []):
        at = last.get(policy["name"])
        if at is not None and at >= end - SILENCE_SECONDS:
            continue
        when = "never decided" if at is None else f"decided for the last time at {at:.1f} s"
        raise EvaluationError(
            f"policy {policy['name']} {when}, and was to until {end:g} s of the run: see the "
            "journal of the controller; record the run as failed"
        )


def require_timely_faults(planned: dict[str, Any], faults: list[dict[str, Any]]) -> None:
    """Refuse a run whose faults were made at another time than planned."""
    wanted = {fault["name"]: fault["at_seconds"] for fault in planned.get("faults", [])}
    for fault in faults:
        at, planned_at = fault["start_seconds"], wanted.get(fault["name"])
        if planned_at is not None and abs(at - planned_at) > FAULT_SECONDS:
            raise EvaluationError(
                f"fault {fault['name']} was made at {at:g} s of the run, and planned for "
                f"{planned_at:g} s; record the run as failed"
            )
