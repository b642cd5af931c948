"""The checkout's own packages and images, and containers of them, for tests of kind `image`."""

import json
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
POLL_SECONDS = 0.2
BOOT_DEADLINE_SECONDS = 300
PASSWORD = {"POSTGRES_PASSWORD": "from the environment"}


def sluice_dist(*arguments: str, environment: dict[str, str]) -> str:
    """Run the command line on this checkout, and give what it prints."""
    command = [sys.executable, "-m", "sluice_dist", "--root", str(ROOT), *arguments]
    done = subprocess.run(command, env=environment, check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout


def wait_until(what: str, condition: Callable[[], bool]) -> None:
    """Poll until the condition holds; fails after BOOT_DEADLINE_SECONDS."""
    deadline = time.monotonic() + BOOT_DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"not within {BOOT_DEADLINE_SECONDS} s: {what}"
        time.sleep(POLL_SECONDS)


@dataclass
class Podman:
    """Containers and volumes of one test, removed at its end."""

    environment: dict[str, str]
    containers: list[str] = field(default_factory=list)
    volumes: list[str] = field(default_factory=list)

    def call(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            ["podman", "--log-level=fatal", *arguments],
            env=self.environment,
            text=True,
            capture_output=True,
            check=False,
        )
        assert not check or done.returncode == 0, f"podman {arguments}: {done.stderr}{done.stdout}"
        return done

    def start(self, image: str, *command: str, options: list[str], **settings: str) -> "Container":
        name = f"sluice-test-{uuid.uuid4().hex[:12]}"
        self.containers.append(name)
        variables = [f"--env={key}={value}" for key, value in settings.items()]
        self.call("run", "--detach", "--name", name, *options, *variables, image, *command)
        return Container(self, name)

    def node(self, image: str, *options: str) -> "Container":
        """A container run by systemd, booted."""
        container = self.start(image, "/sbin/init", options=["--systemd=always", *options])
        wait_until(f"{container.name} has booted", container.booted)
        return container

    def volume(self) -> str:
        name = f"sluice-test-{uuid.uuid4().hex[:12]}"
        self.volumes.append(name)
        self.call("volume", "create", name)
        return name

    def inspect_image(self, reference: str) -> dict:
        return json.loads(self.call("image", "inspect", reference).stdout)[0]

    def remove_all(self) -> None:
        for name in self.containers:
            self.call("rm", "--force", "--time=0", name, check=False)
        for name in self.volumes:
            self.call("volume", "rm", "--force", name, check=False)


@dataclass
class Container:
    """One container that was started."""

    podman: Podman
    name: str

    def call(self, *command: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return self.podman.call("exec", self.name, *command, check=check)

    def output(self, *command: str) -> str:
        return self.call(*command).stdout.strip()

    def shell(self, script: str) -> str:
        return self.output("sh", "-euc", script)

    def booted(self) -> bool:
        state = self.call("systemctl", "is-system-running", check=False).stdout.strip()
        return state in ("running", "degraded")

    def healthy(self) -> bool:
        return self.podman.call("healthcheck", "run", self.name, check=False).returncode == 0

    def wait_until_healthy(self) -> None:
        wait_until(f"{self.name} is healthy", self.healthy)

    def state(self) -> dict:
        done = self.podman.call("container", "inspect", self.name)
        return json.loads(done.stdout)[0]["State"]

    def log(self) -> str:
        done = self.podman.call("logs", self.name)
        return done.stdout + done.stderr
