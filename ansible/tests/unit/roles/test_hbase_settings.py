"""The files that the roles zookeeper, hdfs and hbase write, made by Ansible from inventories."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
import yaml

COLLECTION = Path(__file__).parents[3]
ONE, THREE, OFFLOAD = "local-hbase", "local-hbase-three", "local-hbase-offload"
STANDBY = "local-hbase-standby"
COMPACTOR = "hbase.hstore.defaultengine.compactor.class"
OFFLOAD_SOCKET = "sluice.compaction.offload.socket"
# What a user may set, together: each run of Ansible takes seconds.
CHANGED = {
    "hbase_settings": {
        "hbase.coprocessor.regionserver.classes": "org.example.Mine",
        "hbase.coprocessor.master.classes": "org.example.Own, org.example.Other",
        "hbase.regionserver.throughput.controller": "org.example.Pace",
        "hbase.example": "a < b & c",
    },
    "hdfs_data_dirs": [{"path": "/d/one", "storage": "SSD"}, {"path": "/d/two"}],
    "hbase_regionserver_heap_bytes": 2147483648,
}
TEMPLATES = {
    "zookeeper": {"zoo.cfg": ("zoo.cfg.j2", {}), "zookeeper": ("environment.j2", {})},
    "hdfs": {
        "core-site.xml": (
            "configuration.xml.j2",
            {"_hdfs_file_settings": "{{ _hdfs_core_settings }}"},
        ),
        "hdfs-site.xml": (
            "configuration.xml.j2",
            {"_hdfs_file_settings": "{{ _hdfs_site_settings }}"},
        ),
        "hdfs": ("environment.j2", {}),
    },
    "hbase": {"hbase-site.xml": ("hbase-site.xml.j2", {}), "hbase": ("environment.j2", {})},
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """What is written for an inventory: settings by host and file; each inventory once."""
    made = {}

    def write(inventory: str, **extra) -> dict[str, dict[str, dict]]:
        key = (inventory, json.dumps(extra, sort_keys=True))
        if key not in made:
            made[key] = render(inventory, tmp_path_factory.mktemp("written"), extra)
        return made[key]

    return write


def render(inventory: str, folder: Path, extra: dict) -> dict[str, dict[str, dict]]:
    book = folder / "render.yml"
    book.write_text(yaml.safe_dump([play(role, folder) for role in TEMPLATES]))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), str(book)]
    command += [f"--inventory={COLLECTION / 'inventories' / inventory}", "--connection=local"]
    command += [f"--extra-vars={json.dumps({'ansible_become': False} | extra)}"]
    environment = os.environ | {"ANSIBLE_CONFIG": str(COLLECTION / "ansible.cfg")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {
        host.name: {file.name: read(file) for file in host.iterdir()}
        for host in folder.iterdir()
        if host.is_dir()
    }


def variables_of(role: str) -> dict:
    """Defaults and variables of a role, by its shortest list of tasks, of which none is run."""
    return {
        "ansible.builtin.import_role": {"name": f"sluice.stores.{role}", "tasks_from": "wait"},
        "when": False,
    }


def play(role: str, folder: Path) -> dict:
    """Writes a role's files below a folder of each host, and does nothing else of the role."""
    host = f"{folder}/{{{{ inventory_hostname }}}}"
    tasks = [
        variables_of(role),
        {"ansible.builtin.file": {"path": host, "state": "directory", "mode": "0755"}},
    ]
    for name, (template, variables) in TEMPLATES[role].items():
        source = COLLECTION / "roles" / role / "templates" / template
        writing = {"src": str(source), "dest": f"{host}/{name}", "mode": "0644"}
        tasks.append({"ansible.builtin.template": writing, "vars": variables})
    return {"hosts": role, "gather_facts": False, "tasks": tasks}


def read(file: Path) -> dict[str, str]:
    """The settings of a file, each of which must be there once."""
    if file.suffix == ".xml":
        properties = ElementTree.parse(file).getroot().findall("property")
        pairs = [(each.findtext("name"), each.findtext("value")) for each in properties]
    else:
        lines = file.read_text().splitlines()
        pairs = [line.split("=", 1) for line in lines if line and not line.startswith("#")]
    settings = dict(pairs)
    assert len(settings) == len(pairs)
    return settings


def test_one_node_has_one_copy_of_each_block_for_clients_too(written):
    [files] = written(ONE).values()
    assert files["hdfs-site.xml"]["dfs.replication"] == "1"
    assert files["hbase"]["HADOOP_CONF_DIR"] == '"/etc/sluice/hdfs/main"'
    assert "dfs.replication" not in files["hbase-site.xml"]


