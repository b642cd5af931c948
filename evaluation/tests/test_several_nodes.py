"""Runs whose load is on several nodes: what is planned, and what their records add up."""

import json

import pytest
from conftest import EXPERIMENTS
from sluice_evaluation import assemble, node_metrics, records
from sluice_evaluation.experiment import load
from sluice_evaluation.plan import make_plan
from sluice_evaluation.store_logs import Sample
from synthetic import drain_of, write_raw


def planned_of(name, tmp_path, profile="small", **factors):
    plan = make_plan(load(name, EXPERIMENTS), profile, [], tmp_path)
    return plan, next(r for r in plan["runs"] if factors.items() <= r["factors"].items())


def test_each_loaded_node_has_a_client(tmp_path):
    _, run = planned_of("rocksdb-skew", tmp_path, "small-two", arm="offload", loaded_nodes=2)
    assert [(c["name"], c["node"]) for c in run["clients"]] == [("steady-1", 1), ("steady-2", 2)]
    assert run["agents"]["compaction"]["client"]["threshold_share"] == 0.2
    _, run = planned_of("rocksdb-skew", tmp_path, arm="local", loaded_nodes=1)
    assert "agents" not in run


def test_a_share_of_the_load_multiplies_its_rates(tmp_path):
    _, run = planned_of("rocksdb-theta", tmp_path, "small-thresholds", load_share=0.1)
    assert run["clients"][0]["schedule"].endswith("s:440")
    _, whole = planned_of("rocksdb-theta", tmp_path, "small-thresholds", load_share=0.5)
    assert whole["clients"][0]["schedule"].endswith("s:2200")


def with_nodes(raw, planned):
    """A timeline for each node, each with a drain of 7 s, and processor time of four nodes."""
    origin, *lines = map(json.loads, (raw / "timeline.jsonl").read_text().splitlines())
    (raw / "timeline.jsonl").unlink()
    for line in lines:
        if line["kind"] == "drain":
            continue
        text = "".join(json.dumps(each) + "\n" for each in (origin, line, drain_of(line, 7)))
        (raw / f"timeline-{line['name']}.jsonl").write_text(text)
    begin = int(origin["epoch_seconds"])
    (raw / "samples" / "host.csv").unlink()
    for node in range(4):
        rows = ["epoch_seconds,source,name,value"]
        rows += [f"{begin + s},group:node,cpu_seconds,{s * 0.25}" for s in range(300)]
        (raw / "samples" / f"rd{node}.csv").write_text("\n".join(rows) + "\n")
    return raw


def test_a_record_adds_up_nodes_and_their_drains(tmp_path):
    plan, run = planned_of(
        "rocksdb-skew", tmp_path, "small-two", arm="local", workload="write", loaded_nodes=2
    )
    raw = with_nodes(write_raw(run, tmp_path / "raw"), run)
    results = tmp_path / "results"
    directory = assemble.record_run(plan, run, raw, results)
    assert records.faults(directory / "record.json", results) == []
    document = records.load(directory / "record.json").document
    hosts = {
        e["name"]: e["attributes"]["host"] for e in document["events"] if e["kind"] == "client"
    }
    assert hosts == {client["name"]: client["name"] for client in run["clients"]}
    # 40 operations in each second on each of two nodes.
    assert document["results"]["throughput_operations_per_second"] == pytest.approx(80)
    metrics = document["metrics"]
    seconds = run["clients"][0]["duration_seconds"] + 7
    assert metrics["drain_seconds"] == 7
    assert metrics["nodes_cpu_seconds"] == pytest.approx(4 * 0.25 * seconds, abs=4)
    whole = 80 * run["clients"][0]["duration_seconds"] / seconds
    assert metrics["with_drain_operations_per_second"] == pytest.approx(whole, rel=0.05)
    assert metrics["tail_latency_p99_99_seconds"] > document["results"]["measured"]["p99_seconds"]


def test_nodes_without_samples_of_their_group_tell_nothing():
    assert node_metrics.cpu_metrics({"rd1": [Sample(1, "cpu", "user_seconds", 1)]}, 0, 9, 5) == {}


