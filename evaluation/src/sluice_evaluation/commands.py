"""What the subcommands do: read, call, print."""

import argparse
import json
import operator
import sys
from typing import Any

from sluice_evaluation import (
    analysis,
    assemble,
    experiment,
    frozen_check,
    left_over,
    machine_speed,
    measurements,
    records,
)
from sluice_evaluation import freeze as freezing
from sluice_evaluation import plan as planning
from sluice_evaluation.claims import claim_rows
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.pooling import pooled
from sluice_evaluation.probes import fingerprint
from sluice_evaluation.probes import processors as processors_probe
from sluice_evaluation.progress import Overhead
from sluice_evaluation.schema import violations

GIGABYTE = 1e9
_OBSERVED_FORM = (
    'give {"environment": ..., "processors": ...} as fingerprint and processors print them'
)


def _print_json(document: Any) -> None:
    print(json.dumps(document, indent=1, ensure_ascii=False))


def plan(options: argparse.Namespace) -> int:
    """Print the runs that are left."""
    chosen = experiment.load(options.experiment, options.experiments)
    made = planning.make_plan(
        chosen,
        options.profile,
        records.load_all(options.results),
        options.results,
        options.budget_seconds,
        options.maximum_attempts,
    )
    if options.output_format == "json":
        _print_json(made)
        return 0
    for number, run in enumerate(made["runs"], 1):
        print(
            f"{number:4}  block {run['block']:2}  {run['estimated_seconds']:6.0f} s  {run['cell']}"
        )
    print(
        f"{made['experiment']} {made['profile']}, stage {made['stage']}: {len(made['runs'])} of "
        f"{made['runs_left_in_stage']} runs left, about {made['estimated_seconds'] / 60:.0f} min, "
        f"{made['disk_bytes'] / GIGABYTE:.1f} GB"
    )
    if made["runs_left_in_stage"]:
        print(Overhead(made["overhead_seconds"], made["overhead_runs_count"]).text)
    if made["runs_left_in_stage"] and not made["runs"]:
        print(f"the next block does not fit: --budget-seconds {made['next_block_seconds']:.0f}")
    if made["runs_given_up"]:
        print(f"{made['runs_given_up']} runs given up after repeated failure:")
        for failed in filter(operator.itemgetter("given_up"), made["failed"]):
            print(f"  {options.results / failed['record_directory']}")
        print("record.json there says why: remove these folders, and plan again")
        if made["stage"] == experiment.TUNE:
            print("or leave their cells out: sluice-evaluation freeze --without-failed")
    if made["freeze_needed"]:
        print("tuning is done: run sluice-evaluation freeze, and plan again")
    return 0


def freeze(options: argparse.Namespace) -> int:
    """Write down the best settings of the tuning stage."""
    chosen = experiment.load(options.experiment, options.experiments)
    frozen = freezing.choose(
        chosen, options.profile, records.load_all(options.results), options.without_failed
    )
    print(freezing.write(options.results, frozen))
    for choice in frozen["choices"]:
        for entry in choice.get("left_out", ()):
            print(f"left out: {entry['cell']}: {entry['because']}")
    return 0


def record(options: argparse.Namespace) -> int:
    """Make the raw output of a run into a record and print its folder."""
    made = planning.read(options.plan)
    planned = planning.find_run(made, options.cell, options.run_number)
    if (options.failed_step is None) != (options.failed_message is None):
        raise EvaluationError("give --failed-step and --failed-message together")
    if options.failed_step is not None:
        written = assemble.record_failure(
            made, planned, options.raw, options.results, options.failed_step, options.failed_message
        )
    else:
        written = assemble.record_run(made, planned, options.raw, options.results)
    print(written)
    return 0


def check(options: argparse.Namespace) -> int:
    """Check records, frozen settings and measurements; 1 when one is wrong or a run has none."""
    if not options.results.is_dir():
        raise EvaluationError(
            f"{options.results} is not a folder; "
            "give the one that holds EXPERIMENT/PROFILE/CELL/RUN"
        )
    found = [
        (path, kind.faults)
        for kind in (records, frozen_check, left_over, measurements)
        for path in kind.find(options.results)
    ]
    faults = [text for path, faults_of in found for text in faults_of(path, options.results)]
    for text in faults:
        print(text, file=sys.stderr)
    wrong = len({text.split(": ")[0] for text in faults})
    print(f"{len(found) - wrong} passed, {wrong} failed")
    return 1 if faults else 0


