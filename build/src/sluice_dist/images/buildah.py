"""Build container images with buildah: one working container, one layer, one time stamp."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sluice_dist.container_runtime import ContainerRuntime


def folder_sha256(*folders: Path) -> str:
    """Hash of names, executable bits and contents of all files below the folders, in order."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            executable = "x" if path.stat().st_mode & 0o100 else "-"
            digest.update(f"{path.relative_to(folder)}\0{executable}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


class ImageBuild:
    """One image to be built: its reference, and `epoch` (seconds) for every time stamp in it."""

    def __init__(self, runtime: ContainerRuntime, reference: str, epoch: int):
        self.runtime = runtime
        self.reference = reference
        self.epoch = epoch

    def existing_label(self, label: str) -> str | None:
        """The label's value on the image of this name in local storage, None without either."""
        return labels_of(self.runtime, self.reference).get(label)

    @contextmanager
    def from_image(self, base: str) -> Iterator[WorkingContainer]:
        """A working container that starts as `base`; it is removed at the end in any case."""
        name = self.runtime.run(["buildah", "from", "--pull-never", base]).stdout.strip()
        try:
            yield WorkingContainer(self, name)
        finally:
            self.runtime.run(["buildah", "rm", name])


class WorkingContainer:
    """A buildah container in the making."""

    def __init__(self, build: ImageBuild, name: str):
        self.build = build
        self.name = name

    def add(self, source: Path, target: str) -> None:
        """Copy a file, or unpack a tar file, owned by root."""
        self._buildah("add", self.name, str(source), target)

    def configure(self, *options: str) -> None:
        """Set what `buildah config` can set, e.g. ("--cmd", "/sbin/init")."""
        self._buildah("config", *options, self.name)

    def label(self, name: str, value: str) -> None:
        """Set one label."""
        self.configure("--label", f"{name}={value}")

    def run_script(self, script: str, volumes: list[str]) -> None:
        """Run a shell script as root inside, with the machine's network and SOURCE_DATE_EPOCH.

        Isolation `chroot` needs neither an OCI runtime nor user namespaces. `volumes` are
        HOST:CONTAINER:OPTIONS.
        """
        mounts = [part for volume in volumes for part in ("--volume", volume)]
        shell = ["env", f"SOURCE_DATE_EPOCH={self.build.epoch}", "sh", "-euc", script]
        self._buildah(
            "run", "--isolation", "chroot", "--network", "host", *mounts, self.name, "--", *shell
        )

    def commit(self) -> None:
        """Write the image under its reference, in the docker format, which has health checks."""
        self._buildah(
            "commit",
            "--format",
            "docker",
            "--timestamp",
            str(self.build.epoch),
            self.name,
            self.build.reference,
        )

    def _buildah(self, *arguments: str) -> None:
        self.build.runtime.run(["buildah", *arguments])


def labels_of(runtime: ContainerRuntime, reference: str) -> dict[str, str]:
    """All labels of an image in local storage; empty when it is not there."""
    done = subprocess.run(
        [runtime.podman, "image", "inspect", reference],
        env=runtime.environment,
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        return {}
    return json.loads(done.stdout)[0].get("Labels") or {}
