"""Processes killed, regions taken away, file systems gone, while compactions are under orders.

Meanwhile the linked list is written. Afterwards every row that was acknowledged is there as it was
written, and no other; HDFS has every block; no lease is left and every compaction goes on.
SLUICE_CRASH_ROUNDS says how often (default 1), SLUICE_LIST_ROWS how long the list is in the end,
SLUICE_DEPLOYED_CLUSTER which file describes a cluster that is there already: without it there is
one of processes that are started here.
"""

import pytest
from cluster_under_test import binary
from faults import SOME_ROWS
from hbase_commands import CommandError
from linked_list import TABLE, DamageError
from store_view import was_renewed
from what_is_run import FAULTS, LIST_ROWS, ROWS_AROUND, ROWS_PER_SECOND

# Tests of the tests below: that they can fail.


@pytest.mark.parametrize(
    ("hurt", "damage"),
    [(["delete"], "'undefined': 1, 'lost': 1"), (["put", "l:f", "other"], "'damaged': 1")],
    ids=["lost", "damaged"],
)
def test_a_row_that_is_not_as_it_was_is_found(hurt, damage, cluster):
    cells = cluster.commands.run("scan", TABLE, "--limit", "1")
    row = cells.split("\t")[0]
    cluster.commands.run(hurt[0], TABLE, row, *hurt[1:])
    with pytest.raises(DamageError, match=damage):
        cluster.list.verify()
    cluster.node.hbase("put", TABLE, "--stdin", input=cells)
    cluster.list.verify()


def test_a_command_that_fails_says_why(cluster):
    with pytest.raises(CommandError, match="nowhere"):
        cluster.commands.run("describe", "nowhere")
    assert TABLE in cluster.commands.run("tables")


@pytest.mark.parametrize(
    ("text", "key"),
    [("", b""), (r"\x40\x00", b"\x40\x00"), (r"@a\xFF", b"@a\xff"), (r"a\x5Cb", b"a\\b")],
)
def test_keys_are_read(text, key):
    assert binary(text) == key


@pytest.mark.parametrize(
    ("seconds_left", "renewed"),
    [([4, 3, 2, 1], False), ([4, 5, 4, 3, 5, 4], False), ([4, 5] * 5, True), ([4], False)],
)
def test_a_renewal_is_found(seconds_left, renewed):
    assert was_renewed(seconds_left) is renewed


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(crash_round, fault, cluster):
    with cluster.list.writing(SOME_ROWS, ROWS_PER_SECOND) as writing:
        writing.wait_for_rows(ROWS_AROUND)
        before = writing.acknowledged
        FAULTS[fault](cluster, writing)
        print(f"{writing.acknowledged - before} rows while it lasted")
        writing.wait_for_rows(ROWS_AROUND)
    cluster.check()


def test_the_whole_list(cluster):
    """What is missing of its length, by roundings, is written with all compactions as they come."""
    missing = LIST_ROWS - cluster.list.rows
    if missing > 0:
        with cluster.list.writing(missing):
            pass
    cluster.check()
    assert cluster.list.rows >= LIST_ROWS
    print(f"{cluster.list.rows} rows")
