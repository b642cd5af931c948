"""Faults in the middle of a compaction that a peer does for a region server.

Afterwards every row is as it was written, nothing is left of any job, and the peer does compactions
again. SLUICE_CRASH_ROUNDS says how often (default 1).
"""

import pytest
from offload_cluster import COLUMN, FOLDER, TABLE, DamageError
from offload_faults import FAULTS

# Tests of the tests below: that they can fail.


def test_a_row_that_is_not_as_it_was_is_found(cluster):
    cluster.check_rows()
    cluster.commands.run("put", TABLE, "not-written", COLUMN, "other")
    with pytest.raises(DamageError, match=r"1 wrong: \['not-written'\]"):
        cluster.check_rows()
    cluster.commands.run("delete", TABLE, "not-written")
    cluster.check_rows()


def test_what_a_job_leaves_is_found(cluster):
    cluster.check()
    region = cluster.region()
    left = f"{FOLDER}/{region}/.tmp/.sluice-compaction-left"
    cluster.node.hdfs("dfs", "-mkdir", "-p", left)
    assert cluster.jobs_left() == [left]
    cluster.node.hdfs("dfs", "-rm", "-r", "-skipTrash", left)
    assert cluster.jobs_left() == []


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(crash_round, fault, cluster):
    FAULTS[fault](cluster)
    cluster.have_done_by_peer()
    cluster.check()
