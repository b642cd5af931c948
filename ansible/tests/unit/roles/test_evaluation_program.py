"""What programs that run a store have in common: units, copies, pool, and what they refuse."""

import json
import subprocess

import evaluation_program
import pytest

UNITS = ("a.service", "b.service")


@pytest.fixture
def units(tmp_path, monkeypatch):
    """The orders that systemd got; of the units the second does not run."""
    given = []

    def systemctl(*argv):
        given.append(argv)
        return "0\n" if argv[-1] == UNITS[1] and argv[0] == "show" else "17\n"

    monkeypatch.setattr(evaluation_program, "UNITS_OF_THIS_BOOT", tmp_path / "units")
    monkeypatch.setattr(evaluation_program, "systemctl", systemctl)
    return given


def test_those_that_run_are_killed_and_all_are_stopped(units):
    evaluation_program.kill(*UNITS)
    orders = [argv for argv in units if argv[0] != "show"]
    assert orders == [
        ("daemon-reload",),
        ("kill", "--signal=KILL", UNITS[0]),
        ("stop", *UNITS),
        ("daemon-reload",),
    ]


def test_nothing_is_killed_where_nothing_runs(units):
    evaluation_program.kill(UNITS[1])
    assert not evaluation_program.drop_ins(UNITS[1]).exists()
    assert "kill" not in [argv[0] for argv in units]
    assert ("stop", UNITS[1]) in units


def test_while_it_is_killed_a_unit_is_not_started_again(units, monkeypatch):
    seen = []

    def systemctl(*argv):
        if argv[0] == "kill":
            seen.extend(path.read_text() for path in settings_of_units())
        return "17"

    monkeypatch.setattr(evaluation_program, "systemctl", systemctl)
    evaluation_program.kill(*UNITS)
    assert seen == [evaluation_program.KILLED_UNIT] * 2


def settings_of_units():
    return sorted(evaluation_program.UNITS_OF_THIS_BOOT.rglob("*.conf"))


def test_a_kill_that_fails_leaves_the_units_as_they_were(units, monkeypatch):
    calls = []

    def systemctl(*argv):
        calls.append(argv)
        if argv[0] == "kill":
            raise SystemExit("no such unit")
        return "17"

    of_the_run = evaluation_program.drop_ins(UNITS[0]) / "evaluation.conf"
    of_the_run.parent.mkdir(parents=True)
    of_the_run.write_text("[Service]\n")
    monkeypatch.setattr(evaluation_program, "systemctl", systemctl)
    with pytest.raises(SystemExit, match="no such unit"):
        evaluation_program.kill(*UNITS)
    assert settings_of_units() == [of_the_run]
    assert calls[-1] == ("daemon-reload",)


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (subprocess.CompletedProcess([], 5, "", "not loaded\n"), "systemctl stop a.*: not loaded"),
        (subprocess.TimeoutExpired([], 1500.0), "systemctl stop a.*: no end after 1500 s"),
    ],
)
def test_what_systemd_refuses_ends_the_program(monkeypatch, outcome, told):
    def run(*_, **__):
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(SystemExit, match=told):
        evaluation_program.systemctl("stop", "a.service")


def test_a_copy_is_there_when_it_is_whole_and_replaces_one_of_before(tmp_path):
    copy = tmp_path / "copies" / "postgres-10"
    for content in ("first", "second"):
        with evaluation_program.new_copy(copy) as incoming:
            incoming.mkdir()
            (incoming / content).write_text(content)
    assert [path.name for path in copy.iterdir()] == ["second"]
    with pytest.raises(OSError, match="disk"), evaluation_program.new_copy(copy) as incoming:
        incoming.mkdir()
        raise OSError("disk full")
    assert [path.name for path in copy.iterdir()] == ["second"]


def test_the_journal_is_written_before_it_is_copied(tmp_path, monkeypatch):
    run = []
    monkeypatch.setattr(subprocess, "run", lambda argv, **_: run.append(argv))
    evaluation_program.keep_journal("a.service", tmp_path / "a.log")
    assert run[0] == ["journalctl", "--sync"]
    assert run[1][-1] == "--unit=a.service"
    assert (tmp_path / "a.log").exists()


def test_a_volume_is_removed_with_all_that_it_has(monkeypatch):
    asked = []
    monkeypatch.setattr(evaluation_program, "pool", lambda *words: asked.append(words))
    evaluation_program.remove_volume("node-17")
    assert asked == [("remove", "--recursive", "node-17", "/"), ("remove-volume", "node-17")]


def test_a_volume_that_cannot_be_removed_is_told_and_stays(monkeypatch, capsys):
    def refuse(*_):
        raise SystemExit("the pool does not answer")

    monkeypatch.setattr(evaluation_program, "pool", refuse)
    evaluation_program.remove_volume("node-17")
    assert "volume node-17 stays: the pool does not answer" in capsys.readouterr().err


def test_without_a_start_the_message_says_what_to_call(tmp_path):
    state = tmp_path / "state.json"
    with pytest.raises(SystemExit, match="call start first"):
        evaluation_program.started(state)
    state.write_text('{"node": "a"}')
    assert evaluation_program.started(state) == {"node": "a"}


@pytest.mark.parametrize("argv", [[], ["begin"], ["start", "twice"]])
def test_an_unknown_action_is_told_what_there_is(monkeypatch, argv):
    monkeypatch.setattr(evaluation_program.sys, "argv", ["evaluation_store.py", *argv])
    with pytest.raises(SystemExit, match=r"usage: .*\{start,stop\} \| client ARGV"):
        evaluation_program.run_action({"start": dict, "stop": dict}, " | client ARGV...")


def test_what_an_action_gives_is_printed_as_json(monkeypatch, capsys):
    monkeypatch.setattr(evaluation_program.sys, "argv", ["evaluation_store.py", "stop"])
    evaluation_program.run_action({"stop": lambda: {"logs": "/var/log"}})
    assert json.loads(capsys.readouterr().out) == {"logs": "/var/log"}
