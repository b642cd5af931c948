"""Measurements: numbered and never overwritten, judged by their interval, shown in the report."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice_evaluation import cli, measurements, report
from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.measurements import Figure
from sluice_evaluation.probes.fingerprint import fingerprint

FIGURES = [
    Figure("time to effect, p99", "s", 0.0038, expected={"max": 0.05}, values=[0.001, 0.0038]),
    Figure("throughput over <stock>", "1", 1.002, 0.995, 1.015, {"min": 0.99, "max": 1.01}),
    Figure("pace of the glide", "bytes/s", 6_600_000),
]


@pytest.fixture
def document():
    return {
        "schema_version": 1,
        "store": "postgres",
        "version": "17.11",
        "name": "order-to-effect",
        "title": "Orders to a running checkpoint",
        "command": "python plugins/postgres/bench/order_to_effect.py",
        "started_at": "2020-01-01T00:00:00.000Z",
        "ended_at": "2020-01-01T00:01:00.000Z",
        "environment": fingerprint(),
        "software": {"labels": {"dev.sluice.upstream.version": "17.11"}},
        "figures": measurements.figures_document(FIGURES),
    }


@pytest.mark.parametrize(
    ("value", "low", "high", "expected", "status"),
    [
        (1, None, None, None, ""),
        (1, None, None, {"max": 1}, "met"),
        (1.1, None, None, {"max": 1}, "missed"),
        (1, 0.9, 1.1, {"max": 1}, "~"),
        (0.5, 0.4, 0.6, {"max": 1}, "met"),
        (1, 0.995, 1.005, {"min": 0.99, "max": 1.01}, "met"),
        (1.2, 1.1, 1.3, {"min": 0.9, "max": 1.01}, "missed"),
        (0.8, 0.7, 0.85, {"min": 0.9}, "missed"),
    ],
)
def test_the_whole_interval_decides(value, low, high, expected, status):
    assert Figure("q", "1", value, low, high, expected).status == status


def test_texts_have_units_and_intervals():
    assert [f.value_text for f in FIGURES] == ["3.80 ms", "1.0020 (0.9950 to 1.0150)", "6.60 MB/s"]
    assert [f.expected_text for f in FIGURES] == [
        "at most 50.0 ms",
        "at least 0.9900, at most 1.0100",
        "",
    ]


def test_each_one_gets_a_number_of_its_own(document, tmp_path):
    first = measurements.write(tmp_path, document)
    before = first.read_bytes()
    document["figures"][0]["value"] = 0.004
    second = measurements.write(tmp_path, document)
    assert [first.name, second.name] == ["01.json", "02.json"]
    assert first.read_bytes() == before
    ((_, latest),) = measurements.by_name(measurements.load_all(tmp_path))
    assert latest.path == second
    assert latest.figures[1:] == FIGURES[1:]


def test_the_hundredth_is_followed_by_another_one(document, tmp_path):
    first = measurements.write(tmp_path, document)
    first.rename(first.with_name("99.json"))
    written = [measurements.write(tmp_path, document) for _ in range(2)]
    assert [path.name for path in written] == ["100.json", "101.json"]
    found = measurements.load_all(tmp_path)
    assert [measurement.path.name for measurement in found] == ["99.json", "100.json", "101.json"]
    assert measurements.by_name(found)[0][-1].path == written[-1]


def test_two_that_end_at_once_get_two_numbers(document, tmp_path, monkeypatch):
    link, others = measurements.Path.hardlink_to, []

    def taken_before(path, staged):
        if not others:
            others.append(path)
            path.write_text("of another program")
        link(path, staged)

    monkeypatch.setattr(measurements.Path, "hardlink_to", taken_before)
    assert measurements.write(tmp_path, document).name == "02.json"
    assert others[0].read_text() == "of another program"
    assert {path.name for path in others[0].parent.iterdir()} == {"01.json", "02.json"}


def test_what_breaks_the_schema_is_not_written(document, tmp_path):
    document["figures"][0]["unit"] = "ms"
    with pytest.raises(EvaluationError, match="'ms' is not one of"):
        measurements.write(tmp_path, document)
    assert not list(tmp_path.rglob("*.json"))


@given(st.sampled_from(["", "{", "[]", "{}", '{"schema_version": 2}']))
def test_check_tells_what_is_wrong(tmp_path_factory, text):
    results = tmp_path_factory.mktemp("results")
    path = results / "measurements/postgres-17.11/order-to-effect/01.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert measurements.faults(path, results)
    assert cli.main(["check", str(results)]) == 1


def test_check_finds_one_in_the_wrong_place(document, tmp_path, capsys):
    path = measurements.write(tmp_path, document)
    assert cli.main(["check", str(tmp_path)]) == 0
    moved = path.parent.with_name("other")
    path.parent.rename(moved)
    assert cli.main(["check", str(tmp_path)]) == 1
    assert "but is of measurements/postgres-17.11/order-to-effect" in capsys.readouterr().err


def test_the_report_shows_the_latest_with_a_link(document, tmp_path, experiments_folder):
    measurements.write(tmp_path, document)
    path = measurements.write(tmp_path, document)
    written = report.write(tmp_path, experiments_folder, tmp_path / "report")
    page = written.read_text()
    assert page.count("Orders to a running checkpoint") == 1
    assert "Throughput over &lt;stock&gt;" in page
    assert f'href="../{path.relative_to(tmp_path)}"' in page
    assert "1.0020 (0.9950 to 1.0150)" in page
    assert "There are no records yet" not in page


def test_the_report_tells_of_those_before_the_latest(document, tmp_path, experiments_folder):
    document["figures"][0]["value"] = 0.06
    measurements.write(tmp_path, document)
    page = report.write(tmp_path, experiments_folder, tmp_path / "report").read_text()
    assert "The last of" not in page
    document["figures"][0]["value"] = 0.0038
    measurements.write(tmp_path, document)
    last = measurements.write(tmp_path, document)
    page = report.write(tmp_path, experiments_folder, tmp_path / "report").read_text()
    folder = f"../{last.parent.relative_to(tmp_path)}"
    assert (
        f'The last of 3; before it <a href="{folder}/01.json">01</a> (missed: time to effect, p99),'
        f' <a href="{folder}/02.json">02</a></p>'
    ) in page


def test_the_report_refuses_one_that_is_wrong(document, tmp_path, experiments_folder):
    path = measurements.write(tmp_path, document)
    damaged = json.loads(path.read_text())
    del damaged["environment"]["cpu"]
    path.write_text(json.dumps(damaged))
    with pytest.raises(EvaluationError, match="'cpu' is a required property"):
        report.write(tmp_path, experiments_folder, tmp_path / "report")
