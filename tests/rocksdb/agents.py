"""Agents of nodes whose stores have compactions, and of those that do them; each a process."""

import os
import random
import signal
import socket
import ssl
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
STORE_NODE, WORKER_NODE = "db-1", "db-2"
PATIENCE_SECONDS = 600
# The kernel gives none of these to an outgoing connection: an agent that is started again finds its
# own free.
PORTS = range(10_000, 32_768)


def wait_for(what: str, is_so: Callable[[], bool]) -> None:
    """Return when something is so; fail when it takes too long on any machine."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < end, f"waited {PATIENCE_SECONDS} s for {what}"
        time.sleep(0.05)


def free_address() -> str:
    while True:
        address = ("127.0.0.1", random.choice(PORTS))
        try:
            socket.create_server(address).close()
        except OSError:
            continue
        return f"{address[0]}:{address[1]}"


def build_program(folder: Path, package: str = "./cmd/sluice") -> Path:
    """Give a program of the control plane, by default its own, built of this checkout."""
    program = folder / Path(package).name
    command = ["go", "build", "-o", str(program), package]
    flags = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -trimpath"}
    subprocess.run(command, cwd=ROOT / "control", env=os.environ | flags, check=True)
    return program


class Authority:
    """Certificates of a cluster."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self._openssl("req", "-x509", *self._new_key("ca"), "-days", "2", "-out", "ca.crt")

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(
            ["openssl", *arguments], cwd=self.folder, check=True, capture_output=True, text=True
        )

    @staticmethod
    def _new_key(name: str) -> list[str]:
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        return [*key, "-subj", f"/CN={name}", "-keyout", f"{name}.key"]

    def issue(self, node: str) -> dict[str, str]:
        """Give the files of a node's agent, by their keys in its configuration."""
        (self.folder / f"{node}.ext").write_text(
            f"subjectAltName=URI:sluice://test/agent/{node}\n"
            "extendedKeyUsage=clientAuth,serverAuth\nkeyUsage=digitalSignature\n"
        )
        self._openssl("req", *self._new_key(node), "-out", f"{node}.csr")
        authority = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"]
        request = ["-req", "-in", f"{node}.csr", "-extfile", f"{node}.ext"]
        self._openssl("x509", *request, *authority, "-out", f"{node}.crt")
        return {
            "certificate_file": str(self.folder / f"{node}.crt"),
            "key_file": str(self.folder / f"{node}.key"),
            "ca_file": str(self.folder / "ca.crt"),
        }


class Agent:
    """The agent of a node, which can be killed and started again."""

    def __init__(self, program: Path, folder: Path, configuration: dict[str, object]) -> None:
        self._file = folder / "agent.yml"
        self._command = [str(program), "agent", "--config", str(self._file)]
        self._log = folder / "agent.log"
        self._files = configuration["tls"]
        self._metrics = f"https://{configuration['metrics_listen']}/metrics"
        self.configuration = configuration
        self.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> None:
        self._file.write_text(yaml.safe_dump(self.configuration))
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def send_signal(self, which: signal.Signals) -> None:
        self._process.send_signal(which)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def end(self) -> None:
        """Have it end by itself."""
        self._process.terminate()
        assert self._process.wait(PATIENCE_SECONDS) == 0, self._log.read_text()

    def metrics(self) -> dict[str, float]:
        """Give what Prometheus would read, by name and labels; nothing while it does not answer."""
        context = ssl.create_default_context(cafile=self._files["ca_file"])
        # Names are in certificates as URIs, which this client knows nothing of.
        context.check_hostname = False
        context.load_cert_chain(self._files["certificate_file"], self._files["key_file"])
        try:
            with urllib.request.urlopen(self._metrics, context=context) as answer:
                lines = answer.read().decode().splitlines()
        except OSError:
            return {}
        return {
            name: float(value)
            for name, _, value in (line.rpartition(" ") for line in lines)
            if not name.startswith("#")
        }
