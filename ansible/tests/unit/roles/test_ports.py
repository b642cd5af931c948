"""Where a role asks a process is not changed while that listens at the former place."""

import base64

import pytest
from ansible.template import trust_as_template
from role_files import ROLES, Host, task_of

# What was written by an earlier run, in the order in which it is read.
TEMPLATES = {
    "zookeeper": ["zoo.cfg.j2"],
    "ignite": ["ignite-config.conf.j2"],
    "cassandra": ["cassandra.yaml.j2", "environment.j2"],
}
REFUSING = {
    "zookeeper": "Refuse another port while the server runs",
    "ignite": "Refuse another port while the node runs",
    "cassandra": "Refuse other ports while the node runs",
}


def host(role: str, **known: object) -> Host:
    groups, hosts = {role: ["n1"]}, {"n1": {}}
    return Host(role, "n1", groups=groups, hostvars=hosts, ansible_managed="managed", **known)


def read(role: str) -> list[dict]:
    """The files as the module slurp gives them."""
    files = [ROLES / role / "templates" / name for name in TEMPLATES[role]]
    templates = [trust_as_template(file.read_text()) for file in files]
    texts = [host(role).templar().template(text, escape_backslashes=False) for text in templates]
    return [{"content": base64.b64encode(text.encode()).decode()} for text in texts]


@pytest.mark.parametrize("runs", [True, False])
@pytest.mark.parametrize(
    ("role", "changed"),
    [
        ("zookeeper", {}),
        ("zookeeper", {"zookeeper_client_port": 2281}),
        ("ignite", {}),
        ("ignite", {"ignite_rest_port": 10400}),
        ("cassandra", {}),
        ("cassandra", {"cassandra_client_port": 9142}),
        ("cassandra", {"cassandra_management_port": 7299}),
    ],
)
def test_a_port_is_not_changed_under_a_process_that_listens_at_it(role, changed, runs):
    files = read(role)
    known = {
        f"_{role}_former": {"results": files} if role == "cassandra" else files[0],
        f"_{role}_units": {"stdout_lines": ["the.service loaded active running"] * runs},
    }
    task = task_of(role, "preflight.yml", REFUSING[role])
    assert host(role, **changed).holds(task, "that", **known) is (not changed or not runs)
    message = host(role, **changed).message(task, **known)
    assert all(str(port) in message for port in changed.values())


@pytest.mark.parametrize("role", list(TEMPLATES))
def test_a_new_host_may_have_any_port(role):
    nothing = {"results": []} if role == "cassandra" else {"skipped": True}
    known = {f"_{role}_former": nothing, f"_{role}_units": {"stdout_lines": []}}
    task = task_of(role, "preflight.yml", REFUSING[role])
    assert host(role).holds(task, "that", **known)


def member(role: str, **known: object) -> Host:
    """A host with all daemons of HDFS, or of HBase."""
    names = {"hdfs": ("namenode", "datanode"), "hbase": ("master", "regionserver")}[role]
    groups = {f"{role}_{name}": ["n1"] for name in names}
    own = {"hbase_root_dir": "hdfs://n1:8020/hbase", "ansible_managed": "managed"}
    return Host(role, "n1", groups=groups, hostvars={"n1": {}}, **own, **known)


def site(role: str) -> str:
    """What an earlier run has written."""
    name = {"hdfs": "configuration.xml.j2", "hbase": "hbase-site.xml.j2"}[role]
    text = trust_as_template((ROLES / role / "templates" / name).read_text())
    settings = member("hdfs").value("_hdfs_site_settings") if role == "hdfs" else {}
    return member(role).templar(_hdfs_file_settings=settings).template(text)


def former(role: str, text: str) -> dict:
    """What the roles have read of it."""
    content = {"content": base64.b64encode(text.encode()).decode()} if text else {"skipped": True}
    return {"_hdfs_former_site": text} if role == "hdfs" else {"_hbase_former": content}


MOVED = {
    "hdfs": "Refuse another name while daemons run",
    "hbase": "Refuse another name and other ports while daemons run",
}


@pytest.mark.parametrize("runs", [True, False])
@pytest.mark.parametrize(
    ("role", "changed", "told"),
    [
        ("hdfs", {}, ""),
        ("hdfs", {"hdfs_host": "n1.example"}, "under the name n1, and hdfs_host is n1.example"),
        ("hbase", {}, ""),
        ("hbase", {"hbase_host": "n1.example"}, "hostname n1, not n1.example"),
        ("hbase", {"hbase_settings": {"hbase.master.info.port": 1}}, "info.port 16010, not 1"),
        ("hbase", {"hbase_settings": {"hbase.regionserver.info.port": 1}}, "port 16030, not 1"),
        ("hbase", {"hbase_settings": {"hbase.regionserver.port": 1}}, "server.port 16020, not 1"),
        # Nobody asks there.
        ("hbase", {"hbase_settings": {"hbase.master.port": 1}}, ""),
    ],
)
def test_daemons_of_hdfs_and_hbase_that_run_are_asked_where_they_are(role, changed, told, runs):
    units = {f"_{role}_units": {"stdout_lines": ["the.service loaded active running"] * runs}}
    known = units | former(role, site(role))
    task = task_of(role, "preflight.yml", MOVED[role])
    assert member(role, **changed).holds(task, "that", **known) is (not told or not runs)
    assert told in member(role, **changed).message(task, **known)


@pytest.mark.parametrize("role", list(MOVED))
def test_a_new_host_of_hdfs_or_hbase_may_have_any_name(role):
    known = {f"_{role}_units": {"stdout_lines": []}} | former(role, "")
    task = task_of(role, "preflight.yml", MOVED[role])
    assert member(role).holds(task, "that", **known)
    assert member(role).message(task, **known)
