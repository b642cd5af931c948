"""Traces have what is known of the server that they are drawn from."""

import itertools
from pathlib import Path

import numpy as np
import pytest
import yaml
from sluice_evaluation import write_trace
from sluice_evaluation.cli import main
from sluice_evaluation.errors import EvaluationError

TRACES = sorted((Path(__file__).resolve().parents[1] / "write-traces").glob("*.yml"))
REQUESTS = 200_000


@pytest.fixture(params=TRACES, ids=lambda path: path.stem)
def characteristics(request):
    return write_trace.load(request.param)


@pytest.fixture
def drawn(characteristics):
    requests = itertools.islice(write_trace.draw(characteristics, 1e9, 7), REQUESTS)
    return list(zip(*requests, strict=True))


def test_there_are_traces():
    assert len(TRACES) == 5
    assert all(write_trace.load(path).document["name"] == path.stem for path in TRACES)


def test_numbers_of_a_file_agree(characteristics):
    largest = characteristics.document["largest"]
    share = characteristics.bytes_share_of_largest(largest["requests_share"])
    assert share == pytest.approx(largest["bytes_share"], abs=0.005)


def test_sizes_are_those_of_the_file(characteristics, drawn):
    sizes = np.array(drawn[2])
    for point in (0.25, 0.5, 0.9, 0.999):
        wanted = characteristics.size_quantile(point)
        assert np.quantile(sizes, point) == pytest.approx(wanted, rel=0.05), point
    assert sizes.min() >= 4096
    assert sizes.mean() == pytest.approx(characteristics.mean_bytes, rel=0.05)


def test_the_largest_requests_hold_what_is_published(characteristics, drawn):
    largest = characteristics.document["largest"]
    sizes = np.sort(drawn[2])[::-1]
    held = sizes[: round(largest["requests_share"] * REQUESTS)].sum() / sizes.sum()
    assert held == pytest.approx(largest["bytes_share"], abs=0.02)


def test_times_between_requests_are_those_of_the_file(characteristics, drawn):
    gaps = np.diff(drawn[0])
    wanted = characteristics.document["interarrival"]
    assert gaps.mean() == pytest.approx(wanted["mean_seconds"], rel=0.03)
    assert gaps.var() / gaps.mean() ** 2 == pytest.approx(wanted["squared_variation"], rel=0.05)


def test_reads_are_as_many_as_the_file_says(characteristics, drawn):
    share = drawn[1].count("write") / REQUESTS
    assert share == pytest.approx(characteristics.document["write_share"], abs=0.005)


def test_a_seed_gives_the_same_trace(capsys):
    texts = []
    for seed in ("1", "1", "2"):
        assert main(["trace", str(TRACES[0]), "--seconds", "0.5", "--seed", seed]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]
    header, *rows = texts[0].splitlines()
    assert header == "seconds,operation,bytes"
    assert all(float(row.split(",")[0]) < 0.5 for row in rows)
    assert len(rows) > 100


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"request_bytes": [{"share": 0, "bytes": 9}, {"share": 1, "bytes": 8}]}, "neither they"),
        ({"request_bytes": [{"share": 0.1, "bytes": 8}, {"share": 1, "bytes": 9}]}, "from 0 to 1"),
        ({"write_share": 0}, "write_share"),
        ({"interarrival": {"mean_seconds": 1, "squared_variation": 0.5}}, "squared_variation"),
        ({"sizes": []}, "sizes"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path, change, complaint):
    path = tmp_path / "trace.yml"
    path.write_text(yaml.safe_dump(yaml.safe_load(TRACES[0].read_text()) | change))
    with pytest.raises(EvaluationError, match=complaint):
        write_trace.load(path)


def test_a_missing_file_is_told(tmp_path, capsys):
    assert main(["trace", str(tmp_path / "none.yml")]) == 2
    assert "cannot be read" in capsys.readouterr().err
