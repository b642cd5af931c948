"""The page over a simulated cluster, as a process that goes on when it is told to."""

import subprocess
from pathlib import Path

MODULE = Path(__file__).parents[2]


def build(folder: Path) -> Path:
    """Compile the program that serves the page."""
    program = folder / "serve"
    command = ["go", "build", "-o", str(program), "./tests/page/serve"]
    done = subprocess.run(command, cwd=MODULE, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
    return program


class Served:
    """One process; its address is in url."""

    def __init__(
        self, program: Path, *, past: int = 900, period: int = 1, listen: str = "127.0.0.1:0"
    ) -> None:
        command = [str(program), "-listen", listen, "-past", str(past), "-period", str(period)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self._process.stdout.readline().strip()
        assert self.url, "the program that serves the page ended"

    @property
    def address(self) -> str:
        """Host and port, to serve at the same place again."""
        return self.url.removeprefix("http://").rstrip("/")

    def tell(self, command: str) -> None:
        """Give a command to the simulation and wait until it is done."""
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        assert answer == "ok", f"{command}: {answer}"

    def kill(self) -> None:
        """End it as a crash does."""
        self._process.kill()
        self._process.communicate()
