"""A published archive at an address."""

import http.client
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from sluice_dist.layout import Layout
from sluice_dist.sources import Unavailable
from sluice_dist.upstream import SourceArchive

KEYS = ("url",)
# Short, as there is a next place to try.
TIMEOUT_SECONDS = 10
_CHUNK_BYTES = 1 << 20


def describe(place: dict[str, Any]) -> str:
    """Name the place."""
    return str(place["url"])


def fetch(place: dict[str, Any], archive: SourceArchive, destination: Path, layout: Layout) -> None:
    """Download to DESTINATION, with the machine's proxy settings."""
    try:
        with (
            urllib.request.urlopen(place["url"], timeout=TIMEOUT_SECONDS) as answer,
            destination.open("wb") as file,
        ):
            total = int(answer.headers.get("Content-Length") or 0)
            _copy(answer, file, total, archive.name)
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        raise Unavailable(str(reason)) from None


def _copy(answer, file, total_bytes: int, name: str) -> None:
    done_bytes = 0
    while chunk := answer.read(_CHUNK_BYTES):
        file.write(chunk)
        done_bytes += len(chunk)
        _show_progress(name, done_bytes, total_bytes)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if total_bytes and done_bytes != total_bytes:
        raise OSError(f"the connection ended after {done_bytes} of {total_bytes} bytes")


def _show_progress(name: str, done_bytes: int, total_bytes: int) -> None:
    if not sys.stderr.isatty():
        return
    share = f"{100 * done_bytes // total_bytes}%" if total_bytes else ""
    print(f"\r  {name}: {done_bytes / 1e6:.1f} MB {share}", end="", file=sys.stderr, flush=True)
