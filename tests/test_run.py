"""The step runner: order, failure, time limit and wrong declarations."""

import dataclasses
import itertools
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import left_in_memory
import pytest
import run

STEP = """
[[step]]
name = "{name}"
what = "a step"
command = "{command}"
suites = ["test"]
budget_seconds = {budget}
needs = {needs}
"""


def declare(directory, *steps):
    texts = [
        STEP.format(name=name, command=command, budget=budget, needs=needs)
        for name, command, budget, needs in steps
    ]
    (directory / "steps.toml").write_text("".join(texts))
    return run.load_steps(directory)


def run_all(directory, *steps):
    outcomes = run.run_steps(declare(directory, *steps), "test", directory / "logs")
    return {outcome.step.name: outcome for outcome in outcomes}


DEADLINE_SECONDS = 300
"""For what must happen: a busy machine takes its time."""


def happens(condition):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def has_ended(pid):
    """True when the process is gone, or dead and not yet reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.fixture
def shell(tmp_path):
    """Starts a script in a session of its own and waits until it has written its file `ready`."""

    def start(script):
        process = subprocess.Popen(["bash", "-c", script], cwd=tmp_path, start_new_session=True)
        assert happens((tmp_path / "ready").exists)
        return process

    return start


def test_needed_step_comes_first(tmp_path):
    steps = declare(tmp_path, ("late", "true", 1, ["early"]), ("early", "true", 1, []))
    assert [step.name for step in steps] == ["early", "late"]


def test_failure_stops_what_needs_it_and_nothing_else(tmp_path):
    outcomes = run_all(
        tmp_path, ("bad", "false", 9, []), ("after", "true", 9, ["bad"]), ("other", "true", 9, [])
    )
    assert {name: outcome.result for name, outcome in outcomes.items()} == {
        "bad": "failed",
        "after": "not run: bad",
        "other": "passed",
    }
    assert outcomes["after"].counts.failed == 1


@pytest.mark.parametrize(("user", "result"), [(0, "passed"), (1000, "not run: use sudo")])
def test_a_step_for_root_fails_for_others(tmp_path, monkeypatch, user, result):
    text = STEP.format(name="disks", command="true", budget=9, needs=[])
    (tmp_path / "steps.toml").write_text(f"{text}root = true\n")
    monkeypatch.setattr(run.os, "geteuid", lambda: user)
    (outcome,) = run.run_steps(run.load_steps(tmp_path), "test", tmp_path / "logs")
    assert outcome.result == result
    assert outcome.counts.failed == (0 if result == "passed" else 1)


# Each waits for the other's file: one by one, neither would end.
MEET = "touch {here}/{own}; until test -e {here}/{other}; do sleep 0.05; done"


def test_steps_run_side_by_side(tmp_path):
    first = MEET.format(here=tmp_path, own="one", other="two")
    second = MEET.format(here=tmp_path, own="two", other="one")
    outcomes = run_all(tmp_path, ("first", first, 9, []), ("second", second, 9, []))
    assert [outcome.result for outcome in outcomes.values()] == ["passed", "passed"]


@pytest.mark.parametrize(("jobs", "alone"), [(1, False), (2, True)])
def test_a_step_can_be_alone(tmp_path, jobs, alone):
    # Fails when another one is at work while it is.
    command = f"mkdir {tmp_path}/at-work; sleep 0.2; rmdir {tmp_path}/at-work"
    texts = [
        STEP.format(name=name, command=command, budget=9, needs=[])
        + ("alone = true\n" if alone and name == "b" else "")
        for name in ("a", "b", "c")[: 2 if alone else 3]
    ]
    (tmp_path / "steps.toml").write_text("".join(texts))
    outcomes = run.run_steps(run.load_steps(tmp_path), "test", tmp_path / "logs", jobs)
    assert {outcome.result for outcome in outcomes} == {"passed"}


def test_nothing_overtakes_a_step_that_waits_to_be_alone(tmp_path):
    a, b, c = declare(tmp_path, *((name, "true", 9, []) for name in "abc"))
    b = dataclasses.replace(b, alone=True)
    assert run._next([b, c], [a], 2) is None
    assert run._next([b, c], [], 2) == b
    assert run._next([c], [b], 2) is None


def test_steps_that_hold_the_same_are_not_side_by_side(tmp_path):
    a, b, c, d = declare(tmp_path, *((name, "true", 9, []) for name in "abcd"))
    a, b = (dataclasses.replace(step, holds="target") for step in (a, b))
    assert run._next([b, c], [a], 3) == c
    assert run._next([b, d], [a, c], 3) == d
    assert run._next([b], [c, d], 3) == b


def test_steps_of_one_maven_project_hold_what_they_share():
    # Each compiles and packs the module that both plug-ins use.
    steps = [s for s in run.load_steps(run.TOP / "tests/steps") if "--also-make" in s.command]
    assert {step.holds for step in steps} == {"plugins/local-java/target"}
    assert (run.TOP / "plugins/local-java/pom.xml").is_file()


def test_no_two_steps_that_make_the_bundle_of_ycsb_run_side_by_side():
    steps = {step.name: step for step in run.load_steps(run.TOP / "tests/steps")}
    makers = [s for s in steps.values() if re.search(r"make ycsb|ycsb-bindings/pom", s.command)]
    assert makers
    for one, other in itertools.combinations(makers, 2):
        kept_apart = one.alone or other.alone or (one.holds and one.holds == other.holds)
        ordered = one.name in needed(other, steps) or other.name in needed(one, steps)
        assert kept_apart or ordered, f"{one.name} and {other.name} write to the same files"


def needed(step, steps):
    """Names of the steps that STEP needs, and of those that they need."""
    return set(step.needs).union(*(needed(steps[name], steps) for name in step.needs))


def test_a_step_waits_for_what_it_needs(tmp_path):
    command = f"sleep 0.2; touch {tmp_path}/made"
    needing = f"test -e {tmp_path}/made"
    outcomes = run_all(tmp_path, ("make", command, 9, []), ("use", needing, 9, ["make"]))
    assert outcomes["use"].result == "passed"


def test_failure_in_a_pipe_is_a_failure(tmp_path):
    assert run_all(tmp_path, ("pipe", "false | cat", 9, []))["pipe"].result == "failed"


def test_step_is_not_part_of_a_make_around_it(tmp_path, monkeypatch):
    monkeypatch.setenv("MAKELEVEL", "1")
    monkeypatch.setenv("MAKEFLAGS", "w")
    command = "test -z ${MAKELEVEL-}${MAKEFLAGS-}"
    assert run_all(tmp_path, ("make", command, 9, []))["make"].result == "passed"


def test_hanging_step_fails_even_if_it_exits_well(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "KILL_AFTER_BUDGETS", 0)
    monkeypatch.setattr(run, "KILL_AFTER_SECONDS", 0.2)
    outcome = run_all(tmp_path, ("hang", "trap 'exit 0' TERM; sleep 600 & wait", 1, []))["hang"]
    assert (outcome.result, outcome.counts.failed) == ("timed out", 1)


def test_children_end_with_their_step(tmp_path, shell):
    run.end_group(shell("sleep 600 & echo $! >pid; touch ready; wait"))
    pid = (tmp_path / "pid").read_text().strip()
    assert happens(lambda: has_ended(pid))


def test_step_may_tidy_up_before_it_is_killed(tmp_path, shell, monkeypatch):
    monkeypatch.setattr(run, "END_WITHIN_SECONDS", DEADLINE_SECONDS)
    run.end_group(shell("trap 'touch tidied; exit' TERM; touch ready; sleep 600 & wait"))
    assert (tmp_path / "tidied").exists()


def test_a_child_may_tidy_up_when_its_step_ends_at_once(tmp_path, shell, monkeypatch):
    monkeypatch.setattr(run, "END_WITHIN_SECONDS", DEADLINE_SECONDS)
    child = "trap 'sleep 0.5; touch tidied; exit' TERM; touch ready; sleep 600 & wait"
    run.end_group(shell(f'bash -c "{child}" & wait'))
    assert (tmp_path / "tidied").exists()


def test_a_step_whose_children_have_ended_is_not_waited_for(shell, monkeypatch):
    monkeypatch.setattr(run, "END_WITHIN_SECONDS", 600)
    # The second child is an orphan that dies: whoever has it now may not reap it.
    process = shell("sleep 600 & (sleep 600 & sleep 600 &) ; touch ready; wait")
    run.end_group(process)
    assert process.returncode == -signal.SIGTERM


def test_step_that_will_not_end_is_killed(shell, monkeypatch):
    monkeypatch.setattr(run, "END_WITHIN_SECONDS", 0.2)
    process = shell("trap '' TERM; touch ready; while true; do sleep 1; done")
    run.end_group(process)
    assert process.returncode == -9


def start_runner(tmp_path, *handling):
    """A runner of the steps that are declared in tmp_path."""
    program = (
        "import pathlib, run; run.exit_on_termination(); here = pathlib.Path.cwd(); "
        f"run.END_WITHIN_SECONDS = {DEADLINE_SECONDS}; "
        "run.run_steps(run.load_steps(here), 'test', here / 'logs')"
    )
    environment = os.environ | {"PYTHONPATH": str(run.TOP / "tests")}
    command = ["env", *handling, sys.executable, "-c", program]
    return subprocess.Popen(command, cwd=tmp_path, env=environment)


def tidying(tmp_path, name, how=":"):
    """A step that notes that it is ready, and that it has tidied up when it is ended.

    The shell itself writes: a program that the signal ends would end the step before its trap.
    """
    note = f"{tmp_path}/{name}"
    return f"trap '{how}; : > {note}-tidied; exit' TERM; : > {note}-ready; sleep 600 & wait"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_terminated_runner_ends_its_step(tmp_path, number, status):
    declare(tmp_path, ("long", tidying(tmp_path, "long"), 1, []))
    runner = start_runner(tmp_path, "--default-signal=HUP")
    assert happens((tmp_path / "long-ready").exists)
    runner.send_signal(number)
    assert runner.wait(DEADLINE_SECONDS) == status
    assert (tmp_path / "long-tidied").exists()


def test_the_end_of_the_terminal_is_none_under_nohup(tmp_path):
    declare(tmp_path, ("long", tidying(tmp_path, "long"), 1, []))
    runner = start_runner(tmp_path, "--ignore-signal=HUP")
    assert happens((tmp_path / "long-ready").exists)
    runner.send_signal(signal.SIGHUP)
    runner.terminate()
    assert runner.wait(DEADLINE_SECONDS) == 143


def test_all_steps_end_when_the_runner_is_terminated_twice(tmp_path):
    slowly = f": > {tmp_path}/asked; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done"
    declare(
        tmp_path,
        ("first", tidying(tmp_path, "first", slowly), 1, []),
        ("second", tidying(tmp_path, "second"), 1, []),
    )
    runner = start_runner(tmp_path)
    for name in ("first-ready", "second-ready"):
        assert happens((tmp_path / name).exists)
    runner.terminate()
    assert happens((tmp_path / "asked").exists)
    runner.terminate()
    (tmp_path / "go").touch()
    runner.wait(DEADLINE_SECONDS)
    assert (tmp_path / "second-tidied").exists()


def test_terminated_while_a_step_starts(tmp_path, monkeypatch):
    start, started = subprocess.Popen, []

    def terminated_while_it_starts(*arguments, **options):
        started.append(start(*arguments, **options))
        signal.raise_signal(signal.SIGTERM)
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", terminated_while_it_starts)
    before = signal.getsignal(signal.SIGTERM)
    try:
        run.exit_on_termination()
        with pytest.raises(SystemExit):
            run_all(tmp_path, ("long", "sleep 600", 1, []))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert started[0].poll() == -signal.SIGTERM


def test_last_line_sums_the_counts(tmp_path, capsys):
    outcomes = run_all(tmp_path, ("a", "echo 3 passed in 0.1s", 9, []), ("b", "false", 9, []))
    capsys.readouterr()
    run.print_table(list(outcomes.values()), 1.0)
    assert capsys.readouterr().out.splitlines()[-1] == "3 passed, 1 failed"


def test_failed_tests_are_named_at_the_end(tmp_path, capsys):
    failing = "echo '--- FAIL: TestA (0.0s)'; false"
    outcomes = run_all(tmp_path, ("a", failing, 9, []), ("b", "true", 9, []))
    capsys.readouterr()
    run.print_table(list(outcomes.values()), 1.0)
    assert capsys.readouterr().out.splitlines()[-3] == "a: failed: TestA"


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([("a", "true", 1, ["b"])], "needs b, which no file"),
        ([("a", "true", 1, ["b"]), ("b", "true", 1, ["a"])], "need each other: a -> b -> a"),
        ([("a", "true", 1, []), ("a", "true", 1, [])], "a step named a exists"),
    ],
)
def test_wrong_declaration(tmp_path, steps, message):
    with pytest.raises(run.StepError, match=message):
        declare(tmp_path, *steps)


def test_unknown_field(tmp_path):
    (tmp_path / "steps.toml").write_text('[[step]]\nname = "a"\nbudget = 3\n')
    with pytest.raises(run.StepError, match="unknown \\['budget'\\]"):
        run.load_steps(tmp_path)


def test_budget_of_a_suite_is_bounded(tmp_path):
    bound = int(run.SUITES["test"])
    steps = declare(tmp_path, ("a", "true", bound, []), ("b", "true", 91, []))
    with pytest.raises(run.StepError, match=f"{bound + 91} s, over its {bound} s"):
        run.suite_steps(steps, "test")


def test_declared_steps_are_valid():
    steps = run.load_steps(run.TOP / "tests" / "steps")
    assert run.suite_steps(steps, "test")


NAMESPACE = Path("/proc/self/ns/pid").stat().st_ino


@pytest.fixture
def in_memory(tmp_path):
    """Makes a folder as a test of a process does."""

    def make(process, namespace=NAMESPACE):
        log = tmp_path / f"sluice-test-{namespace}-{process}-1234567" / "state" / "log"
        log.parent.mkdir(parents=True)
        log.write_text("x")
        return log.parent.parent

    return make


@pytest.fixture
def dead():
    """The number of a process that is gone."""
    with subprocess.Popen(["true"]) as process:
        return process.pid


def test_what_a_killed_test_has_left_in_memory_is_removed(tmp_path, in_memory, dead):
    left = in_memory(dead)
    assert left_in_memory.remove(tmp_path) == [left]
    assert list(tmp_path.iterdir()) == []


def test_what_may_be_used_stays_in_memory(tmp_path, in_memory, dead):
    in_memory(os.getpid())
    # Of a process that is not to be seen from here, of whatever made that, and of earlier tests.
    in_memory(dead, NAMESPACE + 1)
    (tmp_path / "sluice-test-1234567").mkdir()
    (tmp_path / f"sluice-power-{dead}-1").mkdir()
    before = sorted(tmp_path.iterdir())
    assert left_in_memory.remove(tmp_path) == []
    assert sorted(tmp_path.iterdir()) == before


def test_what_another_process_has_taken_over_stays_in_memory(tmp_path, in_memory, dead):
    left = in_memory(dead)
    log = left / "state" / "log"
    for options in ({"args": ["cat"], "cwd": log.parent}, {"args": ["cat", "-", log]}):
        with subprocess.Popen(stdin=subprocess.PIPE, **options):
            assert left_in_memory.remove(tmp_path) == []
    with log.open():
        assert left_in_memory.remove(tmp_path) == []
    assert left_in_memory.remove(tmp_path) == [left]


def test_exit_code_of_an_unknown_step():
    command = [sys.executable, str(run.TOP / "tests" / "run.py"), "--only", "no-such-step"]
    assert subprocess.run(command, capture_output=True).returncode == 2
