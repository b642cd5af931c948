"""Two evaluations of one inventory: the second is told of the first; a dead one holds nothing."""

import fcntl
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import hold_lock
import pytest
import yaml
from role_files import ROLES, Host

PROGRAM = Path(hold_lock.__file__)
PLAYBOOK = shutil.which("ansible-playbook", path=str(Path(sys.executable).parent))
TASK = "Refuse a second evaluation of this inventory"


@pytest.fixture
def lock(tmp_path):
    return tmp_path / "evaluation" / "local.lock"


@pytest.fixture
def processes():
    """Starts processes that live until they are ended, as evaluations do."""
    started = []

    def start():
        started.append(subprocess.Popen(["sleep", "infinity"]))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def ask(lock, process):
    argv = [sys.executable, PROGRAM, f"--file={lock}", f"--process={process.pid}"]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_the_second_is_refused_and_told_who_holds_it(lock, processes):
    first, second = processes(), processes()
    assert ask(lock, first).returncode == 0
    refused = ask(lock, second)
    assert refused.returncode == 1
    since = hold_lock.holder(lock).since
    assert f"process {first.pid} on {platform.node()}, since {since}" in refused.stderr
    assert str(lock) in refused.stderr and "Wait for its end, or end it" in refused.stderr


def test_whoever_holds_it_may_ask_again(lock, processes):
    first = processes()
    assert [ask(lock, first).returncode for _ in range(3)] == [0, 0, 0]
    assert ask(lock, processes()).returncode == 1


@pytest.mark.parametrize("is_reaped", [True, False])
def test_it_goes_with_its_holder_however_that_ends(lock, processes, is_reaped):
    first = processes()
    assert ask(lock, first).returncode == 0
    first.kill()
    if is_reaped:
        first.wait()
    else:
        os.waitid(os.P_PID, first.pid, os.WEXITED | os.WNOWAIT)
    second = processes()
    assert ask(lock, second).returncode == 0
    assert hold_lock.holder(lock).process == second.pid


@pytest.mark.parametrize(
    ("told", "refusal"),
    [
        # Of another host, on a file system that both have, nobody can see whether it lives.
        ('{"host": "elsewhere", "process": 1, "since": "2026-01-31T12:00:00Z"}', "on elsewhere"),
        ("", "a process that has not said which it is"),
        ("{}", "a process that has not said which it is"),
    ],
)
def test_a_holder_that_cannot_be_looked_at_holds_it(tmp_path, monkeypatch, told, refusal):
    monkeypatch.setattr(hold_lock, "MOST_WAIT_SECONDS", 0)
    file = tmp_path / "lock"
    file.write_text(told)
    owner = hold_lock.Owner(platform.node(), os.getpid(), "2026-01-31T13:00:00Z")
    with file.open("a") as other, file.open("a") as own:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(hold_lock.HeldError, match=refusal):
            hold_lock.take(own, owner)
    assert file.read_text() == told


def test_a_process_that_is_not_there_holds_nothing(lock, processes):
    gone = processes()
    gone.kill()
    gone.wait()
    assert ask(lock, gone).returncode != 0
    assert ask(lock, processes()).returncode == 0


@pytest.mark.parametrize(
    ("known", "name"),
    [({"testbed_name": "second"}, "second"), ({"inventory_dir": "/i/example"}, "example")],
)
def test_the_lock_is_that_of_the_inventory(known, name):
    host = Host("evaluation", "pg1", sluice_work_directory="/w", **known)
    assert host.value("_evaluation_lock_file") == f"/w/evaluation/{name}.lock"


@pytest.fixture
def play(tmp_path):
    """Starts playbooks with the task; those that wait then make a file, and end with a pipe."""
    read = {
        part: yaml.safe_load((ROLES / "evaluation" / part / "main.yml").read_text())
        for part in ("vars", "tasks")
    }
    [task] = [task for task in read["tasks"] if task["name"] == TASK]
    names = ("_evaluation_lock_file", "_evaluation_controlling_process")
    variables = {
        "sluice_work_directory": str(tmp_path),
        "testbed_name": "local",
        "ansible_python_interpreter": sys.executable,
    }
    waiting = {"ansible.builtin.shell": "touch held; cat pipe", "args": {"chdir": str(tmp_path)}}
    playbook = {
        "hosts": "all",
        "connection": "local",
        "gather_facts": False,
        "vars": {name: read["vars"][name] for name in names} | variables,
        "tasks": [task, waiting | {"when": "waits"}],
    }
    text = yaml.safe_dump([playbook], width=1000)
    text = text.replace("{{ role_path }}", str(ROLES / "evaluation"))
    (tmp_path / "play.yml").write_text(text)
    os.mkfifo(tmp_path / "pipe")
    started = []

    def start(waits):
        argv = [PLAYBOOK, "-i", "localhost,", "play.yml", "-e", json.dumps({"waits": waits})]
        piped = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        started.append(subprocess.Popen(argv, cwd=tmp_path, **piped))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.stdout.close()
        process.wait()


@pytest.mark.skipif(PLAYBOOK is None, reason="needs ansible-playbook")
def test_it_is_held_for_the_whole_playbook_and_no_longer(play, tmp_path):
    first = play(waits=True)
    while not (tmp_path / "held").exists():
        assert first.poll() is None, first.communicate()[0]
        time.sleep(0.05)
    second = play(waits=False)
    output = " ".join(second.communicate()[0].split())
    assert second.returncode == 2, output
    assert f"process {first.pid} on {platform.node()}" in output
    with (tmp_path / "pipe").open("w"):
        pass
    output = first.communicate()[0]
    assert first.returncode == 0, output
    third = play(waits=False)
    output = third.communicate()[0]
    assert third.returncode == 0, output
