"""What the control plane did in a run, and what was done to it, as events of its record."""

import json
from pathlib import Path
from typing import Any

from sluice_evaluation import run_checks
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.records import epoch_seconds

# As `sluice watch decisions -o json` writes them.
DECISIONS = "decisions.jsonl"
# A line for each: name, and epoch_seconds when it was made.
FAULTS = "faults.jsonl"


def of_run(raw: Path, planned: dict[str, Any], origin: float) -> list[dict[str, Any]]:
    """What the controller changed, stopped or asked for, and the faults; the file has everything.

    EvaluationError when policies did not run as planned, or faults were not made then.
    """
    path = raw / DECISIONS
    lines = path.read_text().splitlines() if path.exists() else []
    made = _faults(raw, planned, origin)
    run_checks.require_timely_faults(planned, made)
    run_checks.require_decisions(lines, planned, made, origin)
    decisions = [
        _decision_event(decision, origin)
        for decision in (json.loads(line)["decision"] for line in lines)
        if decision["verdict"] != "VERDICT_KEEP" or decision.get("action")
    ]
    return decisions + made


def _faults(raw: Path, planned: dict[str, Any], origin: float) -> list[dict[str, Any]]:
    """The faults of the plan; EvaluationError when one of them was not made."""
    path = raw / FAULTS
    lines = path.read_text().splitlines() if path.exists() else []
    made = {fault["name"]: fault for fault in map(json.loads, lines)}
    if missing := [f["name"] for f in planned.get("faults", []) if f["name"] not in made]:
        raise EvaluationError(
            f"these faults were not made: {', '.join(missing)}; record the run as failed"
        )
    events = []
    for name, fault in made.items():
        seconds = round(fault["epoch_seconds"] - origin, 3)
        moment = {"start_seconds": seconds, "end_seconds": seconds}
        events.append({"kind": "fault", "name": name, **moment, "attributes": {}})
    return events


def _decision_event(decision: dict[str, Any], origin: float) -> dict[str, Any]:
    seconds = round(epoch_seconds(decision["made_at"]) - origin, 3)
    setting = decision.get("setting", {})
    attributes = {
        "verdict": decision["verdict"].removeprefix("VERDICT_").lower(),
        "setting": setting.get("name", ""),
        "reason": decision["reason"],
    }
    # Not in records from before there were any.
    attributes |= {name: decision[name] for name in ("scope", "action") if decision.get(name)}
    if "number" in setting:
        attributes["number"] = setting["number"]
    return {
        "kind": "decision",
        "name": decision["policy"],
        "start_seconds": seconds,
        "end_seconds": seconds,
        "attributes": attributes,
    }
