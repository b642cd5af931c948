"""Processor time that machines and nodes lacked, and the warnings that it gives to results."""

import dataclasses

import pytest
from sluice_evaluation.analysis import (
    GENERATOR_WAIT_SHARE,
    OTHERS_SHARE,
    STOLEN_SHARE,
    CellRuns,
)
from sluice_evaluation.inference import Caution
from sluice_evaluation.node_metrics import (
    cpu_in_windows,
    others_share,
    stolen_share,
    throttled_share,
)
from sluice_evaluation.records import load_all, normal_phase
from sluice_evaluation.store_logs import Sample

HEADER = "epoch_seconds,source,name,value"


def written(folder, name, *rows):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.csv").write_text("\n".join((HEADER, *rows)) + "\n")


def processors(at, user, idle, steal):
    """Rows of the counters of a machine at a time."""
    counters = {"user": user, "idle": idle, "steal": steal}
    return [f"{at},cpu,{name}_seconds,{value}" for name, value in counters.items()]


def test_only_what_was_stolen_between_the_times_counts(tmp_path):
    rows = [
        *processors(9, 0, 0, 0),
        *processors(10, 10, 20, 5),
        "10,group:node,steal_seconds,1",
        *processors(20, 18, 30, 7),
        *processors(21, 18, 30, 90),
    ]
    written(tmp_path, "host", *rows)
    assert stolen_share(tmp_path, 10, 20) == pytest.approx(2 / 20)


def test_of_several_machines_the_one_that_lost_most_counts(tmp_path):
    written(tmp_path, "first", *processors(0, 0, 0, 0), *processors(1, 1, 1, 0))
    written(tmp_path, "second", *processors(0, 0, 0, 0), *processors(1, 1, 0, 1))
    written(tmp_path, "third", *processors(0, 0, 0, 0))
    assert stolen_share(tmp_path, 0, 1) == pytest.approx(0.5)


def test_without_samples_nothing_is_known(tmp_path):
    assert stolen_share(tmp_path / "none", 0, 1) is None
    written(tmp_path, "host", *processors(5, 1, 1, 1))
    assert stolen_share(tmp_path, 0, 10) is None


@pytest.mark.parametrize(("stolen", "warned"), [(0.5, False), (1.5, True)])
def test_a_run_that_lost_more_than_the_bound_is_warned_of(smoke_results, tmp_path, stolen, warned):
    record = load_all(smoke_results)[0]
    start, end = normal_phase(record.document)
    written(
        tmp_path / "samples",
        "host",
        *processors(start, 0, 0, 0),
        *processors(end, 1, 0, stolen * STOLEN_SHARE / (1 - stolen * STOLEN_SHARE)),
    )
    (tmp_path / "intervals.csv").write_bytes((record.directory / "intervals.csv").read_bytes())
    run = dataclasses.replace(record, directory=tmp_path)
    cell = CellRuns("cell", {}, "measured", complete=(run,), failed=())
    assert (Caution.STOLEN in cell.cautions) is warned


def used(at, seconds):
    """Row of the processor time that a node has had."""
    return f"{at},group:node,cpu_seconds,{seconds}"


def test_what_no_node_had_is_of_others(tmp_path):
    begin, end = processors(10, 5, 5, 0), processors(20, 17, 12, 1)
    # Nodes that share a machine see the same counters, at other moments.
    written(tmp_path, "first", *begin, used(10, 1), *end, used(20, 6))
    written(tmp_path, "second", *begin, used(10, 0), *end, used(20, 2))
    written(tmp_path, "store-log", "12,store,memtable_bytes,1")
    assert others_share(tmp_path, 10, 20) == pytest.approx((12 - 7) / 20)


def test_of_others_on_several_machines_not_too_much_is_known(tmp_path):
    for name, node_seconds in (("first", 9), ("second", 1)):
        begin, end = processors(0, 0, 0, 0), processors(10, 12, 8, 0)
        written(tmp_path, name, *begin, used(0, 0), *end, used(10, node_seconds))
    assert others_share(tmp_path, 0, 10) == pytest.approx((12 - 10) / 20)


def test_without_the_samples_of_a_node_nothing_is_known_of_others(tmp_path):
    assert others_share(tmp_path / "none", 0, 10) is None
    begin, end = processors(0, 0, 0, 0), processors(10, 12, 8, 0)
    written(tmp_path, "first", *begin, used(0, 0), *end, used(10, 9))
    written(tmp_path, "second", *begin, used(0, 0), *end)
    assert others_share(tmp_path, 0, 10) is None


@pytest.mark.parametrize(("others", "warned"), [(0.9, False), (1.1, True)])
def test_a_run_beside_others_is_warned_of(smoke_results, tmp_path, others, warned):
    record = load_all(smoke_results)[0]
    start, end = normal_phase(record.document)
    busy = others * OTHERS_SHARE
    begun, ended = processors(start, 0, 0, 0), processors(end, busy, 1 - busy, 0)
    written(tmp_path / "samples", "host", *begun, used(start, 0), *ended, used(end, 0))
    (tmp_path / "intervals.csv").write_bytes((record.directory / "intervals.csv").read_bytes())
    run = dataclasses.replace(record, directory=tmp_path)
    cell = CellRuns("cell", {}, "measured", complete=(run,), failed=())
    assert (Caution.OTHERS in cell.cautions) is warned


