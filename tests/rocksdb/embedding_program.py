"""Programs that have RocksDB in them, and keep a database open until their input ends."""

import json
import os
import socket
import subprocess
from pathlib import Path

PATIENCE_SECONDS = 60


def start(program: Path, database: Path, options: str, **variables: str) -> subprocess.Popen:
    return subprocess.Popen(
        [program, database, options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | variables,
    )


def end(running: subprocess.Popen) -> str:
    """Let it end; gives what it has said meanwhile."""
    said, _ = running.communicate(timeout=PATIENCE_SECONDS)
    return said


def describe(path: Path) -> dict[str, object]:
    """Ask a plug-in who it is."""
    params = {"protocol_version": {"major": 1, "minor": 1}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "describe", "params": params}
    with socket.socket(socket.AF_UNIX) as plugin:
        plugin.settimeout(PATIENCE_SECONDS)
        plugin.connect(str(path))
        plugin.sendall(json.dumps(request).encode() + b"\n")
        with plugin.makefile() as answers:
            return json.loads(answers.readline())["result"]
