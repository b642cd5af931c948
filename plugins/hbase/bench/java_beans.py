"""Figures that the daemons of HDFS and HBase show at their web pages; Java calls them beans."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from typing import Any

ANSWER_TIMEOUT_SECONDS = 10
# A proxy of the environment knows neither this machine's loopback interface nor its test beds.
WITHOUT_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def bean(daemon: str, address: str, name: str) -> dict[str, Any]:
    """A bean of the daemon whose page is at an address; LookupError when it has none so named."""
    url = f"http://{address}/jmx?{urllib.parse.urlencode({'qry': name})}"
    with WITHOUT_PROXY.open(url, timeout=ANSWER_TIMEOUT_SECONDS) as answer:
        beans = json.load(answer)["beans"]
    if not beans:
        raise LookupError(f"{daemon} has no bean {name}")
    return beans[0]
