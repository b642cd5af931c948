#!/usr/bin/python3
"""Asks HBase for a major compaction of the table under load, by the web page of the master.

Arguments: HOST of the master, and the statement of the order, start-major-compact. A command of
HBase would start a Java machine, and take CPU from the load for seconds. It ends when the
compaction was asked for, and needs nothing but the standard library.
"""

from __future__ import annotations

import sys
import urllib.error
import urllib.parse
import urllib.request

# The load's own table, as its binding names it.
TABLE = "usertable"
# By statement, as upstream's hbase-webapps/master/table.jsp has them: the action, and what the page
# says once it is given.
ACTIONS = {"start-major-compact": ("major compact", "major Compact request accepted")}
MASTER_PAGE_PORT = 16010
ANSWER_TIMEOUT_SECONDS = 20.0


def ask(host: str, statement: str, port: int = MASTER_PAGE_PORT) -> None:
    """Give the order; a page that does not take it ends this program."""
    action, accepted = ACTIONS[statement]
    query = urllib.parse.urlencode({"name": TABLE, "action": action})
    url = f"http://{host}:{port}/table.jsp?{query}"
    # Not through a proxy: the master is on the test bed.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=ANSWER_TIMEOUT_SECONDS) as answer:
            text = answer.read().decode(errors="replace")
    except (OSError, urllib.error.URLError) as error:
        raise SystemExit(f"{url}: {error}; see the master's journal on {host}") from error
    if accepted not in text:
        raise SystemExit(
            f"{url} did not take the order: create table {TABLE}, and set hbase.master.ui.readonly"
            " to false"
        )


def main() -> None:
    """Give the order that the command line names."""
    if len(sys.argv) != 3 or sys.argv[2] not in ACTIONS:
        raise SystemExit(f"usage: ask_for_compaction.py HOST {{{','.join(ACTIONS)}}}")
    ask(sys.argv[1], sys.argv[2])


if __name__ == "__main__":
    main()
