"""Runs git without the caller's settings, so that what it writes is the same everywhere."""

import os
import subprocess
from pathlib import Path

from sluice_dist.errors import DistError

_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.autocrlf=false",
    "core.fsmonitor=false",
    "commit.gpgSign=false",
    "gc.auto=0",
    "advice.detachedHead=false",
    "safe.directory=*",
)


class GitFailure(DistError):
    """git ended with an error; `output` holds what it said."""

    def __init__(self, command: tuple[str, ...], output: str):
        super().__init__(f"git {' '.join(command)} failed:\n{output}")
        self.output = output


def git(folder: Path, *command: str, messages: bool = False, **environment: str) -> str:
    """Run git in FOLDER and give its output without the last newline; raises GitFailure.

    With MESSAGES, what it says on standard error comes first.
    """
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    done = subprocess.run(
        ["git", *settings, *command],
        cwd=folder,
        env=_environment() | environment,
        capture_output=True,
        check=False,
    )
    output = done.stdout.decode(errors="surrogateescape")
    errors = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        raise GitFailure(command, (errors + output).strip())
    return (errors + output if messages else output).rstrip("\n")


def _environment() -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return inherited | {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
    }
