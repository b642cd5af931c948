"""The node image: Debian with systemd, sshd and Python, made from the machine's apt sources."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from sluice_dist.container_runtime import ContainerRuntime
from sluice_dist.errors import DistError
from sluice_dist.images import machine_apt, sbom
from sluice_dist.images.buildah import ImageBuild
from sluice_dist.reproducible import folder_sha256

REPOSITORY = "localhost/sluice/node"
RECIPE_LABEL = "dev.sluice.recipe.sha256"

# Identity of one machine must not be in an image; each container gets its own at first boot.
FORGET_IDENTITY = (
    'rm -f "$1"/etc/ssh/ssh_host_*_key* "$1"/etc/hostname "$1"/etc/resolv.conf'
    ' "$1"/var/lib/dbus/machine-id && : > "$1"/etc/machine-id'
)
# mmdebstrap leaves these; they hold times or the order of the build.
FORGET_BUILD = (
    'rm -f "$1"/var/cache/debconf/*-old "$1"/var/lib/dpkg/*-old "$1"/etc/*-'
    ' && find "$1"/var/log -type f -delete'
)


@dataclass(frozen=True)
class NodeRecipe:
    """`build/images/node/recipe.toml`; `folder` also holds `rootfs/`, copied as it is."""

    folder: Path
    suite: str
    tag: str
    command: list[str]
    stop_signal: str
    packages: list[str]
    masked_units: list[str]
    enabled_units: list[str]

    @classmethod
    def load(cls, folder: Path) -> NodeRecipe:
        """Read the recipe; an unknown or missing key is a TypeError that names it."""
        with (folder / "recipe.toml").open("rb") as source:
            return cls(folder=folder, **tomllib.load(source))

    @property
    def reference(self) -> str:
        """Name and tag of the image."""
        return f"{REPOSITORY}:{self.tag}"


def build_node_image(
    recipe: NodeRecipe, runtime: ContainerRuntime, output: Path, epoch: int, rebuild: bool = False
) -> str:
    """Build the image unless this recipe's is there already; return its reference.

    `epoch` (seconds) becomes every time stamp. The SBOM is in the image and in `output`.
    """
    recipe_sha256 = recipe_hash(recipe)
    build = ImageBuild(runtime, recipe.reference, epoch)
    if not rebuild and build.existing_label(RECIPE_LABEL) == recipe_sha256:
        return recipe.reference
    output.mkdir(parents=True, exist_ok=True)
    rootfs = output / f"node-{recipe.tag}.rootfs.tar"
    make_rootfs(recipe, rootfs, epoch)
    document = sbom.of_debian_rootfs(rootfs, f"sluice-node-{recipe.tag}", epoch)
    sbom_file = output / f"node-{recipe.tag}.spdx.json"
    sbom_file.write_text(document)
    with build.from_image("scratch") as container:
        container.add(rootfs, "/")
        container.add(sbom_file, f"{sbom.FOLDER_IN_IMAGE}/node.spdx.json")
        container.configure("--cmd", " ".join(recipe.command))
        container.configure("--stop-signal", recipe.stop_signal)
        container.label("org.opencontainers.image.version", recipe.tag)
        container.label(RECIPE_LABEL, recipe_sha256)
        container.commit()
    rootfs.unlink()
    return recipe.reference


def recipe_hash(recipe: NodeRecipe) -> str:
    """Hash over the recipe's files, what is made of them and what the machine's apt adds.

    Debian's packages are not in it. Raises DistError when apt has no index of the suite.
    """
    options = mmdebstrap_options(recipe, Path("conf"), Path("files"))
    sources = machine_apt.source_lines(recipe.suite)
    made = "\n".join([*options, *sources, machine_apt.acquire_configuration()])
    return hashlib.sha256(f"{folder_sha256(recipe.folder)}\n{made}".encode()).hexdigest()


def make_rootfs(recipe: NodeRecipe, target: Path, epoch: int) -> None:
    """Write the root file system as a tar file with mmdebstrap.

    Raises DistError; mmdebstrap's own messages go to stderr.
    """
    apt_conf = target.with_suffix(".apt.conf")
    apt_conf.write_text(machine_apt.acquire_configuration())
    files = target.with_suffix(".files.tar")
    files.write_bytes(tar_of_folder(recipe.folder / "rootfs", epoch))
    command = ["mmdebstrap", *mmdebstrap_options(recipe, apt_conf, files)]
    command += [recipe.suite, str(target), *machine_apt.source_lines(recipe.suite)]
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SOURCE_DATE_EPOCH": str(epoch)}
    done = subprocess.run(command, env=environment, check=False)
    apt_conf.unlink()
    files.unlink()
    if done.returncode != 0:
        raise DistError(
            f"mmdebstrap ended with {done.returncode}",
            "see its messages above; if packages are not to be had, run `apt-get update`",
        )


def mmdebstrap_options(recipe: NodeRecipe, apt_conf: Path, files: Path) -> list[str]:
    """Options but for suite, target and sources; `files` is a tar unpacked over the root."""
    enable = " ".join(recipe.enabled_units)
    mask = " ".join(recipe.masked_units)
    return [
        "--variant=minbase",
        f"--include={','.join(recipe.packages)}",
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
        "--dpkgopt=path-exclude=/usr/share/doc/*",
        "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        # Kept in the image: nodes install packages by the same route as this machine.
        f"--setup-hook=upload {apt_conf} /etc/apt/apt.conf.d/00build-machine",
        f"--customize-hook=tar-in {files} /",
        f'--customize-hook=chroot "$1" systemctl enable {enable}',
        f'--customize-hook=chroot "$1" systemctl mask {mask}',
        f"--customize-hook={FORGET_IDENTITY}",
        f"--customize-hook={FORGET_BUILD}",
    ]


def tar_of_folder(folder: Path, epoch: int) -> bytes:
    """The folder's files as a tar with fixed order, owner, modes and times.

    Modes follow the executable bit alone: a checkout's umask must not reach the image.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_dir():
                continue  # the image has its own directories
            entry = archive.gettarinfo(path, arcname=str(path.relative_to(folder)))
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            entry.mtime = epoch
            entry.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            with path.open("rb") as content:
                archive.addfile(entry, content)
    return buffer.getvalue()
