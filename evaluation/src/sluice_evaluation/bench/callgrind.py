"""Instructions that a program executes, counted by valgrind's callgrind."""

from __future__ import annotations

import re
import shutil
from pathlib import Path


def counting(counts: str, *options: str) -> list[str]:
    """Runs a program so that its instructions are counted into files of this name, a %p its pid.

    SystemExit when there is no valgrind.
    """
    if shutil.which("valgrind") is None:
        raise SystemExit("valgrind is missing: run `build/bootstrap`, or install the package")
    return [
        "valgrind",
        "--tool=callgrind",
        "--quiet",
        *options,
        f"--callgrind-out-file={counts}",
    ]


def counted(counts: Path) -> int | None:
    """Instructions of a process that has ended; None while its file is not whole."""
    found = re.search(r"^totals: (\d+)", counts.read_text(), re.M) if counts.exists() else None
    return int(found[1]) if found else None
