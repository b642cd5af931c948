"""Notes of what was done, which a later run goes by: whole, or as good as none."""

import json
from pathlib import Path
from typing import Any


def write_stamp(file: Path, content: dict[str, Any]) -> None:
    """Write CONTENT beside FILE and rename it: what breaks this off leaves the earlier one."""
    beside = file.with_name(f"{file.name}.new")
    beside.write_text(json.dumps(content, indent=2) + "\n")
    beside.replace(file)


def read_stamp(file: Path) -> dict[str, Any] | None:
    """The content of FILE; None if there is none, or half of one."""
    try:
        content = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return content if isinstance(content, dict) else None