def report(options: argparse.Namespace) -> int:
    """Make the report and print its path, or check the one that is there."""
    # Figures need matplotlib, which takes a second to load: only here.
    from sluice_evaluation import report as reporting

    output = options.output or options.results / "report"
    if not options.check:
        print(reporting.write(options.results, options.experiments, output))
        return 0
    kinds = (records, measurements)
    if not output.exists() and not any(any(kind.find(options.results)) for kind in kinds):
        print(f"no records in {options.results}, and no report")
        return 0
    changed = reporting.differences(options.results, options.experiments, output)
    for name in changed:
        print(f"{output / name} is not what the records give", file=sys.stderr)
    print(f"{output}: " + ("run make report, and commit it" if changed else "up to date"))
    return 1 if changed else 0


def claims(options: argparse.Namespace) -> int:
    """Print the claims."""
    studies = analysis.studies(
        records.load_all(options.results), experiment.load_all(options.experiments)
    )
    rows = [row for study in studies for row in claim_rows(study)]
    if options.output_format == "json":
        _print_json([row.as_dict() for row in rows])
        return 0
    for row in rows:
        print(f"{row.status:8} {row.experiment} {row.profile}: {row.statement}")
        if row.scope_text:
            print(f"         {row.scope_text}")
        print(f"         expected {row.expected_text}, measured {row.measured_text}")
        for caution in row.cautions:
            print(f"         note: {caution}")
        print(f"         {row.command}  ({row.cost_text})")
    if not rows:
        print(f"no records in {options.results}")
    return 0


def pool(options: argparse.Namespace) -> int:
    """Print the ratios of several measurements."""
    found = pooled(measurements.load_all(options.results))
    if options.output_format == "json":
        _print_json([one.as_dict() for one in found])
        return 0
    for one in found:
        print(f"{one.status:8} {one.store} {one.version}: {one.figure.quantity}")
        expected = f"expected {one.figure.expected_text}, " if one.figure.expected else ""
        print(f"         {expected}measured {one.figure.value_text}")
        print(f"         {one.count_text}")
    if not found:
        print(f"no ratio in {options.results} was measured more than once on the same software")
    return 0


def compare(options: argparse.Namespace) -> int:
    """Compare two cells in all metrics that both have."""
    rows = analysis.compare_cells(options.a, options.b, options.latency)
    if options.output_format == "json":
        _print_json([row.as_dict() for row in rows])
        return 0
    width = max(len(row.metric) for row in rows)
    for row in rows:
        print(f"{row.metric:{width}}  {row.text}")
        for caution in row.cautions:
            print(f"{'':{width}}  note: {caution}")
    return 0


def processors(options: argparse.Namespace) -> int:
    """Judge a machine to measure on by itself and by what is recorded of it; 1 when it is bad."""
    if options.observed:
        document = _observed()
        environment, seen = document["environment"], document["processors"]
    else:
        environment, seen = fingerprint.fingerprint(), processors_probe.observe(options.duration)
    print(json.dumps(seen))
    known = machine_speed.on_same_processors(records.load_all(options.results), environment)
    best = machine_speed.fastest(machine_speed.observed_before(known))
    found = [
        *processors_probe.complaints(
            seen, options.most_stolen_share, options.most_spread, options.most_paused_share
        ),
        *machine_speed.complaints(seen, best, options.most_slowdown, options.results),
    ]
    for text in found:
        print(text, file=sys.stderr)
    return 1 if found else 0


def _observed() -> dict[str, Any]:
    try:
        document = json.load(sys.stdin)
    except json.JSONDecodeError as error:
        raise EvaluationError(f"standard input is not JSON: {error}; {_OBSERVED_FORM}") from error
    for name in ("environment", "processors"):
        part = document.get(name) if isinstance(document, dict) else None
        if wrong := violations(part, "record", name):
            raise EvaluationError(f"{name} of standard input: {wrong[0]}; {_OBSERVED_FORM}")
    return document
