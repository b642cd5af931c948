"""Run upstream's own tests on a build of the release with upstream's test support.

The suites and modes are those of the store's recipe.toml; a mode says what the plug-in does while
the suite runs. As root, the tests run as the user that the recipe names. With --compare they also
run on the stock build, and the same tests have to pass on both.
"""

import argparse

from sluice_dist.commands._arguments import add_output, add_release, named_release, print_json
from sluice_dist.errors import DistError
from sluice_dist.layout import Layout
from sluice_dist.recipe import Recipe, Suite
from sluice_dist.release import Release, find_release
from sluice_dist.suite_run import SuiteResult, SuiteRun, differences

ABSENT = "absent"


def add_parser(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    add_release(parser, variant=True)
    parser.add_argument(
        "--suite",
        action="append",
        metavar="SUITE",
        help="a suite of the recipe, or all; may be repeated (default: all)",
    )
    parser.add_argument(
        "--mode",
        action="append",
        metavar="MODE",
        help="a mode of the recipe, or all; may be repeated (default: absent)",
    )
    parser.add_argument("--compare", action="store_true", help="also run on the stock build")
    parser.add_argument("-j", "--jobs", type=int, help="jobs at a time (default: one per core)")
    add_output(parser)


def run(arguments: argparse.Namespace, layout: Layout) -> int:
    """Run the suites and print their results."""
    release = named_release(arguments, layout)
    recipe = Recipe.load(release)
    suites = _suites(arguments.suite or ["all"], recipe, release)
    modes = _modes(arguments.mode or [ABSENT], recipe, release)
    runner = SuiteRun(release, arguments.jobs)
    runner.prepare()
    results = [runner.run(suite, mode) for suite, mode in _pairs(suites, modes)]
    comparisons = _compare(release, results, recipe, arguments.jobs) if arguments.compare else []
    if arguments.output == "json":
        print_json({"runs": [result.summary() for result in results], "comparisons": comparisons})
    else:
        _print(results, comparisons)
    good = all(result.succeeded for result in results)
    return 0 if good and all(comparison["same"] for comparison in comparisons) else 1


def _suites(names: list[str], recipe: Recipe, release: Release) -> list[Suite]:
    known = [suite for suite in recipe.suites.values() if suite.stock or release.variant != "stock"]
    if names == ["all"]:
        return [suite for suite in known if not suite.part_of]
    return [_named(name, {suite.name: suite for suite in known}, "suite") for name in names]


def _modes(names: list[str], recipe: Recipe, release: Release) -> list[str]:
    known = [mode for mode in recipe.modes if mode == ABSENT or release.variant != "stock"]
    if names == ["all"]:
        return known
    return [_named(name, {mode: mode for mode in known}, "mode") for name in names]


def _named(name: str, known: dict, what: str):
    if name not in known:
        raise DistError(f"there is no {what} '{name}' here", f"choose one of: {', '.join(known)}")
    return known[name]


def _pairs(suites: list[Suite], modes: list[str]) -> list[tuple[Suite, str]]:
    # The plug-in's own suite loads it as it likes, so once is enough.
    return [(suite, mode) for mode in modes for suite in suites if suite.stock or mode == modes[0]]


def _compare(release: Release, results: list[SuiteResult], recipe: Recipe, jobs) -> list[dict]:
    name = f"{release.store}/{release.version}"
    stock = SuiteRun(find_release(release.layout, name, "stock"), jobs)
    stock.prepare()
    compared = [result for result in results if recipe.suites[result.suite].stock]
    suites = dict.fromkeys(result.suite for result in compared)
    expected = {suite: stock.run(recipe.suites[suite], ABSENT) for suite in suites}
    return [_comparison(result, expected[result.suite]) for result in compared]


def _comparison(patched: SuiteResult, stock: SuiteResult) -> dict:
    only_patched, only_stock = differences(patched.results, stock.results)
    return {
        "suite": patched.suite,
        "mode": patched.mode,
        "passed_patched": len(patched.results.passed),
        "passed_stock": len(stock.results.passed),
        "same": not only_patched and not only_stock,
        "only_patched": only_patched,
        "only_stock": only_stock,
        "stock": stock.summary(),
    }


def _print(results: list[SuiteResult], comparisons: list[dict]) -> None:
    for result in results:
        counts = f"{len(result.results.passed)} passed, {len(result.results.failed)} failed, "
        counts += f"{len(result.results.skipped)} skipped, {result.seconds:.0f} s"
        print(f"{result.variant} {result.suite} ({result.mode}): {counts}")
        for name in result.results.failed:
            print(f"  failed: {name}  (log {result.log})")
    for comparison in comparisons:
        verdict = "the same tests pass" if comparison["same"] else "DIFFERENT tests pass"
        counts = f"{comparison['passed_patched']} and {comparison['passed_stock']}"
        print(
            f"patched ({comparison['mode']}) and stock {comparison['suite']}: {verdict}, {counts}"
        )
        for side in ("only_patched", "only_stock"):
            for name in comparison[side]:
                print(f"  {side.replace('_', ' ')}: {name}")
    passed = sum(len(result.results.passed) for result in results)
    failed = sum(len(result.results.failed) for result in results)
    different = sum(not comparison["same"] for comparison in comparisons)
    print(f"{passed} passed, {failed + different} failed")
