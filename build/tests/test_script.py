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
DEADLINE_SECONDS = 60


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


@pytest.mark.parametrize("signal_name", ["TERM", "INT"])
def test_a_signal_ends_the_script_and_its_children(series: Project, signal_name: str) -> None:
    folder = series.root / "build" / "stores" / "toy"
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "compile.sh").write_text(COMPILE)
    (folder / "compile.sh").chmod(0o755)
    # Whoever runs the tests in the background may have had them ignore the interrupt.
    command = ["env", "--default-signal=INT", sys.executable, "-m", "sluice_dist"]
    command += ["--root", str(series.root), "compile", "toy"]
    ready = series.release().build / "objects" / "ready"
    with subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE) as process:
        try:
            wait_until(ready.exists)
            subprocess.run(["kill", f"-{signal_name}", str(process.pid)], check=True)
            assert process.wait(DEADLINE_SECONDS) != 0
        finally:
            process.terminate()
    wait_until(lambda: is_gone(int(ready.read_text())))
