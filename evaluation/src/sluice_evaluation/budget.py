"""How long runs take together, and which blocks of them fit into a time."""

from typing import Any

Runs = list[dict[str, Any]]


def seconds(runs: Runs, table: dict[str, Any]) -> float:
    """What these runs of a profile take, with the loads that they begin with."""
    return sum(run["estimated_seconds"] for run in runs) + _load_seconds(runs, table)


def guessed_overhead_seconds(table: dict[str, Any]) -> float:
    """What a run of a profile takes beyond its phases, by the experiment's file.

    With its own load, where it does not start from a copy.
    """
    estimate = table["estimate"]
    load_seconds = 0.0 if table["data"]["restore_from_copy"] else estimate["load_seconds"]
    return estimate["overhead_seconds"] + load_seconds


def fitting(blocks: list[Runs], table: dict[str, Any], most_seconds: float | None) -> list[Runs]:
    """The first blocks that fit into a time together; all of them without one."""
    if most_seconds is None:
        return blocks
    kept: list[Runs] = []
    for block in blocks:
        together = [run for one in [*kept, block] for run in one]
        if seconds(together, table) > most_seconds:
            break
        kept.append(block)
    return kept


def _load_seconds(runs: Runs, table: dict[str, Any]) -> float:
    if not table["data"]["restore_from_copy"]:
        return 0.0
    # One load for each variant; every run starts from a copy of it.
    return table["estimate"]["load_seconds"] * len({run["variant"] for run in runs})
