"""The program that runs a node of Ignite for a run: its settings, its data, its place in a pool."""

import importlib.util
import io
import json
import sys
from pathlib import Path

import pytest

FILES = Path(__file__).parents[4] / "ansible/roles/ignite/files"
NODES = {"ig1": "10.0.0.1", "ig2": "10.0.0.2", "ig3": "10.0.0.3"}
SKEWED = {"ycsb.ignite.partitionshares": "zipfian", "ycsb.ignite.placement": "crowded"}
POOLED = {"plugin.remote": "false", "plugin.pool_volume": "evaluation"}


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(FILES))
    spec = importlib.util.spec_from_file_location(
        "ignite_evaluation_store", FILES / "evaluation_store.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, folder in (("STATE", "state.json"), ("LOGS", "logs"), ("CONFIGURATION", "etc")):
        monkeypatch.setattr(module, name, tmp_path / folder)
    monkeypatch.setattr(module.evaluation_program, "UNITS_OF_THIS_BOOT", tmp_path / "units")
    monkeypatch.setattr(module, "INSTALLED", tmp_path / "opt")
    monkeypatch.setattr(module, "DATA", tmp_path / "node")
    monkeypatch.setattr(module, "MESSAGES", tmp_path / "node" / "messages")
    common = module.evaluation_program
    monkeypatch.setattr(common, "own", lambda path, *_: path.mkdir(parents=True, exist_ok=True))
    module.asked = []
    monkeypatch.setattr(common, "systemctl", lambda *argv: module.asked.append(argv) or "0")
    monkeypatch.setattr(
        module.ignite_cluster,
        "make_whole",
        lambda *_, is_new: module.asked.append(("whole", is_new)),
    )
    yield module
    for name in ("ignite_cluster", "ignite_pool"):
        sys.modules.pop(name, None)


def order(tmp_path, node="ig1", **run):
    plan = {"version": "3.1.0", "variant": "patched", "settings": {}, "data": {"record_count": 10}}
    return {
        "run": plan | run,
        "node": node,
        "nodes": NODES,
        "directory": str(tmp_path / "disk"),
        "copies": str(tmp_path / "copies"),
        "rocksdb_version": "11.8.1",
        "java_options": "-Xmx1m",
    }


def started(program, tmp_path, monkeypatch, **given):
    document = order(tmp_path, **given)
    library = program.Store(document).library
    library.parent.mkdir(parents=True, exist_ok=True)
    library.touch()
    monkeypatch.setattr(program.sys, "stdin", io.StringIO(json.dumps(document)))
    return program.start()


def save_data(program, tmp_path, monkeypatch, **given):
    """A copy of what a node has loaded."""
    started(program, tmp_path, monkeypatch, **given)
    store = program.read_state()
    for path in (
        "db/rocksdb-rocks/CURRENT",
        "db/rocksdb-rocks/MANIFEST-4",
        "db/rocksdb-rocks/7.sst",
    ):
        file = store.partitions / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    (store.partitions / "db/rocksdb-rocks/LOG").write_text("of the load")
    (store.partitions / "meta").mkdir()
    (store.partitions / "meta/raft").write_text("plain")
    (program.DATA / "vault").mkdir(parents=True)
    program.save()
    return store


def test_variants_are_builds_of_rocksdb_and_layouts_have_copies_of_their_own(program, tmp_path):
    store = program.Store(order(tmp_path, variant="stock", settings=SKEWED))
    assert store.library == tmp_path / "opt/rocksdb/11.8.1-stock/lib/librocksdb-preload.so.11.8.1"
    assert store.unit == "sluice-ignite-3.1.0@evaluation.service"
    parts = "ignite-3.1.0-11.8.1-stock-10-zipfian-crowded"
    assert store.copy == tmp_path / "copies" / parts / "ig1"
    assert program.Store(order(tmp_path, settings={})).copy.parent.name == "ignite-3.1.0-11.8.1-10"


@pytest.mark.parametrize("change", [{"variant": "stock"}, {"settings": {}}])
def test_stock_and_runs_without_its_options_have_no_plug_in(program, tmp_path, change):
    store = program.Store(order(tmp_path, **({"settings": POOLED} | change)))
    environment = store.environment()
    assert "ROCKSDB_DB_OPTIONS_OVERRIDE" not in environment
    assert environment["LD_PRELOAD"] == str(store.library)


def test_nodes_find_each_other_and_have_tables_on_the_measured_disk(program, tmp_path, monkeypatch):
    settings = {"profile.writeBufferSizeBytes": 8388608}
    started(program, tmp_path, monkeypatch, node="ig2", settings=settings)
    written = json.loads((program.CONFIGURATION / "ignite-config.conf").read_text())["ignite"]
    members = [f"{address}:3344" for address in NODES.values()]
    assert written["network"]["nodeFinder"]["netClusterNodes"] == members
    assert written["network"]["listenAddresses"] == ["10.0.0.2"]
    assert written["storage"]["profiles"] == [
        {"name": "rocks", "engine": "rocksdb", "writeBufferSizeBytes": 8388608}
    ]
    partitions = str(tmp_path / "disk/ignite/partitions")
    assert written["system"]["partitionsBasePath"] == partitions
    assert 'IGNITE_NODE_NAME="ig2"\n' in (program.CONFIGURATION / "environment").read_text()


@pytest.mark.parametrize(("node", "waits"), [("ig1", False), ("ig2", False), ("ig3", True)])
def test_the_last_node_makes_the_cluster(program, tmp_path, monkeypatch, node, waits):
    started(program, tmp_path, monkeypatch, node=node)
    assert ("start", "sluice-ignite-3.1.0@evaluation.service") in program.asked
    assert (("whole", True) in program.asked) is waits


def test_saved_data_is_used_without_the_messages_of_the_load(program, tmp_path, monkeypatch):
    store = save_data(program, tmp_path, monkeypatch)
    assert ("stop", store.unit) in program.asked
    again = started(program, tmp_path, monkeypatch, node="ig1")
    assert again["restored_from_copy"] is True
    database = store.partitions / "db/rocksdb-rocks"
    assert {path.name for path in database.iterdir()} == {"CURRENT", "MANIFEST-4", "7.sst"}
    assert (program.DATA / "vault").is_dir()


def test_data_is_loaded_alike_whichever_run_comes_first(program, tmp_path, monkeypatch):
    run = {"settings": POOLED, "data": {"record_count": 10, "restore_from_copy": True}}
    started(program, tmp_path, monkeypatch, **run)
    loading = program.read_state()
    assert loading.volume == ""
    assert "ROCKSDB_DB_OPTIONS_OVERRIDE" not in loading.environment()


def test_a_pool_has_databases_and_the_node_the_rest(program, tmp_path, monkeypatch):
    run = {"settings": POOLED, "data": {"record_count": 10, "restore_from_copy": True}}
    save_data(program, tmp_path, monkeypatch, **run)
    told = []
    monkeypatch.setattr(program.evaluation_program, "pool", lambda *words: told.append(words))
    started(program, tmp_path, monkeypatch, **run)
    store = program.read_state()
    assert store.volume.startswith("evaluation-ig1-")
    override = store.environment()["ROCKSDB_DB_OPTIONS_OVERRIDE"]
    assert f"pool_volume={store.volume}" in override
    assert f"pool_local_directory={program.DATA}" in override
    assert f"db_log_dir={program.MESSAGES}" in override

    database = store.partitions / "db/rocksdb-rocks"
    put = {words[3] for words in told if words[0] == "put"}
    assert put == {str(database / name) for name in ("CURRENT", "MANIFEST-4", "7.sst")}
    made = [words[2] for words in told if words[0] == "make-directory"]
    assert made[-3:] == [str(store.partitions), str(database.parent), str(database)]
    # By these Ignite knows that there is a database, and its families.
    assert {path.name for path in database.iterdir()} == {"CURRENT", "MANIFEST-4"}
    assert (store.partitions / "meta/raft").read_text() == "plain"


def test_tables_in_a_pool_need_loaded_data(program, tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="set restore_from_copy"):
        started(program, tmp_path, monkeypatch, settings=POOLED)


def test_messages_are_kept_the_oldest_first_and_nothing_is_left(program, tmp_path, monkeypatch):
    monkeypatch.setattr(program.subprocess, "run", lambda *_, **__: None)
    started(program, tmp_path, monkeypatch)
    store = program.read_state()
    for name in ("db/a/LOG", "db/a/LOG.old.2", "db/a/LOG.old.1", "log/LOG"):
        path = store.partitions / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    program.stop()
    kept = [p.read_text() for p in sorted(program.LOGS.glob("ig1-0*.log"))]
    assert kept == ["db/a/LOG.old.1", "db/a/LOG.old.2", "db/a/LOG", "log/LOG"]
    assert not store.partitions.exists()
    assert not program.evaluation_program.drop_ins(store.unit).exists()
    assert program.stop() == {"logs": str(program.LOGS)}


def test_without_a_start_the_message_says_what_to_call(program):
    with pytest.raises(SystemExit, match="call start first"):
        program.settings()
