"""Removes what killed tests have left in memory.

A test of the control plane in Go has folders in /dev/shm (control/tests/process/memory.go), which
have the number of its process, and of the namespace that this number is of, in their names.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

MEMORY = Path("/dev/shm")
_NAME = re.compile(r"sluice-test-(?P<namespace>\d+)-(?P<process>\d{1,7})-\d+")


def remove(memory: Path = MEMORY) -> list[Path]:
    """Remove this user's folders whose process is gone and that no other one uses; which."""
    left = []
    for folder in sorted(memory.glob("sluice-test-*")):
        # Its test may just have ended.
        with contextlib.suppress(FileNotFoundError):
            left += [folder] if _is_left(folder) else []
    if not left:
        return []
    used = "\n".join(_used())
    unused = [folder for folder in left if str(folder) not in used]
    for folder in unused:
        shutil.rmtree(folder, ignore_errors=True)
    return unused


def _is_left(folder: Path) -> bool:
    name = _NAME.fullmatch(folder.name)
    if name is None or folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        return False
    # Of the processes of another namespace nothing is known here.
    if int(name["namespace"]) != Path("/proc/self/ns/pid").stat().st_ino:
        return False
    try:
        os.kill(int(name["process"]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _used() -> Iterator[str]:
    """What processes were started with, what they have open or in their memory, and mounts."""
    yield Path("/proc/self/mountinfo").read_text()
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "maps"):
            with contextlib.suppress(OSError):
                yield (process / name).read_text(errors="replace")
        with contextlib.suppress(OSError):
            for link in (process / "cwd", process / "root", *(process / "fd").iterdir()):
                with contextlib.suppress(OSError):
                    yield str(link.readlink())
