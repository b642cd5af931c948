"""Several measurements of one ratio: weights, what they differ by, and which belong together."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from sluice_evaluation import cli, measurements, report
from sluice_evaluation.bench.ratios import ratio_figure
from sluice_evaluation.inference import paired_ratio
from sluice_evaluation.measurements import Figure, Measurement
from sluice_evaluation.pooling import pooled
from sluice_evaluation.probes.fingerprint import fingerprint

RATIO = "read-only, patched: throughput over stock"
LABELS = {"dev.sluice.upstream.version": "17.11"}
# Of Student's t with 1, 2 and 60 degrees of freedom.
T_QUANTILE_1, T_QUANTILE_2, T_QUANTILE_60 = 12.706205, 4.302653, 2.000298


def measured(figures, labels=LABELS, name="throughput"):
    document = {
        "schema_version": 1,
        "store": "postgres",
        "version": "17.11",
        "name": name,
        "title": "Throughput",
        "command": "python plugins/postgres/bench/overhead.py",
        "started_at": "2020-01-01T00:00:00.000Z",
        "ended_at": "2020-01-01T00:01:00.000Z",
        "software": {"labels": labels},
        "figures": measurements.figures_document(figures),
    }
    return Measurement(Path(f"{name}.json"), document)


def ratio(value, error, expected=None):
    """A ratio of 61 pairs with a standard error."""
    half_width = T_QUANTILE_60 * error
    return Figure(RATIO, "1", value, value - half_width, value + half_width, expected, [value] * 61)


def test_ratios_that_agree_are_weighted_by_their_variance():
    (found,) = pooled([measured([ratio(1.00, 0.01)]), measured([ratio(1.01, 0.02)])])
    # Weights 4 to 1, and 1 / (1 / 0.01**2 + 1 / 0.02**2) for the variance.
    assert found.figure.value == pytest.approx(1.002)
    # They are nearer than their scatter lets expect, which makes nothing narrower.
    half_width = T_QUANTILE_1 * math.sqrt(1 / 12_500)
    assert found.figure.low == pytest.approx(1.002 - half_width, rel=1e-6)
    assert found.figure.high == pytest.approx(1.002 + half_width, rel=1e-6)
    assert (found.measurements, found.values, found.between) == (2, 122, 0)


def test_what_measurements_differ_by_widens_the_interval():
    (found,) = pooled([measured([ratio(0.9, 0.01)]), measured([ratio(1.1, 0.01)])])
    # Two equal weights: Q = 0.2**2 / (2 * 0.01**2) = 200, scale = 1 / 0.01**2.
    assert found.between == pytest.approx(math.sqrt(199 * 0.01**2))
    assert found.figure.value == pytest.approx(1.0)
    assert found.figure.high - found.figure.low > 0.2


def test_the_interval_is_students_over_the_measurements():
    (found,) = pooled([measured([ratio(value, 1e-4)]) for value in (0.9, 1.0, 1.1)])
    # Their own scatter is next to nothing: mean and standard error of the three values.
    half_width = T_QUANTILE_2 * 0.1 / math.sqrt(3)
    assert found.figure.value == pytest.approx(1.0)
    assert found.figure.high == pytest.approx(1.0 + half_width, rel=1e-4)


@pytest.mark.parametrize(("value", "status"), [(1.0, "met"), (2.0, "missed")])
def test_two_measurements_judge_nothing(value, status):
    one = measured([ratio(value, 1e-5, {"min": 0.99, "max": 1.01})])
    (three,) = pooled([one] * 3)
    (two,) = pooled([one] * 2)
    assert (three.status, two.status) == (status, "~")
    assert two.as_dict()["status"] == "~"
    (unbounded,) = pooled([measured([ratio(value, 1e-5)])] * 2)
    assert unbounded.status == ""


def test_the_whole_interval_decides_by_the_bounds_of_the_last_one():
    bounds = {"min": 0.99, "max": 1.01}
    one = ratio(1.0, 0.006, bounds)
    assert one.status == "~"
    (found,) = pooled([measured([one])] * 4)
    assert found.status == "met"


@pytest.mark.parametrize(
    "figure",
    [
        Figure(RATIO, "1", 1.0, values=[1.0, 1.0]),
        Figure(RATIO, "1", 1.0, 1.0, 1.0, values=[1.0, 1.0]),
        Figure(RATIO, "s", 1.0, 0.9, 1.1, values=[1.0, 1.0]),
        Figure(RATIO, "1", 1.0, 0.9, 1.1),
    ],
    ids=["no interval", "no scatter", "no ratio", "no values"],
)
def test_other_figures_are_left_alone(figure):
    assert pooled([measured([figure])] * 2) == []


def test_those_without_an_interval_are_counted():
    noisy = ratio_figure(RATIO, [1.0, -9.0, 9.0], [0.1, 5.0, -5.0])
    assert noisy.low is None
    known = [measured([ratio(value, 0.01)]) for value in (0.99, 1.0, 1.01)]
    (found,) = pooled([*known, measured([noisy])])
    assert (found.measurements, found.without_interval) == (3, 1)
    assert found.figure == pooled(known)[0].figure
    assert found.count_text.endswith("183 values; 1 more had no interval, and no part in it")
    assert found.as_dict()["without_interval"] == 1


def test_other_software_is_another_ratio():
    changed = LABELS | {"dev.sluice.plugin.sha256": "0" * 64}
    one, other = measured([ratio(1.0, 0.01)]), measured([ratio(0.9, 0.01)], changed)
    assert pooled([one, other]) == []
    (found,) = pooled([one, other, one])
    assert found.figure.value == pytest.approx(1.0)


def test_the_name_of_the_measurement_does_not_matter():
    few = measured([ratio(1.0, 0.01)], name="throughput-patched")
    assert len(pooled([measured([ratio(1.0, 0.01)]), few])) == 1


@pytest.mark.parametrize("between", [0, 0.014], ids=["agreeing", "twice their scatter"])
def test_the_interval_covers_the_truth_as_often_as_it_says(between):
    random = np.random.default_rng(1)
    covered = 0
    trials = 1000
    for _ in range(trials):
        figures = []
        for rounds in (15, 20, 30):
            # The standard error of a ratio is 0.0067 over 20 rounds.
            stock, truth = random.normal(100, 3, rounds), random.normal(0.98, between)
            estimate = paired_ratio(stock * truth + random.normal(0, 3, rounds), stock)
            figures.append(
                Figure(RATIO, "1", estimate.ratio, estimate.lower, estimate.upper,
                       values=[1.0] * rounds)
            )  # fmt: skip
        (found,) = pooled([measured([figure]) for figure in figures])
        covered += found.figure.low <= 0.98 <= found.figure.high
    # Where measurements agree it is wider than it needs to be: that they do is not known.
    assert covered / trials >= 0.93


@pytest.fixture
def results(tmp_path):
    for value in (0.998, 1.001, 0.9995):
        document = measured([ratio(value, 0.002, {"min": 0.99, "max": 1.01})]).document
        measurements.write(tmp_path, document | {"environment": fingerprint()})
    return tmp_path


def test_the_command_prints_ratio_bound_and_count(results, capsys):
    assert cli.main(["pool", "--results", str(results)]) == 0
    printed = capsys.readouterr().out
    assert "met      postgres 17.11: read-only, patched: throughput over stock" in printed
    assert "expected at least 0.9900, at most 1.0100, measured 0.9995 (0.9945 to 1.0045)" in printed
    assert "3 measurements, 183 values" in printed


def test_scripts_can_read_it(results, capsys):
    assert cli.main(["pool", "--results", str(results), "-o", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["status"] == "met"
    assert found["figure"]["quantity"] == RATIO
    assert found["measurements"] == 3


def test_nothing_to_take_together_is_said(tmp_path, capsys):
    assert cli.main(["pool", "--results", str(tmp_path)]) == 0
    assert "more than once" in capsys.readouterr().out


def test_the_report_shows_it_below_the_measurements(results, experiments_folder):
    page = report.write(results, experiments_folder, results / "report").read_text()
    assert page.index("Measured more than once") > page.index("Read-only, patched")
    assert "3 measurements, 183 values" in page
