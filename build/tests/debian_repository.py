"""A small Debian archive on loopback: source packages, index, Release, served over HTTP."""

import hashlib
import subprocess
from pathlib import Path

FORMAT = """\
Format: 3.0 (quilt)
Source: {package}
Binary: {package}
Architecture: any
Version: {version}
Maintainer: Nobody <nobody@example.org>
Standards-Version: 4.6.2
Package-List:
 {package} deb misc optional arch=any
Checksums-Sha256:
{sums}
Files:
{md5sums}
"""


def _rows(files: list[Path], algorithm: str) -> str:
    digests = [hashlib.new(algorithm, file.read_bytes()).hexdigest() for file in files]
    sizes = [file.stat().st_size for file in files]
    return "\n".join(
        f" {digest} {size} {file.name}"
        for digest, size, file in zip(digests, sizes, files, strict=True)
    )


def add_source(archive: Path, suite: str, package: str, version: str, original: bytes) -> None:
    """Put source PACKAGE with the original archive ORIGINAL into the pool of SUITE."""
    pool = archive / "pool" / suite / package
    pool.mkdir(parents=True, exist_ok=True)
    orig = pool / f"{package}_{version}.orig.tar.gz"
    orig.write_bytes(original)
    debian = pool / f"{package}_{version}-1.debian.tar.xz"
    (pool / "debian").mkdir()
    subprocess.run(["tar", "-cJf", debian, "-C", pool, "debian"], check=True)
    (pool / "debian").rmdir()
    files = [orig, debian]
    (pool / f"{package}_{version}-1.dsc").write_text(
        FORMAT.format(
            package=package,
            version=f"{version}-1",
            sums=_rows(files, "sha256"),
            md5sums=_rows(files, "md5"),
        )
    )


def publish(archive: Path, suite: str, codename: str, origin: str = "Debian") -> None:
    """Write the index and the Release file of SUITE, also under its CODENAME."""
    (archive / "pool" / suite).mkdir(parents=True, exist_ok=True)
    listing = subprocess.run(
        ["dpkg-scansources", f"pool/{suite}"], cwd=archive, check=True, capture_output=True
    ).stdout
    sums = f" {hashlib.sha256(listing).hexdigest()} {len(listing)} main/source/Sources"
    release = (
        f"Origin: {origin}\nSuite: {suite}\nCodename: {codename}\nComponents: main\n"
        f"Architectures: amd64\nDate: Fri, 20 Nov 2026 00:00:00 UTC\nSHA256:\n{sums}\n"
    )
    for name in {suite, codename}:
        folder = archive / "dists" / name
        (folder / "main" / "source").mkdir(parents=True)
        (folder / "main" / "source" / "Sources").write_bytes(listing)
        (folder / "Release").write_text(release)
