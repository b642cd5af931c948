"""What the measurements read: figures of the cache, /proc, YCSB, store files, clients' times."""

import json
import os
import socket
import tarfile
from collections import Counter

import pytest
import ycsb_load
from dead_client import STATES, in_force, last_time
from family_figures import Lookups, family_lookups, figure_name, highest_hit_ratio
from held_compaction import differing_cells
from hypothesis import given
from hypothesis import strategies as st
from process_figures import established_inodes, is_connected
from tables import cell_lines, kept_lines, row
from ycsb_load import Records, load_files, operations_done, unpacked_bundle


def test_names_of_figures_are_those_of_the_plug_in():
    assert figure_name("orders/hot", "hits_total") == "cache_orders_2fhot_hits_total"
    assert figure_name("A:b", "bytes") == "cache__41_3ab_bytes"


def test_lookups_of_a_family():
    figures = {"cache_t_2ff_hits_total": 30.0, "cache_t_2ff_misses_total": 10.0}
    now = family_lookups(figures, "t/f")
    assert now.hit_ratio == 0.75
    assert now.since(Lookups(10, 10)) == Lookups(20, 0)
    assert family_lookups({}, "t/f") == Lookups(0, 0)
    with pytest.raises(ValueError, match="nothing was looked up"):
        Lookups(0, 0).hit_ratio  # noqa: B018


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000))
def test_the_highest_hit_ratio_is_never_below_the_real_one(hits, misses, scan_hits, scan_misses):
    reads = hits + misses
    both = Lookups(hits + scan_hits, misses + scan_misses)
    if not reads:
        with pytest.raises(ValueError, match="0 reads"):
            highest_hit_ratio(both, reads, 1)
        return
    assert hits / reads <= highest_hit_ratio(both, reads, 1) <= 1


def test_sockets_that_are_connected_to_a_port():
    table = (
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt uid\n"
        "   0: 0100007F:1F90 0100007F:4E20 01 00000000:00000000 00:00000000 00000000 0 0 777 1\n"
        "   1: 0100007F:1F91 0100007F:4E20 06 00000000:00000000 00:00000000 00000000 0 0 778 1\n"
        "   2: 0100007F:1F92 0100007F:4E21 01 00000000:00000000 00:00000000 00000000 0 0 779 1\n"
    )
    assert established_inodes([table], 0x4E20) == {"777"}


def test_this_process_has_the_connection_that_it_makes():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not is_connected(os.getpid(), port)
        with socket.create_connection(("127.0.0.1", port)):
            assert is_connected(os.getpid(), port)


def printed(**overall: float) -> str:
    rows = [{"metric": "OVERALL", "measurement": name, "value": n} for name, n in overall.items()]
    return json.dumps([*rows, {"metric": "READ", "measurement": "Operations", "value": 3}])


def test_operations_of_a_run():
    assert operations_done(printed(Operations=12, FailedOperations=0)) == 12
    with pytest.raises(ValueError, match="2 operations of the run failed"):
        operations_done(printed(Operations=12, FailedOperations=2))
    with pytest.raises(ValueError, match="has done nothing"):
        operations_done(printed())


@given(st.integers(0, 5), st.integers(0, 20), st.integers(1, 50))
def test_cells_are_the_same_for_the_same_seed(seed, first, size):
    numbers = range(first, first + 3)
    lines = list(cell_lines(numbers, ["f:a", "f:b"], seed, size))
    assert lines == list(cell_lines(numbers, ["f:a", "f:b"], seed, size))
    fields = [line.rstrip("\n").split("\t") for line in lines]
    assert [key for key, _, _ in fields] == [row(n) for n in numbers for _ in range(2)]
    assert Counter(column for _, column, _ in fields) == {"f:a": 3, "f:b": 3}
    assert {len(value) for _, _, value in fields} == {size}


def test_cells_that_the_printer_has_printed():
    text = "Scanning -> /f\nK: a/f:q/1/Put/vlen=1/seqid=0 V: x\nScanned kv count -> 1\n"
    assert kept_lines(text) == ["K: a/f:q/1/Put/vlen=1/seqid=0 V: x"]


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_only_equal_outputs_have_no_cell_that_differs(first, second):
    assert (differing_cells(first, second) == 0) == (first == second)


def test_the_last_time_is_that_of_a_whole_round():
    assert last_time(["1.0", "given", "2.5", "given"]) == 2.5
    for broken in ([], ["1.0"], ["1.0", "given", "2.5"]):
        with pytest.raises(ValueError, match="within a round"):
            last_time(broken)


def test_each_state_is_seen_by_itself():
    before = {
        "leases": [{"owner": "agent/killed"}],
        "tasks": [{"state": "held"}, {"state": "deferred"}],
        "figures": {"cache_reserved_bytes": 5, "cache_held_2ff_reserved_bytes": 5},
    }
    after = {"leases": [], "tasks": [], "figures": {"cache_reserved_bytes": 0}}
    assert in_force(before)
    assert all(is_over(after) for is_over in STATES.values())
    for part in ("leases", "figures"):
        assert not in_force({**before, part: after[part]})


def test_parts_without_records_are_not_loaded(tmp_path, monkeypatch):
    words = []
    monkeypatch.setattr(ycsb_load, "run", lambda bundle, node, *given: words.append(given))
    load_files(tmp_path, None, Records(count=2, regions=1, files=3))
    parts = [
        [word for word in given if word.startswith(("insertstart", "insertcount"))]
        for given in words
        if given[0] == "load"
    ]
    assert parts == [
        ["insertstart=0", "insertcount=1"],
        ["insertstart=1", "insertcount=1"],
    ]


def test_the_bundle_is_unpacked_and_gone_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr(ycsb_load, "BUNDLES", tmp_path)
    with pytest.raises(SystemExit, match="make ycsb"), unpacked_bundle():
        pass
    (tmp_path / "sluice-ycsb-1/bin").mkdir(parents=True)
    (tmp_path / "sluice-ycsb-1/bin/sluice-ycsb").write_text("program")
    archive = tmp_path / "sluice-ycsb-1.tar.gz"
    with tarfile.open(archive, "w:gz") as opened:
        opened.add(tmp_path / "sluice-ycsb-1", "sluice-ycsb-1")
    with unpacked_bundle() as bundle:
        assert (bundle / "bin/sluice-ycsb").read_text() == "program"
    assert not bundle.exists()
