"""The command sluice-evaluation."""

import argparse
import sys
from pathlib import Path

from sluice_evaluation import commands, write_trace
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.experiment import DEFAULT_DIRECTORY
from sluice_evaluation.machine_speed import MOST_SLOWDOWN_RATIO
from sluice_evaluation.probes import fingerprint, processors, sampler, timeline

EPILOG = """\
A whole evaluation, as ansible/playbooks/evaluate.yml runs it:
  sluice-evaluation plan postgres-burst --profile small -o json > plan.json
  (for each run of the plan: bring up, load, drive, collect into a raw folder)
  sluice-evaluation record --plan plan.json --cell CELL --run N --raw RAW
  sluice-evaluation freeze postgres-burst --profile small    (when the plan says freeze_needed)
  sluice-evaluation check && sluice-evaluation report
docs/evaluation.md defines the raw folder, the records and every number of the report.
"""


def _command(
    commands_: argparse._SubParsersAction, name: str, what: str
) -> argparse.ArgumentParser:
    return commands_.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")


def _experiment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("experiment", metavar="EXPERIMENT", help="a name, or the path of its file")
    parser.add_argument("--profile", required=True, help="smoke, small, paper, ...")
    _experiments(parser)
    _results(parser)


def _experiments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--experiments", type=Path, default=DEFAULT_DIRECTORY, metavar="DIR",
        help="folder of the experiments' files (default: %(default)s)",
    )  # fmt: skip


def _results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--results", type=Path, default=Path("results"), metavar="DIR",
        help="folder of the records (default: %(default)s)",
    )  # fmt: skip


def _output_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output-format", choices=("text", "json"), default="text", help="default: text"
    )


def _planning(subcommands: argparse._SubParsersAction) -> None:
    plan = _command(subcommands, "plan", "print the runs that are left, in the order to run them")
    _experiment(plan)
    _output_format(plan)
    plan.add_argument(
        "--budget-seconds", type=float, metavar="SECONDS",
        help="end with the last whole block that fits into so much time",
    )  # fmt: skip
    plan.add_argument(
        "--maximum-attempts", type=int, default=2, metavar="N",
        help="give a run up after so many failures (default: %(default)s)",
    )  # fmt: skip
    plan.set_defaults(run=commands.plan)
    freeze = _command(subcommands, "freeze", "write down the best settings of the tuning stage")
    _experiment(freeze)
    freeze.add_argument(
        "--without-failed", action="store_true",
        help="leave out the cells of which a run failed; the report names them",
    )  # fmt: skip
    freeze.set_defaults(run=commands.freeze)


def _recording(subcommands: argparse._SubParsersAction) -> None:
    record = _command(subcommands, "record", "make the raw output of a run into a record, once")
    record.add_argument("--plan", type=Path, required=True, metavar="FILE", help="plan -o json")
    record.add_argument("--cell", required=True)
    record.add_argument("--run", type=int, required=True, dest="run_number", metavar="N")
    record.add_argument("--raw", type=Path, required=True, metavar="DIR")
    record.add_argument("--failed-step", metavar="STEP", help="the run failed, in this step")
    record.add_argument("--failed-message", metavar="TEXT", help="what the step said")
    _results(record)
    record.set_defaults(run=commands.record)
    check = _command(subcommands, "check", "check every record, and the settings frozen from them")
    check.add_argument("results", type=Path, nargs="?", default=Path("results"), metavar="DIR")
    check.set_defaults(run=commands.check)


def _probing(subcommands: argparse._SubParsersAction) -> None:
    print_ = _command(subcommands, "fingerprint", "print hardware, kernel, clock and versions")
    print_.add_argument("-o", "--output-format", choices=("json",), default="json")
    print_.set_defaults(run=lambda _: fingerprint.main([]))
    alone = _command(
        subcommands,
        "processors",
        "see whether other guests of the host use the processors, caches and memory too",
    )
    processors.add_arguments(alone)
    alone.add_argument(
        "--most-slowdown", type=float, default=MOST_SLOWDOWN_RATIO, metavar="RATIO",
        help="fail when work took more than so many times the processor time that it took before "
        "the fastest recorded run on such processors; inf never fails (default: %(default)g)",
    )  # fmt: skip
    alone.add_argument(
        "--observed", action="store_true",
        help="do not look at this machine but judge what standard input says of another: "
        'JSON {"environment": what fingerprint prints there, "processors": what this prints}',
    )  # fmt: skip
    _results(alone)
    alone.set_defaults(run=commands.processors)
    sample = _command(subcommands, "sample", "sample CPU, memory, disks and pressure until SIGTERM")
    sampler.add_arguments(sample)
    sample.set_defaults(run=sampler.run)
    follow = _command(subcommands, "timeline", "start commands at given seconds and log them")
    timeline.add_arguments(follow)
    follow.set_defaults(run=timeline.run)
    trace = _command(
        subcommands, "trace", "draw a trace of writes as CSV, from what is known of a server"
    )
    write_trace.add_arguments(trace)
    trace.set_defaults(run=write_trace.run)


def _reporting(subcommands: argparse._SubParsersAction) -> None:
    report = _command(subcommands, "report", "make the static report from the records alone")
    _experiments(report)
    _results(report)
    report.add_argument(
        "--output", type=Path, metavar="DIR", help="default: the folder report inside --results"
    )
    report.add_argument(
        "--check", action="store_true", help="write nothing; fail when the report is out of date"
    )
    report.set_defaults(run=commands.report)
    claims = _command(
        subcommands, "claims", "print each claim with its expected and measured range"
    )
    _experiments(claims)
    _results(claims)
    _output_format(claims)
    claims.set_defaults(run=commands.claims)
    together = _command(
        subcommands, "pool", "print each ratio that was measured more than once, all taken together"
    )
    _results(together)
    _output_format(together)
    together.set_defaults(run=commands.pool)
    compare = _command(subcommands, "compare", "compare two cells, A over B, run by run")
    compare.add_argument("a", metavar="A", type=Path, help="folder of a cell's runs")
    compare.add_argument("b", metavar="B", type=Path, help="folder of the cell to divide by")
    compare.add_argument(
        "--latency", choices=("measured", "intended"), help="default: intended if both have it"
    )
    _output_format(compare)
    compare.set_defaults(run=commands.compare)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="sluice-evaluation", description="Plans experiments, keeps run records, "
        "and reports them with intervals.", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    subcommands = top.add_subparsers(required=True, metavar="COMMAND")
    for add in (_planning, _recording, _probing, _reporting):
        add(subcommands)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 2 for what the caller can put right."""
    options = parser().parse_args(arguments)
    try:
        return options.run(options)
    except EvaluationError as error:
        print(f"sluice-evaluation: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader, such as head, has seen enough.
        sys.stderr.close()
        return 0