def test_one_node_waits_for_its_namenode(written):
    [files] = written(ONE).values()
    assert files["core-site.xml"]["fs.defaultFS"] == "hdfs://hb1:8020"
    assert files["hdfs-site.xml"]["dfs.client.retry.policy.enabled"] == "true"
    assert files["hbase-site.xml"]["hbase.rootdir"] == "hdfs://hb1:8020/hbase"


def test_a_single_server_of_zookeeper_waits_for_nobody(written):
    [files] = written(ONE).values()
    assert not [name for name in files["zoo.cfg"] if name.startswith("server.")]
    assert files["zoo.cfg"]["admin.enableServer"] == "false"


def test_three_servers_of_zookeeper_know_each_other_by_the_same_numbers(written):
    found = [
        {name: value for name, value in files["zoo.cfg"].items() if name.startswith("server.")}
        for files in written(THREE).values()
    ]
    assert found == 3 * [{f"server.{n}": f"hb{n}:2888:3888" for n in (1, 2, 3)}]


def test_a_pair_of_namenodes_shares_a_log_on_three_nodes(written):
    for files in written(THREE).values():
        site = files["hdfs-site.xml"]
        assert site["dfs.ha.namenodes.sluice"] == "nn1,nn2"
        assert site["dfs.namenode.rpc-address.sluice.nn2"] == "hb2:8020"
        journals = "qjournal://hb1:8485;hb2:8485;hb3:8485/sluice"
        assert site["dfs.namenode.shared.edits.dir"] == journals
        assert site["dfs.replication"] == "3"
        assert "dfs.namenode.rpc-address" not in site
        assert files["core-site.xml"]["ha.zookeeper.quorum"] == "hb1:2181,hb2:2181,hb3:2181"
        assert files["core-site.xml"]["fs.defaultFS"] == "hdfs://sluice"
        assert files["hbase-site.xml"]["hbase.rootdir"] == "hdfs://sluice/hbase"


@pytest.mark.parametrize("inventory", [ONE, THREE])
def test_daemons_listen_on_the_nodes_own_network_alone(written, inventory):
    for host, files in written(inventory).items():
        listening = {
            name: value
            for settings in files.values()
            for name, value in settings.items()
            if name.endswith((".ipc.address", "bindAddress", "clientPortAddress"))
            or (name.startswith(("dfs.datanode.", "dfs.journalnode.")) and name.endswith("address"))
        }
        assert len(listening) >= 9
        assert {value.split(":")[0] for value in listening.values()} == {host}
        values = [value for settings in files.values() for value in settings.values()]
        assert not [value for value in values if "0.0.0.0" in value]


def test_the_plug_in_is_loaded_by_the_patched_build(written):
    [files] = written(ONE).values()
    site = files["hbase-site.xml"]
    assert site["hbase.regionserver.throughput.controller"].startswith("dev.sluice.hbase.")
    assert site["hbase.coprocessor.regionserver.classes"].startswith("dev.sluice.hbase.")
    site = files["hdfs-site.xml"]
    assert site["dfs.datanode.plugins"].startswith("dev.sluice.hdfs.")
    chooser = site["dfs.datanode.fsdataset.volume.choosing.policy"]
    assert chooser.startswith("dev.sluice.hdfs.")


def test_compactions_stay_unless_they_are_to_be_offered(written):
    for files in written(THREE).values():
        site = files["hbase-site.xml"]
        assert site[COMPACTOR] == "dev.sluice.hbase.compaction.CountingCompactor"
        assert OFFLOAD_SOCKET not in site


@pytest.mark.parametrize(
    ("inventory", "extra"), [(OFFLOAD, {}), (THREE, {"inventory_offload_enabled": True})]
)
def test_compactions_are_offered_at_the_socket_of_the_nodes_agent(written, inventory, extra):
    for files in written(inventory, **extra).values():
        site = files["hbase-site.xml"]
        assert site[COMPACTOR] == "dev.sluice.hbase.offload.OffloadingCompactor"
        assert site[OFFLOAD_SOCKET] == "/run/sluice/agent/compaction.sock"


def test_nodes_that_only_compact_find_hdfs_as_the_region_server_does(written):
    by_host = written(OFFLOAD)
    assert sorted(by_host) == ["hb1", "hb2", "hb3"]
    for host in ("hb2", "hb3"):
        files = by_host[host]
        assert "zoo.cfg" not in files
        for name in ("fs.defaultFS", "hbase.rootdir", "dfs.replication"):
            told, wanted = (
                [f[name] for f in s.values() if name in f] for s in (files, by_host["hb1"])
            )
            assert told == wanted
            assert len(told) == 1
        assert "hbase.coprocessor.master.classes" not in files["hbase-site.xml"]


