"""What the web pages of Hadoop's and HBase's daemons tell in JSON."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request

TIMEOUT_SECONDS = 5.0


class NoAnswer(Exception):
    """The daemon cannot be reached, or does not tell this yet."""


def document(page: str, path: str) -> dict:
    """The JSON object at a path of a daemon's web page."""
    # Not through a proxy: the daemons are on the cluster's own network.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(page + path, timeout=TIMEOUT_SECONDS) as answer:
            told = json.load(answer)
    except (OSError, urllib.error.URLError, json.JSONDecodeError) as error:
        raise NoAnswer(f"{page} does not answer: {error}") from error
    if not isinstance(told, dict):
        raise NoAnswer(f"{page} tells no object at {path}")
    return told


def bean(page: str, name: str) -> dict:
    """One bean of a daemon, by its full name, from /jmx."""
    found = document(page, f"/jmx?qry={urllib.parse.quote(name, safe=':=,')}").get("beans", [])
    if not found:
        raise NoAnswer(f"{page} has no {name} yet")
    return found[0]
