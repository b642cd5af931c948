"""What the web pages of Hadoop's and HBase's daemons tell in JSON."""

from __future__ import annotations

import http.client
import json
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
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoAnswer(f"{page} does not answer: {error}") from error
    if not isinstance(told, dict):
        raise NoAnswer(f"{page} tells no object at {path}")
    return told


def bean(page: str, name: str, *attributes: str) -> dict:
    """One bean of a daemon, by its full name, from /jmx, which must have these attributes."""
    found = document(page, f"/jmx?qry={urllib.parse.quote(name, safe=':=,')}").get("beans", [])
    if not found:
        raise NoAnswer(f"{page} has no {name} yet")
    # A daemon that starts has its beans before it can compute all that they tell.
    missing = [attribute for attribute in attributes if found[0].get(attribute) is None]
    if missing:
        raise NoAnswer(f"{page} does not tell {', '.join(missing)} of {name} yet")
    return found[0]
