"""Gives leases and renews them until it is killed, as an agent does: see dead_client.py.

Reads one line from standard input, a JSON document with the socket, the orders (params of `set`)
and the seconds between renewals. Before each round of orders it prints the time of the monotonic
clock, after the round the word `given`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from sluice_evaluation.bench.plugin_socket import PluginSocket


def main() -> None:
    """Renew for ever."""
    wanted = json.loads(sys.stdin.readline())
    with PluginSocket(Path(wanted["socket"])) as plugin:
        while True:
            print(time.monotonic(), flush=True)
            for order in wanted["orders"]:
                plugin.call("set", order)
            print("given", flush=True)
            time.sleep(wanted["renewal_seconds"])


if __name__ == "__main__":
    main()
