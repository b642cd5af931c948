"""Which cluster is hurt, how, how often, and beside how many rows; the environment may say so."""

from __future__ import annotations

import os
from pathlib import Path

from deployed_cluster import Description
from faults import SOME_ROWS, faults_of

_FILE = os.environ.get("SLUICE_DEPLOYED_CLUSTER")
# None: one of processes that are started here.
DEPLOYED = Description.read(Path(_FILE)) if _FILE else None
FAULTS = faults_of(DEPLOYED.namenodes if DEPLOYED else 1)

ROUNDS = int(os.environ.get("SLUICE_CRASH_ROUNDS", "1"))
LIST_ROWS = int(os.environ.get("SLUICE_LIST_ROWS", "200000"))
# Before each fault and after it, so that all of the list is written beside them.
ROWS_AROUND = max(SOME_ROWS, LIST_ROWS // (2 * ROUNDS * len(FAULTS)))
# There is always something to flush, and time for the rest.
ROWS_PER_SECOND = max(1500, ROWS_AROUND // 10)
