"""The library that workers load for the databases of db_stress."""

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

USE_PUT_ENTITY_ONE_IN = 5
"""Of so many values one has columns: what db_stress is told, and the library is compiled with."""

OBJECTS = Path(__file__).with_name("db_stress_objects.cc")
UPSTREAM = ("db_stress_compression_manager.cc", "db_stress_wide_merge_operator.cc")


def compiler_of(objects: Path, target: str) -> list[str]:
    """Give what the build in OBJECTS compiles TARGET with, without the names of files."""
    command = ["ninja", "-C", str(objects), "-t", "commands", "-s", target]
    shown = subprocess.run(command, check=True, capture_output=True, text=True)
    arguments = shlex.split(shown.stdout.strip().splitlines()[-1])
    return arguments[: arguments.index("-MD")]


def build_library(build: Path, folder: Path) -> Path:
    """Compile it as BUILD has compiled db_stress, so that both have the same classes."""
    objects = build / "objects"
    compiler = compiler_of(objects, "db_stress_tool/CMakeFiles/db_stress.dir/db_stress.cc.o")
    sources = [OBJECTS, *(build / "source" / "db_stress_tool" / name for name in UPSTREAM)]
    compiled = [_compile(compiler, source, folder) for source in sources]
    library = folder / "libdb_stress_objects.so"
    _run([compiler[0], "-shared", "-o", library, *compiled, "-lgflags"])
    return library


def _compile(compiler: Sequence[str], source: Path, folder: Path) -> Path:
    compiled = folder / f"{source.name}.o"
    defined = f"-DUSE_PUT_ENTITY_ONE_IN={USE_PUT_ENTITY_ONE_IN}"
    _run([*compiler, "-fPIC", defined, "-c", source, "-o", compiled])
    return compiled


def _run(command: Sequence[object]) -> None:
    subprocess.run([str(each) for each in command], check=True)
