"""Folders of runs that hold files and no record, as a broken-off copy or removal leaves them.

Nothing reads them, and no record could take their place: a run would be made for nothing. They may
be the last that there is of a run, so nothing here removes a file.
"""

import contextlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sluice_evaluation.errors import EvaluationError
from sluice_evaluation.records import RECORD_NAME, result_directory

_RUN_FOLDER = re.compile(r"\d{2,}(-failed-\d+)?")
WHAT_TO_DO = (
    f"there are files and no {RECORD_NAME}, as a broken-off copy or removal leaves it: bring all "
    "of the record back, or remove the folder"
)


def find(results: Path) -> Iterator[Path]:
    """Those below a folder of results, in a stable order."""
    folders = sorted(results.glob("*/*/*/*"))
    return (path for path in folders if _RUN_FOLDER.fullmatch(path.name) and _is_left_over(path))


def faults(path: Path, _: Path) -> list[str]:
    """What is wrong with one of them."""
    return [f"{path}: {WHAT_TO_DO}"]


def require_none(runs: Iterable[dict[str, Any]], results: Path) -> None:
    """Refuse to plan runs that could not be recorded; EvaluationError naming the folders."""
    places = [results / result_directory(run, failed) for run in runs for failed in (False, True)]
    if found := [str(place) for place in places if _is_left_over(place)]:
        raise EvaluationError(f"{', '.join(found)}: {WHAT_TO_DO}; then plan again")


def require_free(destination: Path) -> None:
    """Refuse a place for a record that something is at; folders without any file make room."""
    _remove_empty(destination)
    if not destination.exists():
        return
    if _is_left_over(destination):
        raise EvaluationError(f"{destination}: {WHAT_TO_DO}; then record again")
    raise EvaluationError(
        f"{destination} exists: records are never overwritten; plan again for what is left"
    )


def _is_left_over(folder: Path) -> bool:
    if not folder.is_dir() or (folder / RECORD_NAME).exists():
        return False
    return any(not path.is_dir() for path in folder.rglob("*"))


def _remove_empty(folder: Path) -> None:
    inside = sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True)
    for path in (*inside, folder):
        # One that is not empty stays.
        with contextlib.suppress(OSError):
            path.rmdir()
