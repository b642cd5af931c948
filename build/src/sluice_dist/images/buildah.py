"""Build container images with buildah: one working container, one layer, one time stamp."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sluice_dist.container_runtime import ContainerRuntime, ContainerRuntimeError


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

    def run_script(self, script: str, volumes: list[str]) -> str:
        """Run a shell script as root inside, and give its output.

        It has the machine's network, and SOURCE_DATE_EPOCH for what writes dates. Isolation
        `chroot` needs neither an OCI runtime nor user namespaces. `volumes` are
        HOST:CONTAINER:OPTIONS.
        """
        mounts = [part for volume in volumes for part in ("--volume", volume)]
        shell = ["env", f"SOURCE_DATE_EPOCH={self.build.epoch}", "sh", "-euc", script]
        options = ["--isolation", "chroot", "--network", "host", *mounts]
        return self._buildah("run", *options, self.name, "--", *shell)

    def commit(self) -> None:
        """Write the image under its reference, in the docker format, which has health checks.

        An earlier image of that name goes, unless a container still uses it.
        """
        runtime, reference = self.build.runtime, self.build.reference
        earlier = image_id(runtime, reference)
        options = ["--format", "docker", "--timestamp", str(self.build.epoch)]
        self._buildah("commit", *options, self.name, reference)
        if earlier and earlier != image_id(runtime, reference):
            with suppress(ContainerRuntimeError):
                runtime.run([runtime.podman, "rmi", earlier])

    def _buildah(self, *arguments: str) -> str:
        return self.build.runtime.run(["buildah", *arguments]).stdout


def labels_of(runtime: ContainerRuntime, reference: str) -> dict[str, str]:
    """All labels of an image in local storage; empty when it is not there."""
    return (_inspect(runtime, reference) or {}).get("Labels") or {}


def image_id(runtime: ContainerRuntime, reference: str) -> str:
    """Id of an image in local storage: the hash of its configuration; empty if not there."""
    return (_inspect(runtime, reference) or {}).get("Id", "")


def layers_of(runtime: ContainerRuntime, reference: str) -> list[str]:
    """Hashes of an image's file system layers; empty if it is not in local storage.

    They are what two builds have in common: the docker format's configuration holds the random
    name of the working container, so that ids and digests of images differ.
    """
    return (_inspect(runtime, reference) or {}).get("RootFS", {}).get("Layers", [])


def export_archive(runtime: ContainerRuntime, reference: str, target: Path) -> None:
    """Write an image from local storage as an OCI archive, a tar file.

    The OCI format has no health check: what loads the archive does not get one.
    """
    target.unlink(missing_ok=True)
    runtime.run(
        [runtime.podman, "save", "--format", "oci-archive", "--output", str(target), reference]
    )


def _inspect(runtime: ContainerRuntime, reference: str) -> dict[str, Any] | None:
    done = subprocess.run(
        [runtime.podman, "image", "inspect", reference],
        env=runtime.environment,
        text=True,
        capture_output=True,
        check=False,
    )
    return json.loads(done.stdout)[0] if done.returncode == 0 else None
