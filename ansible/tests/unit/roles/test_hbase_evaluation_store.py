"""The program that runs HBase for a run: what it writes, starts, keeps, and refuses."""

import importlib.util
import json
import os
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

FILES = Path(__file__).parents[4] / "ansible/roles/hbase/files"


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(FILES))
    monkeypatch.delitem(sys.modules, "hbase_configuration", raising=False)
    path = FILES / "evaluation_store.py"
    spec = importlib.util.spec_from_file_location("hbase_evaluation_store", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "STATE", tmp_path / "state.json")
    monkeypatch.setattr(module, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(module.evaluation_program, "UNITS_OF_THIS_BOOT", tmp_path / "units")
    monkeypatch.setattr(module.hbase_configuration, "ROOT", tmp_path / "etc")
    return module


def made_by_nobody(path, user, mode):
    path.mkdir(parents=True, exist_ok=True)


def order(tmp_path, **run):
    plan = {
        "version": "2.6.4-hadoop3",
        "variant": "patched",
        "settings": {},
        "data": {"record_count": 10},
        "measure": {},
    }
    options = {name: f"-Xmx1 -Dfor={name}" for name in
               ("zookeeper", "namenode", "datanode", "master", "regionserver")}  # fmt: skip
    return {
        "run": plan | run,
        "directory": str(tmp_path / "disk"),
        "copies": str(tmp_path / "copies"),
        "host": "hb1",
        "hdfs_version": "3.4.2",
        "zookeeper_version": "3.8.4",
        "java_options": options,
    }


@pytest.mark.parametrize(
    ("variant", "label"), [("patched", "2.6.4-hadoop3"), ("stock", "2.6.4-hadoop3-stock")]
)
def test_units_and_copy_are_of_the_variant(program, tmp_path, variant, label):
    store = program.Store(order(tmp_path, variant=variant))
    assert store.units["regionserver"] == f"sluice-hbase-{label}-regionserver@evaluation.service"
    assert store.units["namenode"] == "sluice-hdfs-3.4.2-namenode@evaluation.service"
    assert store.units["zookeeper"] == "sluice-zookeeper-3.8.4@evaluation.service"
    assert set(store.units) == set(program.DAEMONS)
    assert store.copy == tmp_path / "copies" / f"hbase-{label}-10"


def test_copies_of_records_of_another_form_are_kept_apart(program, tmp_path):
    data = {"record_count": 10, "records": "single-field"}
    store = program.Store(order(tmp_path, data=data))
    assert store.copy == tmp_path / "copies" / "hbase-2.6.4-hadoop3-10-single-field"


def site(path):
    properties = ElementTree.parse(path).getroot()
    return {p.findtext("name"): p.findtext("value") for p in properties}


def configured(program, tmp_path, **run):
    store = program.Store(order(tmp_path, **run))
    program.hbase_configuration.write(
        store.host, store.directory, store.settings, store.java_options
    )
    return tmp_path / "etc"


def test_every_daemon_has_its_configuration(program, tmp_path):
    written = configured(program, tmp_path)
    hdfs = site(written / "hdfs/evaluation/hdfs-site.xml")
    assert hdfs["dfs.datanode.data.dir"] == f"file://{tmp_path}/disk/data"
    assert hdfs["dfs.permissions.enabled"] == "false"
    assert site(written / "hdfs/evaluation/core-site.xml") == {"fs.defaultFS": "hdfs://hb1:8020"}
    assert (
        f"dataDir={tmp_path}/disk/zookeeper\n"
        in (written / "zookeeper/evaluation/zoo.cfg").read_text()
    )
    environment = (written / "hbase/evaluation/environment").read_text()
    assert 'HBASE_REGIONSERVER_JAVA_OPTIONS="-Xmx1 -Dfor=regionserver"\n' in environment
    assert (
        "%d{UNIX_MILLIS} %p [%t] %c{1}: %m%n"
        in (written / "hbase/evaluation/log4j2.properties").read_text()
    )


def test_all_daemons_have_the_java_options_of_the_run(program, tmp_path):
    written = configured(program, tmp_path, measure={"server_java_options": ["-Xint", "-Da=b"]})
    files = [written / store / "evaluation/environment" for store in ("zookeeper", "hdfs", "hbase")]
    lines = [line for file in files for line in file.read_text().splitlines()]
    assert len(lines) == len(program.DAEMONS)
    assert all(line.endswith(' -Xint -Da=b"') for line in lines)


def test_a_run_sets_what_it_asks_for_and_cannot_move_the_store(program, tmp_path):
    settings = {
        "hbase.rootdir": "file:///elsewhere",
        "hfile.block.cache.size": 0.05,
        "hbase.coprocessor.regionserver.classes": "a<b>&c",
        "ycsb.requestdistribution": "latest",
    }
    hbase = site(
        configured(program, tmp_path, settings=settings) / "hbase/evaluation/hbase-site.xml"
    )
    assert hbase["hbase.rootdir"] == "hdfs://hb1:8020/hbase"
    assert hbase["hfile.block.cache.size"] == "0.05"
    assert hbase["hbase.coprocessor.regionserver.classes"] == "a<b>&c"
    assert hbase["hbase.cluster.distributed"] == "true"
    # What the load is told is no setting of the store.
    assert not [name for name in hbase if name.startswith("ycsb.")]


def test_a_new_disk_has_folders_of_its_own_and_a_loaded_copy_is_used(
    program, tmp_path, monkeypatch
):
    monkeypatch.setattr(
        program.evaluation_program, "own", lambda path, *_: path.mkdir(parents=True)
    )
    store = program.Store(order(tmp_path))
    assert program.prepare_data(store) is False
    assert {path.name for path in store.directory.iterdir()} == set(program.FOLDERS)
    for folder in program.FOLDERS:
        (store.copy / folder).mkdir(parents=True)
        (store.copy / folder / "kept").write_text(folder)
    again = program.Store(order(tmp_path) | {"directory": str(tmp_path / "second")})
    again.directory.mkdir()
    assert program.prepare_data(again) is True
    assert {p.read_text() for p in again.directory.glob("*/kept")} == set(program.FOLDERS)


def on_two_disks(tmp_path, **data):
    volumes = f"[SSD]file://{tmp_path}/disk/data,[DISK]file://{tmp_path}/slow/data"
    return order(
        tmp_path,
        settings={"dfs.datanode.data.dir": volumes},
        data={"record_count": 10, "restore_from_copy": True} | data,
    )


def test_a_second_disk_is_empty_when_a_run_begins(program, tmp_path, monkeypatch):
    monkeypatch.setattr(
        program.evaluation_program, "own", lambda path, *_: path.mkdir(parents=True)
    )
    program.Store(on_two_disks(tmp_path)).copy.mkdir(parents=True)
    store = program.Store(on_two_disks(tmp_path))
    for folder in program.FOLDERS:
        (store.copy / folder).mkdir()
    with pytest.raises(SystemExit, match="slow is not there: take an inventory with a slow disk"):
        program.prepare_data(store)
    old = tmp_path / "slow/data/current"
    old.mkdir(parents=True)
    store.directory.mkdir()
    assert program.prepare_data(store) is True
    assert not old.exists()
    assert old.parent.is_dir()
    settings = program.hbase_configuration.hdfs_settings(
        store.host, store.directory, store.settings
    )
    assert settings["dfs.datanode.data.dir"].endswith(f",[DISK]file://{tmp_path}/slow/data")


def test_what_is_loaded_for_all_runs_is_on_the_measured_disk_alone(program, tmp_path):
    store = program.Store(on_two_disks(tmp_path))
    assert store.further_volumes() == []
    assert program.hbase_configuration.VOLUMES not in store.settings
    alone = program.Store(on_two_disks(tmp_path, restore_from_copy=False))
    assert alone.further_volumes() == [tmp_path / "slow/data"]


@pytest.fixture
def started(program, tmp_path, monkeypatch):
    """A store that was started, and the orders that systemd got."""
    given = []

    def systemctl(*argv):
        given.append(argv)
        return "active\n" if argv[0] == "show" else ""

    monkeypatch.setattr(program.evaluation_program, "systemctl", systemctl)
    program.STATE.write_text(json.dumps(order(tmp_path)))
    return given


def test_a_copy_is_whole_and_knows_its_regions(program, tmp_path, monkeypatch, started):
    monkeypatch.setattr(program, "region_count", lambda _: 6)
    for folder in program.FOLDERS:
        (tmp_path / "disk" / folder).mkdir(parents=True)
        (tmp_path / "disk" / folder / "kept").write_text(folder)
    program.save()
    store = program.read_state()
    stopped = [argv[1] for argv in started]
    assert stopped == [store.units[daemon] for daemon in reversed(program.DAEMONS)]
    assert json.loads((store.copy / program.REGIONS).read_text()) == 6
    assert {p.read_text() for p in store.copy.glob("*/kept")} == set(program.FOLDERS)
    assert not list(store.copy.parent.glob("*.incoming"))


def test_hbase_serves_when_its_master_is_done_and_all_regions_are_there(program, tmp_path):
    store = program.Store(order(tmp_path))
    answers = {}
    store.page = lambda port, path: answers[port, path.partition("?")[0]]
    answers[16010, "/jmx"] = {"beans": []}
    with pytest.raises(program.NoAnswer):
        program.hbase_serves(store, 1)
    answers[16010, "/jmx"] = {"beans": [{"masterFinishedInitializationTime": 0}]}
    assert not program.hbase_serves(store, 1)
    answers[16010, "/jmx"] = {"beans": [{"masterFinishedInitializationTime": 5}]}
    answers[16010, "/rits.jsp"] = {"rits": [{"region": "x"}]}
    answers[16030, "/jmx"] = {"beans": [{"regionCount": 5}]}
    assert not program.hbase_serves(store, 5)
    answers[16010, "/rits.jsp"] = {"rits": []}
    assert program.hbase_serves(store, 5)
    assert not program.hbase_serves(store, 6)


def test_a_daemon_that_does_not_come_is_told_with_why(program, monkeypatch):
    monkeypatch.setattr(program, "START_TIMEOUT_SECONDS", 0.0)

    def never():
        raise program.NoAnswer("port 8020: refused")

    with pytest.raises(SystemExit, match=r"HDFS is not ready: port 8020: refused; see journalctl"):
        program.wait("HDFS", never)
    assert program.wait("HDFS", lambda: True) >= 0


def test_settings_are_those_that_the_region_server_tells(program, started, monkeypatch):
    names = {"hbase.a": 1, "hfile.b": "x", "mapreduce.c": "y", "dfs.client.d": True}
    told = {"properties": [{"key": name, "value": value} for name, value in names.items()]}
    monkeypatch.setattr(program.Store, "page", lambda self, port, path: told)
    assert program.settings() == {"hbase.a": "1", "hfile.b": "x", "dfs.client.d": "True"}


def test_a_stop_ends_all_and_keeps_the_logs(program, started, monkeypatch):
    journal = lambda unit, log: started.append(("journal", log.name))  # noqa: E731
    monkeypatch.setattr(program.evaluation_program, "keep_journal", journal)
    assert program.stop() == {"logs": str(program.LOGS)}
    killed = next(argv for argv in started if argv[0] == "kill")
    assert len(killed) == 2 + len(program.DAEMONS)
    assert started[-2:] == [("journal", "master.log"), ("journal", "regionserver.log")]
    assert not program.STATE.exists()


def test_a_stop_without_a_start_does_nothing(program):
    assert program.stop() == {"logs": str(program.LOGS)}


def test_without_a_start_the_message_says_what_to_call(program):
    with pytest.raises(SystemExit, match="call start first"):
        program.settings()


def test_blocks_are_dropped_and_other_files_left(program, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(os, "posix_fadvise", lambda fd, *_: asked.append(os.fstat(fd).st_size))
    blocks = tmp_path / "current" / "finalized"
    blocks.mkdir(parents=True)
    (blocks / "blk_1").write_bytes(b"123")
    (blocks / "blk_1_1.meta").write_bytes(b"12")
    (blocks / "VERSION").write_text("other")
    (blocks / "blk_2").symlink_to(tmp_path / "gone")
    assert program.drop_pages_of_blocks(tmp_path) == 2
    assert sorted(asked) == [2, 3]
