"""A port that a role asks at is not changed while a process listens at the former one."""

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
