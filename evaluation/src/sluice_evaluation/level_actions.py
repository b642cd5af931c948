"""What the policy service-level did in a run, by the events of its record.

A step is the same order to every node, and a decision of each of them: it counts once.
"""

from dataclasses import dataclass
from typing import Any

POLICY = "service-level"
CACHE_SETTINGS = ("reserved_bytes", "added_bytes")
# Of the policy, unless it is told otherwise (docs/policies/service-level.md).
DECISION_SECONDS = 60.0
# Within so many decisions no action is to be undone.
REST_DECISIONS = 10


@dataclass(frozen=True)
class Action:
    """Cache of a scope set to `bytes`, or something else that was asked for."""

    seconds: float
    scope: str
    name: str
    bytes: float | None = None


def actions_of(events: list[dict[str, Any]], planned: dict[str, Any]) -> list[Action]:
    """The actions from the begin of the load to the end of the normal phase, by time."""
    policies = {p["name"] for p in planned.get("policies", []) if p["type"] == POLICY}
    end = planned["phases"][-1]["end_seconds"]
    decided = sorted(
        (e for e in events if e["kind"] == "decision" and e["name"] in policies),
        key=lambda event: event["start_seconds"],
    )
    given: dict[str, float] = {}
    found = []
    for event in decided:
        for action in _actions(event, given):
            if 0 <= action.seconds <= end:
                found.append(action)
    return found


def _actions(event: dict[str, Any], given: dict[str, float]) -> list[Action]:
    """Those of one decision; `given`, the cache that each scope had, is brought up to date."""
    attributes = event.get("attributes", {})
    scope, found = attributes.get("scope", ""), []
    if attributes.get("setting") in CACHE_SETTINGS:
        is_now, was = attributes["number"], given.get(scope, 0.0)
        given[scope] = is_now
        if is_now != was:
            name = "grow-cache" if is_now > was else "shrink-cache"
            found.append(Action(event["start_seconds"], scope, name, is_now))
    if asked := attributes.get("action"):
        found.append(Action(event["start_seconds"], scope, asked))
    return found


def metrics(events: list[dict[str, Any]], planned: dict[str, Any]) -> dict[str, float]:
    """How many there were of each kind and were undone; nothing without service levels."""
    if not planned.get("service_levels"):
        return {}
    actions = actions_of(events, planned)
    names = [action.name for action in actions]
    return {
        "actions_count": float(len(actions)),
        "cache_steps_count": float(names.count("grow-cache")),
        "nodes_asked_for_count": float(names.count("add-node")),
        "undone_actions_count": float(_undone(actions, _decision_seconds(planned))),
    }


def _decision_seconds(planned: dict[str, Any]) -> float:
    return max(
        policy["parameters"].get("decision_seconds", DECISION_SECONDS)
        for policy in planned["policies"]
        if policy["type"] == POLICY
    )


def _undone(actions: list[Action], decision_seconds: float) -> int:
    """Changes of the cache of a scope that one in the other direction follows too soon."""
    undone = 0
    for index, action in enumerate(actions):
        undone += any(
            later.scope == action.scope
            and later.seconds - action.seconds < REST_DECISIONS * decision_seconds
            and {later.name, action.name} == {"grow-cache", "shrink-cache"}
            for later in actions[index + 1 :]
        )
    return undone
