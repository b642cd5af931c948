"""A daemon that is a systemd unit of a node: killed, kept dead, and started again."""

from __future__ import annotations

from node_connection import NodeConnection
from sluice_evaluation.bench.waiting import wait_until

# States in which a unit is until somebody starts it. One that waits for systemd to start it again
# is `activating`.
ENDED = ("inactive", "failed")

# It does not come back between the kill and the stop, after which it never does by itself. And on
# cgroup v1 systemd is not told that a killed unit is empty, and would wait for it without end.
KILL = """
folder=/run/systemd/system/$1.d
trap 'rm -f "$folder/fault.conf"; systemctl daemon-reload' EXIT
mkdir -p "$folder"
printf '[Service]\\nRestart=no\\nTimeoutStopSec=1s\\n' > "$folder/fault.conf"
systemctl daemon-reload
systemctl kill --signal=KILL "$1"
systemctl stop "$1"
"""


class UnitDaemon:
    """The unit; whatever ends by itself is started again by systemd, as the unit says."""

    def __init__(self, name: str, node: NodeConnection, unit: str):
        self.name = name
        self.node = node
        self.unit = unit

    @property
    def running(self) -> bool:
        """Whether it does, or is about to."""
        return states(self.node, [self.unit])[0] not in ENDED

    def start(self) -> None:
        """Start it; it is not waited for."""
        self.node.run("systemctl", "start", self.unit)

    def stop(self, timeout_seconds: float = 60) -> None:
        """End it as an operator does; TimeoutError when it had to be killed."""
        self.node.run("systemctl", "stop", "--no-block", self.unit)
        try:
            what = f"the end of {self.name}"
            wait_until(lambda: not self.running, what, 0.5, timeout_seconds)
        except TimeoutError as error:
            error.add_note(self.log_end())
            self.kill()
            raise

    def kill(self) -> None:
        """End all of its processes at once."""
        if self.running:
            self.node.script(KILL, self.unit)

    def log_end(self, lines: int = 40) -> str:
        """The last lines of its log."""
        journal = ("journalctl", "--no-pager", "--output=cat")
        return self.node.run(*journal, f"--lines={lines}", f"--unit={self.unit}", check=False)


def states(node: NodeConnection, units: list[str]) -> list[str]:
    """The states of units of a node."""
    return node.run("systemctl", "show", "--property=ActiveState", "--value", *units).split()
