"""Faults in the middle of a compaction that a peer does, while the store is written to.

Afterwards every row is as it was acknowledged, the store was given no error, nothing is left of any
job, and the peer does compactions again. SLUICE_CRASH_ROUNDS says how often (default 1).
"""

import pytest
from compaction_faults import FAULTS
from row_history import DamageError, RowHistory

# Tests of the tests below: that they can fail.


@pytest.mark.parametrize("damage", ["lost", "of another value", "not to be there"])
def test_a_row_that_is_not_as_it_was_is_found(damage, under_test):
    under_test.store.write()
    before = under_test.store.history.rows
    key, value = next(iter(before.items()))
    hurt = {"lost": {key: None}, "of another value": {key: "other"}, "not to be there": {"x": "y"}}
    under_test.store.write_rows(hurt[damage])
    with pytest.raises(DamageError, match=f"of {len(before)} rows 1 {damage}"):
        under_test.store.check()
    under_test.store.write_rows({key: value, "x": None})
    under_test.store.check()


@pytest.mark.parametrize("written", [0, 1, 2])
def test_a_batch_without_an_answer_is_there_as_a_whole_or_not_at_all(written):
    history = RowHistory(seed=1)
    history.leave_undecided({"a": "1", "b": "2"})
    found = dict([("a", "1"), ("b", "2")][:written])
    if written == 1:
        with pytest.raises(DamageError, match="1 not to be there"):
            history.check(found)
    else:
        history.check(found)
        assert history.rows == found


def test_what_a_job_leaves_is_found(under_test):
    left = under_test.nodes.database / ".sluice-compaction-left"
    left.mkdir()
    assert under_test.nodes.left() == [left]
    left.rmdir()


@pytest.mark.parametrize("fault", FAULTS)
def test_fault(crash_round, fault, under_test):
    acknowledged = under_test.store.history.acknowledged_rows
    FAULTS[fault](under_test)
    with under_test.done_by_peer():
        pass
    print(f"{under_test.store.history.acknowledged_rows - acknowledged} rows meanwhile")
    under_test.check()


def test_the_database_opens_again(under_test):
    under_test.restart_store()
    under_test.check()
    print(f"{under_test.store.history.acknowledged_rows} rows in all")
