import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import Project

RECIPE = '[compile]\nscript = "compile.sh"\n'
# The script waits for its child, which nobody but its group's end will end.
COMPILE = """\
#!/bin/sh
sleep 600 &
echo $! >"$BUILD/child"
mv "$BUILD/child" "$BUILD/ready"
wait
"""
DEADLINE_SECONDS = 300


def wait_until(condition) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.02)


def is_gone(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def end_by_signals(project: Project, handling: str, *signal_names: str) -> int:
    """Start a compilation, send it the signals, and give its status; its children have to end."""
    folder = project.root / "build" / "stores" / "toy"
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "compile.sh").write_text(COMPILE)
    (folder / "compile.sh").chmod(0o755)
    command = ["env", handling, sys.executable, "-m", "sluice_dist"]
    command += ["--root", str(project.root), "compile", "toy"]
    ready = project.release().build / "objects" / "ready"
    with subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE) as process:
        try:
            wait_until(ready.exists)
            for name in signal_names:
                subprocess.run(["kill", f"-{name}", str(process.pid)], check=True)
            status = process.wait(DEADLINE_SECONDS)
        finally:
            process.terminate()
    wait_until(lambda: is_gone(int(ready.read_text())))
    return status


@pytest.mark.parametrize("signal_name", ["TERM", "INT", "HUP"])
def test_a_signal_ends_the_script_and_its_children(series: Project, signal_name: str) -> None:
    # Whoever runs the tests in the background may have had them ignore the signal.
    assert end_by_signals(series, f"--default-signal={signal_name}", signal_name) > 0


def test_the_end_of_the_terminal_is_none_under_nohup(series: Project) -> None:
    assert end_by_signals(series, "--ignore-signal=HUP", "HUP", "TERM") == 143
