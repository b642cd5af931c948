"""What Linux knows of the time that a process has had."""

from __future__ import annotations

import os
from pathlib import Path


def processor_seconds(pid: int) -> float:
    """Processor time of a process that runs or is stopped, with all its threads."""
    # The second field, in parentheses, may hold blanks; see proc(5).
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