@pytest.mark.parametrize(("last", "is_told"), [(40, True), (39, True), (35, False)])
def test_a_node_that_was_not_sampled_to_the_end_tells_nothing_of_all(last, is_told):
    def of_node(seconds):
        return [Sample(s, "group:node", "cpu_seconds", s * 0.5) for s in range(seconds + 1)]

    samples = {"rd1": of_node(60), "rd2": of_node(last)}
    found = node_metrics.cpu_metrics(samples, 0.5, 40.5, 10)
    assert bool(found) is is_told
    if is_told:
        assert found["nodes_cpu_seconds"] == pytest.approx(2 * 0.5 * 39, abs=1)


def test_only_pooled_arms_have_agents_and_a_volume(tmp_path):
    plan, pooled = planned_of("pool-skew", tmp_path, arm="pooled", loaded_nodes=1)
    assert pooled["agents"] == {"pool": {"client": {"copies": 2}}}
    assert pooled["settings"]["plugin.pool_volume"] == "evaluation"
    local = next(run for run in plan["runs"] if run["factors"]["arm"] == "local")
    assert "agents" not in local
    assert not [name for name in local["settings"] if name.startswith("plugin.")]
    # What is compared is where the database is.
    assert local["device"] == pooled["device"]
    common = {n: v for n, v in pooled["settings"].items() if not n.startswith("plugin.")}
    assert local["settings"] == common


def test_the_arm_with_offloading_differs_in_nothing_else(tmp_path):
    plan, pooled = planned_of("pool-skew", tmp_path, profile="small-offload", arm="pooled")
    offload = next(run for run in plan["runs"] if run["factors"]["arm"] == "pooled, offloaded")
    assert offload["device"] == pooled["device"]
    assert offload["agents"]["pool"] == pooled["agents"]["pool"]
    assert "client" in offload["agents"]["compaction"]
    differing = set(offload["settings"].items()) - set(pooled["settings"].items())
    assert {name for name, _ in differing} == {"plugin.remote", "plugin.minimum_input_bytes"}


def test_the_arm_whose_region_server_offers_differs_in_nothing_else(tmp_path):
    plan, offload = planned_of("hbase-offload", tmp_path, arm="offload")
    assert offload["agents"]["compaction"]["client"]["threshold_share"] == 0
    local = next(run for run in plan["runs"] if run["factors"]["arm"] == "local")
    assert "agents" not in local
    for part in ("variant", "device", "orders", "clients", "measure"):
        assert local[part] == offload[part]
    differing = dict(set(offload["settings"].items()) - set(local["settings"].items()))
    assert differing == {
        "hbase.hstore.defaultengine.compactor.class": (
            "dev.sluice.hbase.offload.OffloadingCompactor"
        ),
        "sluice.compaction.offload.socket": "/run/sluice/agent/compaction.sock",
    }


def test_a_record_tells_what_daemons_and_nodes_used_while_they_were_measured(tmp_path):
    plan, run = planned_of("hbase-offload", tmp_path, arm="offload")
    raw = write_raw(run, tmp_path / "raw")
    begin = int(json.loads((raw / "timeline.jsonl").read_text().splitlines()[0])["epoch_seconds"])
    (raw / "samples" / "host.csv").unlink()
    for node, sources in {
        "hb1": {"group:node": 0.5, "process:regionserver": 0.25},
        "hb2": {"group:node": 0.125},
    }.items():
        rows = ["epoch_seconds,source,name,value"]
        for source, share in sources.items():
            rows += [f"{begin + s},{source},cpu_seconds,{s * share}" for s in range(400)]
        (raw / "samples" / f"{node}.csv").write_text("\n".join(rows) + "\n")
    directory = assemble.record_run(plan, run, raw, tmp_path / "results")
    document = records.load(directory / "record.json").document
    metrics = document["metrics"]
    normal = run["phases"][-1]
    seconds = normal["end_seconds"] - normal["start_seconds"]
    assert metrics["normal_phase_nodes_cpu_seconds"] == pytest.approx(0.625 * seconds)
    assert metrics["normal_phase_regionserver_cpu_seconds"] == pytest.approx(0.25 * seconds)
    ran = metrics["compaction_seconds"]
    assert metrics["while_compacting_regionserver_cpu_seconds"] == pytest.approx(
        0.25 * ran, rel=0.01
    )
