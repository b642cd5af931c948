"""The library's binary interface: programs that were built for stock run with the patched one."""

import filecmp
import subprocess
from pathlib import Path

from rocksdb_stage import Staged

SUPPRESSIONS = Path(__file__).with_name("templates.abignore")
# Bits of abidiff's exit status.
ABIDIFF_FAILED = 1 | 2
ADDED = 4
INCOMPATIBLE = 8


def compare(stock: Staged, other: Path) -> subprocess.CompletedProcess:
    suppressed = ["--suppressions", str(SUPPRESSIONS)]
    command = ["abidiff", *suppressed, "--no-added-syms", str(stock.library), str(other)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode & ABIDIFF_FAILED, done.stderr
    return done


def test_nothing_of_stocks_is_missing_or_changed(stock: Staged, patched: Staged) -> None:
    done = compare(stock, patched.library)
    assert done.returncode & (ADDED | INCOMPATIBLE) == 0, done.stdout


def test_types_are_declared_as_in_stock(stock: Staged, patched: Staged) -> None:
    # Without debugging information abidiff sees symbols alone; types are what the headers say.
    differing = filecmp.dircmp(stock.prefix / "include", patched.prefix / "include")
    below = differing.subdirs["rocksdb"]
    assert below.right_only == ["background_hooks.h"]
    assert not below.left_only
    assert changed_files(differing) == []


def test_the_comparison_finds_what_is_missing(stock: Staged) -> None:
    done = compare(stock, Path("/lib/x86_64-linux-gnu/libz.so.1"))
    assert done.returncode & INCOMPATIBLE


def test_both_have_the_same_name_for_the_linker(stock: Staged, patched: Staged) -> None:
    assert soname(stock.library) == soname(patched.library) == "librocksdb.so.11"


def changed_files(compared: filecmp.dircmp) -> list[str]:
    below = (changed_files(folder) for folder in compared.subdirs.values())
    return sum(below, compared.diff_files)


def soname(library: Path) -> str:
    command = ["objdump", "--private-headers", str(library)]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    (line,) = (line for line in shown.splitlines() if "SONAME" in line)
    return line.split()[1]
