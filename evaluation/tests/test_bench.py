"""What programs of plugins/STORE/bench share: waiting, turns, ratios, their command line."""

import argparse
import json
import math
import os
import random
import signal
import sys
from pathlib import Path

import pytest
from sluice_evaluation.bench import callgrind, command_line, staged, turns
from sluice_evaluation.bench.command_line import Store, at_least, measurement_parser, report
from sluice_evaluation.bench.processor_time import processor_seconds
from sluice_evaluation.bench.ratios import near_one, ratio_figure, shown_difference
from sluice_evaluation.bench.turns import TurnTaker, lasting_seconds, take_turns
from sluice_evaluation.bench.waiting import wait_until
from sluice_evaluation.measurements import Figure

STORE = Store("hbase", "HBase", "2.6.4-hadoop3")


class Signals:
    """A process that notes the signals it gets."""

    def __init__(self):
        self.got = []

    def send_signal(self, number):
        self.got.append(number)


def test_waiting_ends_with_the_condition_or_tells_what_did_not_happen():
    answers = iter([False, False, True])
    wait_until(lambda: next(answers), "the third answer", interval_seconds=0)
    with pytest.raises(TimeoutError, match="in vain: pigs that fly"):
        wait_until(lambda: False, "pigs that fly", interval_seconds=0, timeout_seconds=0)


def test_each_gets_its_turns_and_stands_still_between_them(monkeypatch):
    monkeypatch.setattr(turns, "TURN_SECONDS", 0.001)
    processes = {name: Signals() for name in "abc"}
    takers = {name: TurnTaker(process, 60) for name, process in processes.items()}
    for taker in takers.values():
        taker.connected(has_worked=False)
        assert taker.active_seconds == 0
    take_turns(takers, 0.005, random.Random(1))
    turn = [signal.SIGCONT, signal.SIGSTOP]
    assert [process.got for process in processes.values()] == [[signal.SIGSTOP, *turn * 5]] * 3
    assert all(0.005 <= taker.active_seconds < 60 for taker in takers.values())


def test_turns_end_before_the_client_does():
    taker = TurnTaker(Signals(), turns.SLACK_SECONDS / 4)
    taker.connected(has_worked=True)
    assert taker.active_seconds > 0
    with pytest.raises(SystemExit, match="idle machine"):
        taker.take_turn()


def test_a_client_lasts_for_the_turns_of_all():
    assert lasting_seconds(10, 3) >= 30 + turns.SLACK_SECONDS


def test_bounds_near_one():
    assert near_one(0.01) == {"min": 0.99, "max": 1.01}
    assert near_one(None) is None


def test_a_difference_is_shown_when_the_interval_is_beside_one():
    assert shown_difference(Figure("q", "1", 1.0, 0.98, 1.02)).value == 0
    assert shown_difference(Figure("q", "1", 1.2, 1.1, 1.3)).value == pytest.approx(0.1)


def test_a_ratio_of_pairs_has_an_interval():
    figure = ratio_figure("q", [2.0, 4.1, 6.0, 8.1], [1.0, 2.0, 3.0, 4.0], near_one(0.5))
    assert figure.low < 2 < figure.high
    assert figure.status == "missed"


def test_this_process_has_had_processor_time():
    before = processor_seconds(os.getpid())
    wait_until(lambda: processor_seconds(os.getpid()) > before, "processor time", 0)


def test_counts_are_those_of_a_whole_file(tmp_path):
    counts = tmp_path / "1"
    assert callgrind.counted(counts) is None
    counts.write_text("# callgrind format\nfn=(1) main\n16 400\n")
    assert callgrind.counted(counts) is None
    counts.write_text("fn=(1) main\n16 400\ntotals: 4711\n")
    assert callgrind.counted(counts) == 4711


def test_without_valgrind_it_is_said_what_to_do(monkeypatch):
    monkeypatch.setattr(callgrind.shutil, "which", lambda program: None)
    with pytest.raises(SystemExit, match="valgrind is missing: run `build/bootstrap`"):
        callgrind.counting("%p")


def test_whole_numbers_below_the_least_are_refused():
    assert at_least(2)("2") == 2
    with pytest.raises(argparse.ArgumentTypeError, match="at least 2"):
        at_least(2)("1")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A program of a checkout, whose labels are known."""
    path = tmp_path / "plugins/hbase/bench/measure.py"
    path.parent.mkdir(parents=True)
    monkeypatch.setattr(sys, "argv", [str(path), "--strict"])
    monkeypatch.setattr(command_line, "staged_labels", lambda release: {"of": release})
    return path


def arguments(*words: str) -> argparse.Namespace:
    return measurement_parser(STORE, "Measures.").parse_args(words)


def test_figures_are_kept_with_command_store_and_labels(program, tmp_path, capsys):
    args = arguments("--record", str(tmp_path / "results"), "-o", "json")
    report(args, "measure", "Measured", [Figure("q", "1", math.pi)])
    printed = json.loads(capsys.readouterr().out)
    (kept,) = (tmp_path / "results/measurements/hbase-2.6.4-hadoop3/measure").iterdir()
    assert json.loads(Path(kept).read_text()) == printed
    assert printed["command"] == "python plugins/hbase/bench/measure.py --strict"
    assert printed["software"]["labels"] == {"of": "hbase/2.6.4-hadoop3"}


def test_labels_may_be_of_something_else(program, capsys):
    report(arguments("-o", "json"), "m", "M", [Figure("q", "1", 1.0)], {"of": "a program"})
    assert json.loads(capsys.readouterr().out)["software"]["labels"] == {"of": "a program"}


def test_text_names_the_store_and_strict_tells_what_is_missed(program, capsys):
    figures = [Figure("slow", "s", 0.3, expected={"max": 0.2}), Figure("quick", "s", 0.1)]
    report(arguments(), "measure", "Measured", figures)
    assert "Measured, HBase 2.6.4-hadoop3\n" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"out of bounds: slow$"):
        report(arguments("--strict"), "measure", "Measured", figures)


def test_strict_fails_for_a_value_out_of_bounds_however_wide_its_interval(program):
    beyond = Figure("beyond", "1", 3.5, -3.5, 7.1, expected={"max": 1.5})
    inside = Figure("inside", "1", 1.4, -3.5, 7.1, expected={"max": 1.5})
    assert (beyond.status, inside.status) == ("~", "~")
    report(arguments("--strict"), "measure", "Measured", [inside])
    with pytest.raises(SystemExit, match=r"out of bounds: beyond$"):
        report(arguments("--strict"), "measure", "Measured", [inside, beyond])


def test_the_build_tool_of_this_python_is_asked_whatever_the_path(tmp_path, monkeypatch):
    tool = tmp_path / "sluice-dist"
    tool.write_text('#!/bin/sh\nprintf \'{"asked": "%s"}\' "$*"\n')
    tool.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert staged.shown_build("hbase", "--testing") == {"asked": "show hbase --testing -o json"}


def test_without_the_build_tool_it_is_said_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SystemExit, match="build/bootstrap"):
        staged.shown_build("hbase")


def test_a_record_has_the_labels_of_what_is_staged(monkeypatch):
    shown = {"labels": {"of": "the checkout"}, "staged_labels": {"of": "the stage"}}
    monkeypatch.setattr(staged, "shown_build", lambda release: shown)
    assert staged.staged_labels("hbase/1") == {"of": "the stage"}
    shown["staged_labels"] = None
    with pytest.raises(SystemExit, match="sluice-dist compile hbase/1"):
        staged.staged_labels("hbase/1")
