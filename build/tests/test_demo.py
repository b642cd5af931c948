"""build/demo with programs that only note that they are called."""

import fcntl
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from images import ROOT, wait_until

LOOK_FOR_THE_LOCK = """\
#!/bin/sh
[ ! -e /proc/$$/fd/9 ] || echo "has the lock" >>"$CALLS"
"""
NOTE = f"""\
{LOOK_FOR_THE_LOCK}
echo "${{0##*/}} $*" >>"$CALLS"
"""
# What a program does lasts until the file `go` is there.
UNTIL_GO = """\
    echo "$what begins" >>"$CALLS"
    while [ ! -e "$CALLS-go" ]; do sleep 0.05; done
    echo "$what ends" >>"$CALLS"
"""
PACKAGE = f"""\
#!/bin/sh
trap 'echo "package is broken off" >>"$CALLS"; exit 143' TERM
what=package
{UNTIL_GO}"""
PLAY = f"""\
{LOOK_FOR_THE_LOCK}
case $* in
*evaluate.yml*)
    trap 'echo "evaluate is broken off" >>"$CALLS"; exit 143' TERM
    what=evaluate
{UNTIL_GO}
    ;;
*teardown.yml*) echo "teardown" >>"$CALLS" ;;
esac
"""
# Ends at the signal by itself; its worker takes longer.
LATE_PLAY = """\
#!/bin/sh
experiment() {
    trap : TERM
    worker "$@"
    sleep 0.5
    echo "worker ends" >>"$CALLS"
}
case $* in
*evaluate.yml*) experiment "$@" & wait ;;
*) worker "$@" ;;
esac
"""
PROGRAMS = {"ansible-playbook": PLAY, "id": "#!/bin/sh\necho 0\n"} | dict.fromkeys(
    ("make", "sluice-dist", "sluice-evaluation"), NOTE
)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    checkout = tmp_path / "checkout"
    for folder in ("ansible", "build"):
        (checkout / folder).mkdir(parents=True)
    shutil.copy2(ROOT / "build" / "demo", checkout / "build" / "demo")
    write_program(checkout / "build" / "bootstrap", NOTE)
    for name, text in PROGRAMS.items():
        write_program(checkout / ".work" / "venv" / "bin" / name, text)
    context = checkout / ".work" / "testbed" / "local" / "secrets" / "certificates"
    context.mkdir(parents=True)
    (context / "operator-operator.yml").write_text("controller: 127.0.0.1:7413\n")
    return checkout


def write_program(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


def start(checkout: Path) -> subprocess.Popen[str]:
    programs = checkout / ".work" / "venv" / "bin"
    environment = os.environ | {
        "CALLS": str(checkout / "calls"),
        "PATH": f"{programs}:/usr/bin:/bin",
    }
    # Whoever runs the tests may have had them ignore the signal.
    command = ["env", "--default-signal=INT,HUP", checkout / "build" / "demo"]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def calls(checkout: Path) -> list[str]:
    file = checkout / "calls"
    return file.read_text().splitlines() if file.exists() else []


def test_one_at_a_time_is_at_work_in_a_checkout(checkout: Path):
    (checkout / "calls-go").touch()
    with (checkout / ".work" / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with start(checkout) as demo:
            assert "another one is at work" in demo.communicate()[1]
    assert demo.returncode == 1
    assert calls(checkout) == []


SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])


def break_off(checkout: Path, begun: str, number: int) -> tuple[int, str]:
    """Its status, and what it has told."""
    with start(checkout) as demo:
        try:
            wait_until(begun, lambda: begun in calls(checkout))
            # It alone gets the signal, as from make or a supervisor.
            demo.send_signal(number)
            told = demo.communicate(timeout=300)[0]
        finally:
            (checkout / "calls-go").touch()
    return demo.returncode, told


@SIGNALS
def test_a_signal_breaks_an_experiment_off_and_the_test_bed_is_taken_down(
    checkout: Path, number: int
):
    status, told = break_off(checkout, "evaluate begins", number)
    assert calls(checkout)[-3:] == ["evaluate begins", "evaluate is broken off", "teardown"]
    assert "has the lock" not in calls(checkout)
    assert "the report:" not in told
    assert status == 128 + number


@SIGNALS
def test_a_signal_breaks_a_build_off(checkout: Path, number: int):
    write_program(checkout / ".work" / "venv" / "bin" / "sluice-dist", PACKAGE)
    status, _ = break_off(checkout, "package begins", number)
    assert calls(checkout)[-2:] == ["package begins", "package is broken off"]
    assert status == 128 + number


def test_what_a_stage_has_started_has_ended_when_the_test_bed_is_taken_down(checkout: Path):
    programs = checkout / ".work" / "venv" / "bin"
    (programs / "ansible-playbook").rename(programs / "worker")
    write_program(programs / "ansible-playbook", LATE_PLAY)
    break_off(checkout, "evaluate begins", signal.SIGTERM)
    assert calls(checkout)[-2:] == ["worker ends", "teardown"]


def test_a_test_bed_that_is_not_taken_down_fails_the_demo(checkout: Path):
    write_program(
        checkout / ".work" / "venv" / "bin" / "ansible-playbook",
        f"{PLAY}\ncase $* in *teardown.yml*) exit 4 ;; esac\n",
    )
    status, _ = break_off(checkout, "evaluate begins", signal.SIGTERM)
    assert calls(checkout)[-1] == "teardown"
    assert status == 1


def test_a_stage_that_fails_is_the_last_one(checkout: Path):
    write_program(checkout / ".work" / "venv" / "bin" / "sluice-dist", "#!/bin/sh\nexit 3\n")
    with start(checkout) as demo:
        demo.communicate()
    assert calls(checkout) == ["bootstrap "]
    assert demo.returncode == 3
