"""What the measurement asks of replays, and how it reads them."""

from pathlib import Path

import pytest
import swr_replay
from replay_disks import ReplayDisks, models
from sluice_evaluation import write_trace
from swr_replay import SIDES, Replays, Side, figures_of


@pytest.fixture
def replays():
    disks = ReplayDisks(Path("/fast"), [Path("/slow0"), Path("/slow1")])
    what = write_trace.load(swr_replay.TRACES / "middle.yml")
    return Replays(Path("sluice"), disks, what, 1.0)


def test_each_step_stands_beside_none_with_one_slow_disk_and_with_two():
    assert len(SIDES) == len(set(SIDES)) == 12
    assert {side.slow_count for side in SIDES if side.step_ratio is None} == {1, 2}
    assert sorted(side.step_ratio for side in SIDES if side.step_ratio is not None) == sorted(
        2 * [0, 0.125, 0.25, 0.5, 1]
    )


def test_commands_have_the_settings_of_their_side(replays):
    without = replays.command(Path("t.csv"), Side(1, None))
    assert without[-1] == "--without"
    assert [word for word in without if word.startswith("--slow")] == ["--slow=/slow0"]
    redirected = replays.command(Path("t.csv"), Side(2, 0.25))
    assert redirected[-4:] == [
        "--slow=/slow1", "--queue-requests=8", "--size-quantile=0.9865", "--step-ratio=0.25",
    ]  # fmt: skip


def outcome(bytes_: float, seconds: float, redirected: float = 0.0) -> dict:
    fast = {"written_bytes": bytes_, "p99_seconds": seconds, "mean_seconds": seconds / 10}
    return {"fast": fast, "redirected_share": redirected, "latest_seconds": 0.001}


def test_figures_are_ratios_to_the_side_without_redirects():
    rounds = [
        {
            side: outcome(100 + n, side.slow_count * 0.1)
            if side.step_ratio is None
            else outcome((100 + n) * 0.4, side.slow_count * 0.05, 0.01)
            for side in SIDES
        }
        for n in range(4)
    ]
    figures = list(figures_of("trace", rounds))
    assert len(figures) == 2 * 2 + 10 * 4
    by_name = {figure.quantity: figure for figure in figures}
    written = by_name["trace, 2 slow disks, p = 1: bytes written to the fast disk, over without"]
    assert (written.value, written.status) == (pytest.approx(0.4), "met")
    p99 = by_name["trace, one slow disk, p = 0: p99 of writes to the fast disk, over without"]
    assert (p99.value, p99.status) == (pytest.approx(0.5), "met")
    late = by_name["trace, one slow disk: the latest request"]
    assert late.value == 0.001
    assert by_name["trace, 2 slow disks: p99 of writes, nothing redirected"].value == 0.2


def test_the_slow_disk_is_that_of_the_test_bed():
    fast, slow = models(1_000_000)
    assert fast["rate_bytes_per_second"] == 1_000_000
    assert fast["parameters"]["burstiness"] < 0.01
    assert slow["parameters"]["wdelay"] == "5ms"


def test_a_replay_that_fails_ends_the_measurement(replays, tmp_path):
    program = tmp_path / "sluice"
    program.write_text("#!/bin/sh\necho 'no room' >&2\nexit 1\n")
    program.chmod(0o755)
    failing = Replays(program, replays.disks, replays.what, 0.1)
    with pytest.raises(SystemExit, match="no room"):
        failing.round(1)
