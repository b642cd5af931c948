"""The program that runs a node of Cassandra for a run: its settings, its data, its plug-in."""

import importlib.util
import io
import json
import sys
from pathlib import Path

import pytest

FILES = Path(__file__).parents[4] / "ansible/roles/cassandra/files"
NODES = {"ca1": "127.0.0.1", "ca2": "127.0.0.2", "ca3": "127.0.0.3"}


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(FILES))
    spec = importlib.util.spec_from_file_location(
        "cassandra_evaluation_store", FILES / "evaluation_store.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, folder in (("STATE", "state.json"), ("LOGS", "logs"), ("CONFIGURATION", "etc")):
        monkeypatch.setattr(module, name, tmp_path / folder)
    monkeypatch.setattr(module.evaluation_program, "UNITS_OF_THIS_BOOT", tmp_path / "units")
    monkeypatch.setattr(module, "INSTALLED", tmp_path / "opt")
    common = module.evaluation_program
    monkeypatch.setattr(common, "own", lambda path, *_: path.mkdir(parents=True, exist_ok=True))
    module.asked = []
    monkeypatch.setattr(common, "systemctl", lambda *argv: module.asked.append(argv) or "0")
    cluster = module.cassandra_cluster
    monkeypatch.setattr(cluster, "wait", lambda *_: module.asked.append(("serves",)))
    monkeypatch.setattr(cluster, "make_whole", lambda *_: module.asked.append(("whole",)))
    yield module
    sys.modules.pop("cassandra_cluster", None)


def order(tmp_path, node="ca1", **run):
    plan = {"version": "5.0.9", "variant": "patched", "settings": {}, "data": {"record_count": 10}}
    return {
        "run": plan | run,
        "node": node,
        "nodes": NODES,
        "directory": str(tmp_path / "disk"),
        "copies": str(tmp_path / "copies"),
        "java_options": "-Xmx1m",
    }


def started(program, tmp_path, monkeypatch, **given):
    document = order(tmp_path, **given)
    installed = program.Store(document).program
    installed.parent.mkdir(parents=True, exist_ok=True)
    installed.touch()
    monkeypatch.setattr(program.sys, "stdin", io.StringIO(json.dumps(document)))
    return program.start()


def written(program) -> dict:
    return json.loads((program.CONFIGURATION / "cassandra.yaml").read_text())


def test_variants_are_builds_and_read_the_same_copies(program, tmp_path):
    stock = program.Store(order(tmp_path, variant="stock"))
    assert stock.program == tmp_path / "opt/5.0.9-stock/bin/cassandra"
    assert stock.unit == "sluice-cassandra-5.0.9-stock@evaluation.service"
    patched = program.Store(order(tmp_path))
    assert patched.unit == "sluice-cassandra-5.0.9@evaluation.service"
    assert stock.copy == patched.copy == tmp_path / "copies/cassandra-5.0.9-10/ca1"
    one = program.Store(order(tmp_path, settings={"ycsb.cassandra.replicas": "1"}))
    assert one.copy.parent.name == "cassandra-5.0.9-10-1"


@pytest.mark.parametrize(("variant", "has"), [("patched", True), ("stock", False)])
def test_stock_has_no_plug_in(program, tmp_path, variant, has):
    settings = {"plugin.cassandra.compaction.limit.files": 64}
    environment = program.Store(order(tmp_path, variant=variant, settings=settings)).environment()
    assert environment["CASSANDRA_PLUGIN"] == ("sluice" if has else "")
    said = "-Dsluice.cassandra.compaction.limit.files=64" in environment["CASSANDRA_JAVA_OPTIONS"]
    assert said is has


def test_nodes_share_the_ring_and_the_disk_is_the_measured_one(program, tmp_path, monkeypatch):
    tokens = []
    for node in NODES:
        started(program, tmp_path, monkeypatch, node=node)
        tokens.append(int(written(program)["initial_token"]))
    parts = [end - begin for begin, end in zip(tokens, [*tokens[1:], 2**63], strict=True)]
    assert tokens[0] == -(2**63) and max(parts) - min(parts) <= 1
    assert written(program)["listen_address"] == "127.0.0.3"
    assert written(program)["seed_provider"][0]["parameters"] == [{"seeds": "127.0.0.1:7000"}]
    data = tmp_path / "disk/cassandra/node"
    assert f'CASSANDRA_DATA_DIR="{data}"\n' in (program.CONFIGURATION / "environment").read_text()


def test_settings_of_a_run_are_those_of_the_node(program, tmp_path, monkeypatch):
    settings = {
        "cassandra.compaction_throughput": "16MiB/s",
        "cassandra.concurrent_compactors": "2",
        "cassandra.auto_snapshot": "true",
        "ycsb.cassandra.replicas": "1",
    }
    started(program, tmp_path, monkeypatch, settings=settings)
    found = written(program)
    assert found["compaction_throughput"] == "16MiB/s"
    assert found["concurrent_compactors"] == 2
    assert found["auto_snapshot"] is True
    assert "replicas" not in json.dumps(found)


@pytest.mark.parametrize(("node", "waits"), [("ca1", False), ("ca2", False), ("ca3", True)])
def test_each_node_serves_before_the_next_and_the_last_sees_all(
    program, tmp_path, monkeypatch, node, waits
):
    started(program, tmp_path, monkeypatch, node=node)
    unit = "sluice-cassandra-5.0.9@evaluation.service"
    assert program.asked.index(("start", unit)) < program.asked.index(("serves",))
    assert (("whole",) in program.asked) is waits


def test_saved_data_is_where_a_later_run_has_it(program, tmp_path, monkeypatch):
    started(program, tmp_path, monkeypatch)
    store = program.read_state()
    (store.data / "data").mkdir()
    (store.data / "data/rows").write_text("loaded")
    program.save()
    assert ("stop", store.unit) in program.asked
    (store.data / "data/rows").write_text("changed by a run")
    again = started(program, tmp_path, monkeypatch, variant="stock")
    assert again["restored_from_copy"] is True
    assert (store.data / "data/rows").read_text() == "loaded"


def test_a_run_ends_with_its_journal_and_without_its_data(program, tmp_path, monkeypatch):
    started(program, tmp_path, monkeypatch)
    store = program.read_state()
    journals = []
    monkeypatch.setattr(program.subprocess, "run", lambda argv, **_: journals.append(argv))
    assert program.stop() == {"logs": str(program.LOGS)}
    assert [argv[0] for argv in journals] == ["journalctl", "journalctl"]
    assert not store.data.exists() and not program.STATE.exists()


def test_a_node_without_the_package_of_its_variant_says_so(program, tmp_path, monkeypatch):
    document = order(tmp_path, variant="stock")
    monkeypatch.setattr(program.sys, "stdin", io.StringIO(json.dumps(document)))
    with pytest.raises(SystemExit, match="install the package of this variant"):
        program.start()


STATUS = "UN  127.0.0.1  1 KiB  1  33%  a  rack1\n{}  127.0.0.2  1 KiB  1  33%  b  rack1\n"


@pytest.mark.parametrize(("state", "whole"), [("UN", True), ("DN", False), ("UJ", False)])
def test_a_cluster_is_whole_when_all_are_up_and_normal(program, state, whole):
    nodes = {"ca1": "127.0.0.1", "ca2": "127.0.0.2"}
    assert program.cassandra_cluster.is_whole(STATUS.format(state), nodes) is whole


def test_settings_are_read_as_the_node_tells_them(program, monkeypatch):
    told = "compaction_throughput\t16MiB/s\nnetwork_authorizer\tnull\n"
    monkeypatch.setattr(program.cassandra_cluster, "run", lambda *_: told)
    found = program.cassandra_cluster.reported("127.0.0.1", Path("p"), Path("c"))
    assert found == {"compaction_throughput": "16MiB/s", "network_authorizer": "null"}
