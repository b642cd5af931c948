"""The cluster of a run: made once, waited for, and what its nodes report."""

import importlib.util
from pathlib import Path

import pytest

FILE = Path(__file__).parents[4] / "ansible/roles/ignite/files/ignite_cluster.py"
NODES = {"ig1": "10.0.0.1", "ig2": "10.0.0.2"}
WHOLE = {
    "node/state": {"state": "STARTED"},
    "cluster/topology/physical": [{"name": name} for name in NODES],
    "recovery/zone/state/global": {"states": [{"state": "AVAILABLE"}]},
}


@pytest.fixture
def cluster(monkeypatch):
    spec = importlib.util.spec_from_file_location("ignite_cluster", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "START_TIMEOUT_SECONDS", 0.0)
    return module


def answering(cluster, monkeypatch, **told):
    """Nodes that answer so; what is not given as those of a whole cluster."""
    answers = WHOLE | {name.replace("__", "/"): answer for name, answer in told.items()}
    monkeypatch.setattr(cluster, "ask", lambda _, path: answers[path])


@pytest.mark.parametrize(("is_new", "made"), [(False, []), (True, [NODES])])
def test_a_cluster_is_made_once(cluster, monkeypatch, is_new, made):
    calls = []
    monkeypatch.setattr(cluster, "make", lambda nodes, *_: calls.append(nodes))
    answering(cluster, monkeypatch)
    cluster.make_whole(NODES, Path("/ignite"), "ignite", is_new)
    assert calls == made


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"cluster__topology__physical": [{"name": "ig1"}]}, "do not reach each other"),
        ({"node__state": {"state": "STARTING"}}, "ig1 does not serve"),
        ({"node__state": None}, "ig1 does not serve"),
        ({"recovery__zone__state__global": {"states": [{"state": "DEGRADED"}]}}, "not whole"),
    ],
)
def test_what_is_waited_for_in_vain_is_named(cluster, monkeypatch, told, message):
    answering(cluster, monkeypatch, **told)
    with pytest.raises(SystemExit, match=message):
        cluster.make_whole(NODES, Path("/ignite"), "ignite", is_new=False)


def test_settings_are_told_by_their_whole_names(cluster, monkeypatch):
    settings = {"ignite": {"rest": {"port": 10300}, "network": {"listenAddresses": ["a"]}}}
    answering(cluster, monkeypatch, configuration__node=settings)
    assert cluster.reported("ig1") == {
        "ignite.rest.port": "10300",
        "ignite.network.listenAddresses": '["a"]',
    }
