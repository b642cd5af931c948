"""An agent and a controller whose policy holds the compactions of every region server."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from daemons import LOOPBACK, Daemon, free_ports
from one_node import OneNode

TOP = Path(__file__).resolve().parents[3]
CLUSTER, NODE, CONTROLLER = "faults", "n1", "c1"
POLICY = {
    "name": "steady",
    "type": "script",
    "targets": {"store": "hbase", "kind": "compaction"},
    "parameters": {
        "source": "def decide(view):\n    return {'setting': 'hold', 'reason': 'test'}\n"
    },
}
POLICY_OWNER = f"policy/{POLICY['name']}"

CERTIFICATE = """
[req]
distinguished_name = name
prompt = no
x509_extensions = extensions
[name]
CN = {name}
[extensions]
"""
AUTHORITY = "basicConstraints = critical, CA:true\nkeyUsage = critical, keyCertSign\n"
HOLDER = """subjectAltName = URI:{uri}
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth, serverAuth
"""

AGENT = """cluster: {cluster}
node: {node}
listen: "{agent}"
metrics_listen: "{metrics}"
tls:
  certificate_file: {folder}/agent.crt
  key_file: {folder}/agent.key
  ca_file: {folder}/ca.crt
socket_directory: {sockets}
snapshot_period_seconds: 0.2
"""
CONTROLLER_CONFIGURATION = """cluster: {cluster}
name: {controller}
listen: "{controller_address}"
page: {{listen: "{page}"}}
tls:
  certificate_file: {folder}/controller.crt
  key_file: {folder}/controller.key
  ca_file: {folder}/ca.crt
agents: [{{node: {node}, address: "{agent}"}}]
policies: [{policy}]
"""


def build(folder: Path) -> Path:
    """Compile the program `sluice`."""
    program = folder / "sluice"
    command = ["go", "build", "-o", str(program), "./cmd/sluice"]
    done = subprocess.run(command, cwd=TOP / "control", capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
    return program


def control_planes(program: Callable[[], Path], node: OneNode) -> Callable[[], ControlPlane]:
    """Gives a new agent and a new controller each time, not started."""
    numbers = itertools.count(1)
    folders = (node.folder / f"control{number}" for number in numbers)
    return lambda: ControlPlane(program(), next(folders), node.folder / "run")


class ControlPlane:
    """Both processes, not started; their files are in a folder, and stay when they are killed."""

    def __init__(self, program: Path, folder: Path, sockets: Path):
        folder.mkdir()
        self._folder = folder
        self._certify()
        names = ("agent", "metrics", "controller_address", "page")
        ports = zip(names, free_ports(len(names)), strict=True)
        values = {name: f"{LOOPBACK}:{port}" for name, port in ports}
        values |= {"cluster": CLUSTER, "node": NODE, "controller": CONTROLLER}
        values |= {"folder": str(folder), "sockets": str(sockets), "policy": json.dumps(POLICY)}
        self.agent = self._daemon(program, "agent", AGENT.format(**values))
        configuration = CONTROLLER_CONFIGURATION.format(**values)
        self.controller = self._daemon(program, "controller", configuration)

    def __enter__(self) -> ControlPlane:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start what does not run."""
        for daemon in (self.agent, self.controller):
            if not daemon.running:
                daemon.start()

    def kill(self) -> None:
        """End both at once."""
        self.agent.kill()
        self.controller.kill()

    def agent_of(self, _: str) -> Daemon:
        """The agent that gives a region server its orders: there is one for all."""
        return self.agent

    def _daemon(self, program: Path, name: str, configuration: str) -> Daemon:
        file = self._folder / f"{name}.yaml"
        file.write_text(configuration)
        command = [str(program), name, "--config", str(file)]
        return Daemon(name, command, os.environ, self._folder / f"{name}.log")

    def _certify(self) -> None:
        self._certificate("ca", "authority", AUTHORITY)
        for role, name in (("agent", NODE), ("controller", CONTROLLER)):
            holder = HOLDER.format(uri=f"sluice://{CLUSTER}/{role}/{name}")
            self._certificate(role, name, holder, "-CA", "ca.crt", "-CAkey", "ca.key")

    def _certificate(self, file: str, name: str, extensions: str, *authority: str) -> None:
        configuration = self._folder / f"{file}.cnf"
        configuration.write_text(CERTIFICATE.format(name=name) + extensions)
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-nodes", "-days", "2"]
        command += ["-pkeyopt", "ec_paramgen_curve:P-256", "-config", str(configuration)]
        command += ["-keyout", f"{file}.key", "-out", f"{file}.crt", *authority]
        done = subprocess.run(command, cwd=self._folder, capture_output=True, text=True)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
