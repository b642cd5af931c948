"""What is understood of a deployed cluster, and how its nodes are reached; SSH is a script here."""

import json
import subprocess

import pytest
import yaml
from cluster_under_test import REPLICA
from deployed_cluster import UNIT, Description, Node, hosts_file, kind_of
from deployed_control_plane import with_policy
from faults import faults_of
from node_connection import NodeConnection

# The fourth word is the control socket, which is there when the connection is.
SSH = """#!/bin/sh
case " $* " in
*" -M "*) echo "$*" >> "$CONNECTIONS"; : > "$4"; exec sleep 60 ;;
*" -O check "*) [ -e "$4" ]; exit ;;
esac
for word; do :; done
exec sh -c "$word"
"""


@pytest.mark.parametrize(
    ("unit", "kind", "build"),
    [
        ("sluice-hbase-2.6.4-hadoop3-regionserver@main.service", "regionserver", "2.6.4-hadoop3"),
        ("sluice-hbase-2.6.4-hadoop3-stock-master@main.service", "master", "2.6.4-hadoop3-stock"),
        ("sluice-hdfs-3.4.2-zkfc@main.service", "zkfc", "3.4.2"),
        ("sluice-zookeeper-3.8.4@main.service", "zookeeper", "3.8.4"),
        ("sluice-agent.service", "agent", None),
        ("sluice-controller.service", "controller", None),
    ],
)
def test_units_are_known_by_their_names(unit, kind, build):
    found = UNIT.fullmatch(unit)
    assert (found["control"] or found["part"] or found["store"], found["build"]) == (kind, build)


@pytest.mark.parametrize(
    "unit",
    [
        "sluice-hdfs-3.4.2-namenode@evaluation.service",
        "sluice-postgres-17.11@main.service",
        "sluice-evaluation-sampler.service",
    ],
)
def test_other_units_are_left_alone(unit):
    assert not UNIT.fullmatch(unit)


def test_a_description_is_read(tmp_path):
    file = tmp_path / "cluster.json"
    node = {"name": "hb1", "address": "10.0.0.1", "ssh_options": "-o User=root -i 'a key'"}
    file.write_text(json.dumps({"namenodes": 2, "nodes": [node]}))
    options = ("-o", "User=root", "-i", "a key")
    assert Description.read(file) == Description((Node("hb1", "10.0.0.1", options),), 2)


def test_kinds_of_daemons_on_nodes_with_dashes():
    assert kind_of("regionserver-rack-1") == "regionserver"


def test_java_finds_nodes_and_this_machine():
    own, node = hosts_file({"hb1": "10.0.0.1"}).splitlines()
    assert own.startswith("127.0.0.1 localhost ")
    assert node == "10.0.0.1 hb1"


def test_places_of_replicas():
    line = (
        "0. BP-1:blk_1073741840_1016 len=9 Live_repl=2  [DatanodeInfoWithStorage"
        "[10.0.0.1:9866,DS-1,DISK], DatanodeInfoWithStorage[10.0.0.2:9866,DS-2,DISK]]"
    )
    assert REPLICA.findall(line) == ["10.0.0.1:9866", "10.0.0.2:9866"]


def test_the_last_fault_is_that_of_the_cluster():
    alone, pair = faults_of(1), faults_of(2)
    assert len(alone) == len(pair)
    assert set(alone) ^ set(pair) == {"namenode killed", "active namenode killed"}


def test_a_controller_has_the_policy_of_the_faults_alone():
    before = "# written\ncluster: c\npolicies:\n- name: other\n"
    after = with_policy(before)
    told = yaml.safe_load(after)
    assert told["cluster"] == "c"
    assert [policy["name"] for policy in told["policies"]] == ["steady"]
    with pytest.raises(RuntimeError, match=r"run site\.yml"):
        with_policy(after)


@pytest.fixture
def connections(tmp_path, monkeypatch):
    ssh = tmp_path / "bin/ssh"
    ssh.parent.mkdir()
    ssh.write_text(SSH)
    ssh.chmod(0o755)
    file = tmp_path / "connections"
    monkeypatch.setenv("PATH", str(ssh.parent), prepend=":")
    monkeypatch.setenv("CONNECTIONS", str(file))
    return file


@pytest.fixture
def node(connections, tmp_path):
    made = NodeConnection("n1", "10.0.0.1", ["-l", "root"], "/run/other.sock", tmp_path)
    yield made
    made.close()


def test_commands_are_words(node):
    assert node.run("printf", "%s|", "a b", "$HOME", "'") == "a b|$HOME|'|"
    assert node.run("cat", input="told") == "told"


def test_a_script_has_arguments_and_ends_with_what_fails(node):
    assert node.script('echo "$2"', "a", "b c") == "b c\n"
    with pytest.raises(subprocess.CalledProcessError) as caught:
        node.script("echo said >&2; false; echo on")
    assert "said" in caught.value.__notes__[0]
    assert node.run("false", check=False) == ""


def test_one_connection_carries_all(node, connections, tmp_path):
    node.run("true")
    assert node.socket == tmp_path / "n1.sock"
    (made,) = connections.read_text().splitlines()
    assert f"-L {node.socket}:/run/other.sock 10.0.0.1" in made


def test_a_connection_that_broke_is_made_anew(node, connections):
    node.run("true")
    node.close()
    node.run("true")
    assert len(connections.read_text().splitlines()) == 2
