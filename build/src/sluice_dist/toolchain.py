"""Compiler wrappers: the same options for each variant, and nothing of the machine's paths in
what is built.
"""

import os
import shutil
import subprocess
from pathlib import Path

from sluice_dist.errors import DistError
from sluice_dist.release import Release
from sluice_dist.reproducible import file_sha256

_COMPILERS = ("cc", "gcc", "c++", "g++")
# Of the caller, and of a `make` around this call: PostgreSQL makes its generated headers first only
# where MAKELEVEL says that no other make is around it.
_LEFT_OUT = (
    *("CC", "CXX", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS"),
    *("MAKEFLAGS", "MAKELEVEL", "MFLAGS"),
    *("LANGUAGE", "LC_CTYPE", "LC_MESSAGES"),
)


def compiler_version(compiler: str) -> str:
    """First line of what COMPILER says of itself."""
    try:
        done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise DistError(f"there is no compiler {compiler}", "run build/bootstrap") from None
    return done.stdout.splitlines()[0]


def toolchain_sha256() -> str:
    """Hash of what decides with which options and in which environment is compiled."""
    return file_sha256(Path(__file__))


def write_wrappers(release: Release, folder: Path) -> None:
    """Write a wrapper of each compiler to FOLDER, with ccache if there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    # In a wrapper and not in CFLAGS, which stores record in what they install.
    maps = f"-ffile-prefix-map={release.build}=. -ffile-prefix-map={release.stage}=."
    ccache = shutil.which("ccache")
    for name in _COMPILERS:
        compiler = _real_compiler(name)
        if compiler:
            command = " ".join(filter(None, [ccache, compiler, maps]))
            (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            (folder / name).chmod(0o755)


def build_environment(release: Release, wrappers: Path) -> dict[str, str]:
    """Give the environment of a build: the caller's, without what would change the result."""
    kept = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    return kept | {
        "PATH": f"{wrappers}:{os.environ['PATH']}",
        # LANG too: PostgreSQL's tests take LC_ALL away, and ccache tells files of locales apart.
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "CCACHE_DIR": str(release.layout.ccache),
        "CCACHE_BASEDIR": str(release.layout.work),
        "CCACHE_NOHASHDIR": "1",
        # The wrapper is no compiler by its time stamp: ccache has to look at the real one.
        "CCACHE_COMPILERCHECK": "content",
    }


def _real_compiler(name: str) -> str | None:
    # /usr/lib/ccache on the caller's path would run ccache twice.
    folders = [folder for folder in os.get_exec_path() if "ccache" not in folder]
    return shutil.which(name, path=os.pathsep.join(folders))
