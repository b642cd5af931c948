"""Staged builds of the stores."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def shown_build(*build: str) -> dict:
    """What the build tool says of a build; it is the one beside this Python, whatever the path."""
    tool = Path(sys.executable).with_name("sluice-dist")
    if not tool.exists():
        raise SystemExit(
            f"{tool} is not there: run `build/bootstrap`, then this with .work/venv/bin/python"
        )
    command = [str(tool), "show", *build, "-o", "json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def staged_labels(release: str) -> dict[str, str]:
    """Labels of the staged build of STORE/VERSION, whatever the checkout has become meanwhile."""
    labels = shown_build(release)["staged_labels"]
    if labels is None:
        raise SystemExit(
            f"what {release} was staged from is not known: "
            f"run `sluice-dist compile {release}` first"
        )
    return labels


def staged_prefix(
    store: str, version: str, variant: str, program: str, testing: bool = False
) -> Path:
    """Folder of a staged build, which has to hold a program; tells to compile when there is none.

    Without a version it is the store's default one.
    """
    release = f"{store}/{version}" if version else store
    build = [release, "--variant", variant, *(["--testing"] if testing else [])]
    prefix = Path(shown_build(*build)["staged_prefix"])
    if not (prefix / program).exists():
        raise SystemExit(
            f"{prefix} holds no {program}: run `sluice-dist compile {' '.join(build)}` first"
        )
    return prefix
