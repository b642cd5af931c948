#!/usr/bin/env python3
"""Adds a node where the controller asks for one.

It looks at what service levels ask for (sluice slo get, for which a certificate of the role viewer
is enough), and at what the inventory says of the hosts that stand by, and runs
playbooks/add_node.yml: one host at a time, in the order of the group, and not sooner than
--rest-seconds after the last one began. A host whose joining has begun is finished first, whatever
is asked for by then. It remembers nothing: killed at any time, it goes on from the inventory. It
takes no host away.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import fcntl
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

ADD_NODE = Path(__file__).resolve().parent / "add_node.yml"
ANSIBLE_CONFIGURATION = ADD_NODE.parents[1] / "ansible.cfg"
SERVICE_LEVEL_TIMEOUT_SECONDS = 30
ASKING_STATES = {"wants-node", "refused"}
RECORDED = {"begun", "added", "failed"}
EXIT_CODES = {"failed": 1, "no-host": 3, "unknown": 4}
HELP_OF_EXIT_CODES = """exit codes:
  0  nothing is asked for, a node was added, or it is too early for another
  1  a node could not be added; what was printed says what to do
  2  called in a wrong way
  3  a node is asked for, and no host stands by
  4  the controller or the inventory could not be read
"""


class Unreadable(Exception):
    """What is asked for, or what stands by, is not known."""


@dataclass
class Outcome:
    """What one look has come to."""

    outcome: str
    reason: str
    node: str = ""
    asked_by: list[str] = field(default_factory=list)
    at: str = field(default_factory=lambda: stamp(now()))


@dataclass(frozen=True)
class Standby:
    """A host of the group, as the inventory has it."""

    name: str
    is_member: bool
    state: str
    began_at: str


@dataclass(frozen=True)
class Inventory:
    """Hosts that stand by or have joined, in their order, and how many serve."""

    hosts: list[Standby]
    members: int

    def joining(self) -> list[Standby]:
        """Hosts whose joining has begun and not ended."""
        return [host for host in self.hosts if host.state == "joining"]

    def free(self) -> list[Standby]:
        """Hosts that have not begun to join."""
        return [host for host in self.hosts if not host.is_member and not host.state]

    def last_began(self) -> datetime.datetime | None:
        """When the last one began to join; None if none has."""
        times = [time_of(host.began_at) for host in self.hosts if host.began_at]
        return max(times, default=None)


def now() -> datetime.datetime:
    """The time now, to the second."""
    return datetime.datetime.now(datetime.UTC).replace(microsecond=0)


def stamp(at: datetime.datetime) -> str:
    """A time as files and people have it."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def time_of(text: str) -> datetime.datetime:
    """The time that a file of the inventory has."""
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.UTC)