def test_masters_alone_load_their_part_of_it(written):
    loaded = {
        host
        for host, files in written(THREE).items()
        if "hbase.coprocessor.master.classes" in files["hbase-site.xml"]
    }
    assert loaded == {"hb1", "hb2"}


def test_one_more_region_server_changes_what_masters_read_alone(written):
    name = "hbase.master.wait.on.regionservers.maxtostart"
    told = {host: files["hbase-site.xml"].get(name) for host, files in written(THREE).items()}
    assert told == {"hb1": "3", "hb2": "3", "hb3": None}


def test_a_node_that_joins_changes_nothing_that_others_read(written, tmp_path):
    """Neither for them, nor for itself, which has its configuration before."""
    joined = tmp_path / "inventory"
    shutil.copytree(COLLECTION / "inventories" / STANDBY, joined)
    groups = ("hdfs_datanode", "hbase_regionserver")
    noted = {group: {"hosts": {"hb3": None}} for group in groups}
    (joined / "joined-hb3.yml").write_text(yaml.safe_dump(noted))
    before, after = written(STANDBY), written(str(joined))
    assert sorted(before) == ["hb1", "hb2", "hb3"]
    assert after == before
    assert before["hb1"]["hdfs-site.xml"]["dfs.replication"] == "2"
    name = "hbase.master.wait.on.regionservers.maxtostart"
    assert before["hb1"]["hbase-site.xml"][name] == "2"


def test_the_stock_build_knows_nothing_of_it(written):
    [files] = written(ONE, hbase_variant="stock", hdfs_variant="stock").values()
    assert "dev.sluice" not in " ".join(files["hdfs-site.xml"].values())
    assert "sluice" not in " ".join(
        value for name, value in files["hbase-site.xml"].items() if name != "hbase.tmp.dir"
    )


def test_settings_of_the_user_go_before_and_coprocessors_are_added(written):
    [files] = written(ONE, **CHANGED).values()
    site = files["hbase-site.xml"]
    added = "dev.sluice.hbase.regionserver.SocketCoprocessor,org.example.Mine"
    assert site["hbase.coprocessor.regionserver.classes"] == added
    of_masters = "dev.sluice.hbase.master.MasterSocketCoprocessor,org.example.Own,org.example.Other"
    assert site["hbase.coprocessor.master.classes"] == of_masters
    assert site["hbase.regionserver.throughput.controller"] == "org.example.Pace"
    assert site["hbase.example"] == "a < b & c"


def test_disks_have_their_kind(written):
    [files] = written(ONE, **CHANGED).values()
    places = "[SSD]file:///d/one,[DISK]file:///d/two"
    assert files["hdfs-site.xml"]["dfs.datanode.data.dir"] == places


def test_heaps_are_those_of_the_daemons(written):
    [files] = written(ONE, **CHANGED).values()
    assert files["hbase"]["HBASE_REGIONSERVER_JAVA_OPTIONS"].startswith('"-Xmx2147483648 ')
    assert files["hbase"]["HBASE_MASTER_JAVA_OPTIONS"].startswith('"-Xmx536870912 ')
    assert files["hdfs"]["HDFS_NAMENODE_JAVA_OPTIONS"].startswith('"-Xmx268435456 ')
    assert files["zookeeper"]["ZOOKEEPER_JAVA_OPTIONS"].startswith('"-Xmx134217728 ')


def test_options_of_the_region_server_are_its_own_and_come_last(written):
    [files] = written(ONE, hbase_regionserver_java_options=["-Da=b", "-Dc=d"]).values()
    assert files["hbase"]["HBASE_REGIONSERVER_JAVA_OPTIONS"].endswith(' -Da=b -Dc=d"')
    assert "-Da=b" not in files["hbase"]["HBASE_MASTER_JAVA_OPTIONS"]


@pytest.mark.parametrize("inventory", [ONE, THREE])
def test_the_heaps_of_a_node_fit_into_its_memory(written, inventory):
    for host, files in written(inventory).items():
        options = [files[role][name] for role in TEMPLATES for name in files[role]]
        heap_bytes = sum(int(size) for size in re.findall(r"-Xmx(\d+)", " ".join(options)))
        assert 2**31 < heap_bytes < 0.75 * memory_bytes(inventory)[host]


@functools.cache
def memory_bytes(inventory: str) -> dict[str, int]:
    """What the test bed gives each node."""
    command = [str(Path(sys.executable).with_name("ansible-inventory")), "--list"]
    command += [f"--inventory={COLLECTION / 'inventories' / inventory}"]
    environment = os.environ | {"ANSIBLE_CONFIG": str(COLLECTION / "ansible.cfg")}
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    hosts = json.loads(told.stdout)["_meta"]["hostvars"]
    return {host: variables["testbed_memory_bytes"] for host, variables in hosts.items()}
