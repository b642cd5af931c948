"""Two folders of runs compared by the command, and what scripts get of a comparison."""

import json

from sluice_evaluation import cli
from sluice_evaluation.analysis import estimate_dict
from sluice_evaluation.inference import paired_ratio


def test_compare_two_folders(smoke_results, capsys):
    folder = smoke_results / "postgres-burst/smoke"
    arguments = ["compare", str(folder / "sluice_throttle"), str(folder / "stock0.1_throttle")]
    assert cli.main(arguments) == 0
    text = capsys.readouterr().out
    assert "latency_p99_seconds" in text and "lower" in text and "redo_seconds" in text
    assert cli.main([*arguments, "-o", "json"]) == 0
    rows = {row["metric"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["latency_p99_seconds"]["verdict"] == "lower"
    assert cli.main(["compare", str(folder), str(folder)]) == 2
    assert "holds no complete run" in capsys.readouterr().err


def test_compare_takes_the_same_latency_of_both(smoke_results, capsys):
    """Clients of the one cell had a schedule, those of the other did what they could."""
    scheduled = smoke_results / "postgres-burst/smoke/sluice_throttle"
    closed = smoke_results / "postgres-checkpoint/smoke/wal128_ct0.5_a_t10_throttle"

    def ratio(*arguments):
        assert cli.main(["compare", *map(str, arguments), "-o", "json"]) == 0
        rows = {row["metric"]: row for row in json.loads(capsys.readouterr().out)}
        return rows["latency_p99_seconds"]["ratio"]

    for sides in ((scheduled, closed), (closed, scheduled)):
        assert ratio(*sides) == ratio(*sides, "--latency", "measured")
    assert ratio(scheduled, scheduled) == 1


def test_a_ratio_to_nothing_is_null_for_scripts():
    made = estimate_dict(paired_ratio([1.0, 2.0, 3.0, 4.0], [0.0] * 4))
    assert (made["ratio"], made["upper"], made["verdict"]) == (None, None, "~")
    json.dumps(made, allow_nan=False)