def waits(*pairs):
    """Rows of the time that a node has waited for its quota."""
    return [f"{at},group:node,throttled_seconds,{seconds}" for at, seconds in pairs]


def test_a_node_waited_for_what_came_between_the_times(tmp_path):
    rows = ["10,group:store,throttled_seconds,9", *waits((9, 0), (10, 5), (15, 6), (20, 6.5))]
    written(tmp_path, "client", *rows, *waits((21, 90)))
    assert throttled_share(tmp_path / "client.csv", 10, 20) == pytest.approx(0.15)


def test_a_node_without_two_samples_says_nothing(tmp_path):
    assert throttled_share(tmp_path / "none.csv", 0, 1) is None
    written(tmp_path, "client", *waits((5, 1)))
    assert throttled_share(tmp_path / "client.csv", 0, 10) is None


def run_of_a_generator(record, folder, share, host="client", node=None):
    """A run whose load came from `host`, which waited for a share of the normal phase."""
    start, end = normal_phase(record.document)
    waited = waits((start, 1), (end, 1 + share * (end - start)))
    written(folder / "samples", "client", *waited)
    (folder / "intervals.csv").write_bytes((record.directory / "intervals.csv").read_bytes())
    event = {"kind": "client", "name": "steady", "start_seconds": 0, "end_seconds": 1}
    events = [event | {"attributes": {"exit_code": 0, "host": host} if host else {}}]
    clients = [{"name": "steady"} | ({} if node is None else {"node": node})]
    plan = record.plan | {"clients": clients}
    document = record.document | {"events": events, "plan": plan}
    return dataclasses.replace(record, directory=folder, document=document)


@pytest.mark.parametrize(
    ("share", "where", "warned"),
    [
        (0.5 * GENERATOR_WAIT_SHARE, {}, False),
        (1.5 * GENERATOR_WAIT_SHARE, {}, True),
        (1.5 * GENERATOR_WAIT_SHARE, {"host": "another"}, False),
        (1.5 * GENERATOR_WAIT_SHARE, {"host": ""}, False),
        (1.5 * GENERATOR_WAIT_SHARE, {"node": 1}, False),
    ],
)
def test_a_generator_that_waited_is_warned_of(smoke_results, tmp_path, share, where, warned):
    run = run_of_a_generator(load_all(smoke_results)[0], tmp_path, share, **where)
    cell = CellRuns("cell", {}, "measured", complete=(run,), failed=())
    assert (Caution.GENERATOR_WAITED in cell.cautions) is warned


def counter(source, *pairs):
    """Samples of the processor time of a node or a daemon at times."""
    return [Sample(at, source, "cpu_seconds", seconds) for at, seconds in pairs]


def test_processor_time_in_windows_is_of_all_nodes_and_of_each_daemon():
    nodes = {
        "hb1": [
            *counter("group:node", (0, 0), (10, 10), (20, 30)),
            *counter("process:regionserver", (0, 5), (10, 5), (20, 15)),
            Sample(5, "group:node", "throttled_seconds", 99),
            Sample(5, "cpu", "user_seconds", 99),
        ],
        "hb2": counter("group:node", (0, 0), (20, 2)),
    }
    found = cpu_in_windows(nodes, "busy", [(5, 15)])
    assert found == {
        "busy_nodes_cpu_seconds": pytest.approx(5 + 10 + 1),
        "busy_regionserver_cpu_seconds": pytest.approx(5),
    }
    # What is in two windows counts once, and what lies between windows not at all.
    assert cpu_in_windows(nodes, "busy", [(5, 14), (9, 15), (0, 1)]) == {
        "busy_nodes_cpu_seconds": pytest.approx(1 + 15 + 1.1),
        "busy_regionserver_cpu_seconds": pytest.approx(5),
    }
    assert cpu_in_windows(nodes, "busy", []) == {}


def test_what_was_not_sampled_through_all_windows_is_not_told():
    nodes = {
        "hb1": [
            *counter("group:node", (0, 0), (20, 20)),
            *counter("process:regionserver", (0, 0), (12, 12)),
            *counter("process:master", (0, 0), (20, 1)),
        ],
        "hb2": counter("group:node", (0, 0), (14, 2)),
    }
    assert set(cpu_in_windows(nodes, "busy", [(5, 13)])) == {
        "busy_nodes_cpu_seconds", "busy_master_cpu_seconds",
    }  # fmt: skip
    assert set(cpu_in_windows(nodes, "busy", [(1, 2), (5, 15)])) == {"busy_master_cpu_seconds"}
    nodes["hb3"] = [Sample(1, "cpu", "user_seconds", 1)]
    assert set(cpu_in_windows(nodes, "busy", [(5, 13)])) == {"busy_master_cpu_seconds"}
