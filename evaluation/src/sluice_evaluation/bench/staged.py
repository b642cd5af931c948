"""Staged builds of the stores."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path


def staged_prefix(
    store: str, version: str, variant: str, program: str, testing: bool = False
) -> Path:
    """Folder of a staged build, which has to hold a program; tells to compile when there is none.

    Without a version it is the store's default one.
    """
    release = f"{store}/{version}" if version else store
    build = [release, "--variant", variant, *(["--testing"] if testing else [])]
    command = ["sluice-dist", "show", *build, "-o", "json"]
    shown = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    prefix = Path(shown["staged_prefix"])
    if not (prefix / program).exists():
        raise SystemExit(
            f"{prefix} holds no {program}: run `sluice-dist compile {' '.join(build)}` first"
        )
    return prefix
