"""What Linux knows of the connections of a process."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

ESTABLISHED = "01"
SOCKET = re.compile(r"socket:\[(\d+)\]")


def established_inodes(tables: Iterable[str], remote_port: int) -> set[str]:
    """Sockets of /proc/net/tcp and tcp6 that are connected to a port."""
    inodes = set()
    for table in tables:
        for line in table.splitlines()[1:]:
            fields = line.split()
            port = int(fields[2].rpartition(":")[2], 16)
            if port == remote_port and fields[3] == ESTABLISHED:
                inodes.add(fields[9])
    return inodes


def is_connected(pid: int, remote_port: int) -> bool:
    """Whether a process has a connection to a port of this machine."""
    folder = Path(f"/proc/{pid}")
    tables = [(folder / "net" / name).read_text() for name in ("tcp", "tcp6")]
    return not established_inodes(tables, remote_port).isdisjoint(_own_sockets(folder))


def _own_sockets(folder: Path) -> set[str]:
    inodes = set()
    for entry in (folder / "fd").iterdir():
        try:
            found = SOCKET.fullmatch(str(entry.readlink()))
        except FileNotFoundError:
            continue  # closed meanwhile
        if found:
            inodes.add(found[1])
    return inodes