def answer(command: list[str], timeout_seconds: float | None = None) -> dict:
    """The JSON that a command prints."""
    try:
        done = subprocess.run(
            command,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout_seconds,
        )
        if done.returncode == 0:
            return json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError) as reason:
        raise Unreadable(f"{command[0]}: {reason}") from reason
    raise Unreadable(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")


def environment() -> dict[str, str]:
    """What Ansible runs with: the configuration beside the playbooks, unless another is named."""
    return {"ANSIBLE_CONFIG": str(ANSIBLE_CONFIGURATION)} | dict(os.environ)


def hosts_of(listed: dict, group: str) -> list[str]:
    """Hosts of a group and of its children, each once."""
    own = listed.get(group, {})
    below = [name for child in own.get("children", []) for name in hosts_of(listed, child)]
    return list(dict.fromkeys(own.get("hosts", []) + below))


def inventory_of(listed: dict, group: str, member_group: str) -> Inventory:
    """What ansible-inventory --list tells of the hosts that stand by."""
    if group not in listed:
        raise Unreadable(f"the inventory has no group {group}: put hosts there that stand by")
    members = hosts_of(listed, member_group)
    variables = listed["_meta"]["hostvars"]

    def standby(name: str) -> Standby:
        own = variables.get(name, {})
        state = own.get("standby_nodes_state", "")
        return Standby(name, name in members, state, own.get("standby_nodes_began_at", ""))

    return Inventory([standby(name) for name in hosts_of(listed, group)], len(members))


def asking(levels: dict, store: str) -> dict[str, int]:
    """Service levels that ask for a node, each with the number of nodes on which it does."""
    return {
        level["service_level"]["name"]: level.get("nodes", 0)
        for level in levels.get("service_levels", [])
        if level["service_level"]["store"] == store
        and level.get("wanted_action") == "add-node"
        and level.get("state") in ASKING_STATES
    }


class Adding:
    """One look, and what follows from it."""

    def __init__(self, options: argparse.Namespace, lock_descriptor: int):
        self.options = options
        self.lock_descriptor = lock_descriptor

    def inventory(self) -> Inventory:
        """The inventory as it is now."""
        listed = answer(["ansible-inventory", *self.arguments(), "--list"])
        return inventory_of(listed, self.options.group, self.options.member_group)

    def arguments(self) -> list[str]:
        """What all commands of Ansible are given."""
        inventories = [f"--inventory={path}" for path in self.options.inventory]
        return inventories + [f"--extra-vars={text}" for text in self.options.extra_vars]

    def asking(self) -> dict[str, int]:
        """Who asks for a node, and on how many."""
        command = [self.options.sluice, "slo", "get", "-o", "json"]
        return asking(answer(command, SERVICE_LEVEL_TIMEOUT_SECONDS), self.options.store)

    def look(self) -> Outcome:
        """Adds a node if one is asked for, or finishes one."""
        try:
            return self.follow(self.inventory())
        except Unreadable as reason:
            return Outcome("unknown", str(reason))

    def follow(self, inventory: Inventory) -> Outcome:
        """What the inventory and the controller lead to."""
        if unfinished := inventory.joining():
            return self.run(unfinished[0].name, [], "its joining has begun")
        nodes = self.asking()
        asked_by = sorted(nodes)
        if not asked_by:
            return Outcome("nothing", "no service level asks for a node")
        seen = max(nodes.values())
        if seen < inventory.members:
            # Asked for on the nodes before the last one joined: that may have been enough.
            reason = f"the controller sees {seen} nodes, and the inventory has {inventory.members}"
            return Outcome("waits", reason, asked_by=asked_by)
        last = inventory.last_began()
        next_at = last and last + datetime.timedelta(seconds=self.options.rest_seconds)
        if next_at and now() < next_at:
            return Outcome(
                "waits", f"the next node may join at {stamp(next_at)}", asked_by=asked_by
            )
        return self.add_first(inventory.free(), asked_by)

    def add_first(self, hosts: list[Standby], asked_by: list[str]) -> Outcome:
        """Has the first host join that can; one that cannot even begin is passed over."""
        if not hosts:
            reason = f"no host of group {self.options.group} stands by any more: add hosts to it"
            return Outcome("no-host", reason, asked_by=asked_by)
        for host in hosts:
            outcome = self.run(host.name, asked_by, "a node is asked for")
            if outcome.outcome != "failed" or self.has_begun(host.name):
                break
        return outcome

    def has_begun(self, name: str) -> bool:
        """Whether the inventory knows that a host joins."""
        return any(host.name == name and host.state for host in self.inventory().hosts)

    def run(self, name: str, asked_by: list[str], why: str) -> Outcome:
        """Runs the playbook for a host."""
        command = ["ansible-playbook", *self.arguments(), *self.options.argument]
        command += [f"--extra-vars=node={name}", str(ADD_NODE)]
        if self.options.dry_run:
            return Outcome("dry-run", f"{why}: {' '.join(command)}", name, asked_by)
        self.record(Outcome("begun", why, name, asked_by))
        # What it prints is for people. It keeps the lock, should this program be killed and it not.
        done = subprocess.run(
            command,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            check=False,
            pass_fds=[self.lock_descriptor],
        )
        if done.returncode == 0:
            return Outcome("added", f"{why}, and it has joined", name, asked_by)
        reason = (
            f"add_node.yml ended with {done.returncode}, and what it printed says why. If there is "
            f"a file joined-{name}.yml, the next look goes on with this host; docs/operations.md, "
            "A further node, says how to take it out"
        )
        return Outcome("failed", reason, name, asked_by)

    def record(self, outcome: Outcome) -> None:
        """Adds a line to the record of what was done."""
        if outcome.outcome not in RECORDED:
            return
        with (self.options.state_directory / "record.jsonl").open("a") as file:
            file.write(json.dumps(asdict(outcome)) + "\n")


def show(outcome: Outcome, form: str) -> None:
    """Prints what came of a look."""
    if form == "json":
        print(json.dumps(asdict(outcome)), flush=True)
        return
    about = [
        outcome.node,
        f"asked for by {', '.join(outcome.asked_by)}" if outcome.asked_by else "",
    ]
    print(": ".join(text for text in [outcome.outcome, *about, outcome.reason] if text), flush=True)


@contextlib.contextmanager
def lock(state_directory: Path):
    """The only one that adds nodes; None if there is another, or a playbook that one has left."""
    state_directory.mkdir(parents=True, exist_ok=True)
    with (state_directory / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        yield file.fileno()


def look_once(options: argparse.Namespace) -> Outcome:
    """One look, unless another one is under way."""
    with lock(options.state_directory) as descriptor:
        if descriptor is None:
            return Outcome(
                "waits", "another run of this program, or a playbook that it began, is under way"
            )
        adding = Adding(options, descriptor)
        outcome = adding.look()
        adding.record(outcome)
        return outcome


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=HELP_OF_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "-i",
        "--inventory",
        action="append",
        required=True,
        help="folder of an inventory; may be repeated",
    )
    add(
        "-e",
        "--extra-vars",
        action="append",
        default=[],
        help="variables, as for ansible-playbook; may be repeated",
    )
    add(
        "--argument",
        action="append",
        default=[],
        help="further argument of ansible-playbook; may be repeated",
    )
    add(
        "--group",
        default="hbase_standby",
        help="group of the hosts that stand by (default: %(default)s)",
    )
    add(
        "--member-group",
        default="hbase_regionserver",
        help="group of the hosts that serve (default: %(default)s)",
    )
    add("--store", default="hbase", help="store whose service levels count (default: %(default)s)")
    add(
        "--rest-seconds",
        type=float,
        default=3600.0,
        help="least time between two nodes (default: %(default)s)",
    )
    add(
        "--every-seconds",
        type=float,
        help="go on for ever, with a look each time that this has passed",
    )
    add(
        "--sluice",
        default="sluice",
        help="the command line (default: %(default)s); SLUICE_CONFIG says whom it asks",
    )
    add(
        "--state-directory",
        type=Path,
        default=Path("/var/lib/sluice-add-nodes"),
        help="folder for record.jsonl, what was done, and for a lock (default: %(default)s)",
    )
    add("--dry-run", action="store_true", help="say which host would join, and change nothing")
    add("-o", "--output", choices=["text", "json"], default="text", help="form of what is printed")
    return parser.parse_args(arguments)


def main() -> int:
    """Entry point."""
    options = parse(sys.argv[1:])
    while True:
        outcome = look_once(options)
        show(outcome, options.output)
        if options.every_seconds is None:
            return EXIT_CODES.get(outcome.outcome, 0)
        time.sleep(options.every_seconds)


if __name__ == "__main__":
    sys.exit(main())
