"""What the module ignite_status makes of the answers of nodes; these are servers of the test."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from ansible_collections.sluice.stores.plugins.modules import ignite_status

NAMES = ["ig1", "ig2", "ig3"]
STARTED = {
    "node/state": {"state": "STARTED"},
    "cluster/topology/physical": [{"name": name} for name in NAMES],
    "cluster/topology/logical": [{"name": name} for name in NAMES],
    "cluster/state": {"msNodes": ["ig3", "ig1", "ig2"]},
    "recovery/zone/state/global": {
        "states": [{"zoneName": "Z", "partitionId": 0, "state": "AVAILABLE"}]
    },
}
BEGINNING = {
    "node/state": {"state": "STARTING"},
    "cluster/topology/physical": STARTED["cluster/topology/physical"],
    # As nodes answer before there is a cluster.
    "cluster/state": (409, {"title": "Cluster is not initialized"}),
}


# As a node answers that is about to be part of a cluster, perhaps again.
UNAVAILABLE = (409, {"title": "REST temporarily unavailable"})


class Handler(BaseHTTPRequestHandler):
    """Answers as a node, from the answers of its server."""

    def do_GET(self):
        answer = self.server.answers.get(self.path.removeprefix("/management/v1/"), (404, {}))
        code, told = answer if isinstance(answer, tuple) else (200, answer)
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(told).encode())

    def log_message(self, *_):
        """Nothing."""


@pytest.fixture
def nodes():
    """Start servers with these answers; gives their addresses."""
    made = []

    def start(*answers: dict) -> list[str]:
        for each in answers:
            server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            server.answers = each
            threading.Thread(target=server.serve_forever, daemon=True).start()
            made.append(server)
        return [f"127.0.0.1:{server.server_port}" for server in made]

    yield start
    for server in made:
        server.shutdown()
        server.server_close()


def test_a_cluster_is_whole_when_every_node_and_partition_is(nodes):
    found = ignite_status.status(nodes(STARTED, STARTED, STARTED))
    assert found["whole"] is True
    assert found["metadata_nodes"] == found["members"] == NAMES
    assert set(found["states"].values()) == {"STARTED"}
    assert "problem" not in found


def test_a_partition_that_is_behind_is_named(nodes):
    behind = {"states": [{"zoneName": "Z", "partitionId": 7, "state": "DEGRADED"}]}
    degraded = STARTED | {"recovery/zone/state/global": behind}
    found = ignite_status.status(nodes(degraded, degraded, degraded))
    assert found["whole"] is False
    assert found["not_whole"] == ["Z 7 DEGRADED"]


@pytest.mark.parametrize("third", [BEGINNING, STARTED | {"node/state": UNAVAILABLE}])
def test_one_that_begins_is_not_whole(nodes, third):
    found = ignite_status.status(nodes(STARTED, STARTED, third))
    assert found["whole"] is False
    assert sorted(found["states"].values()) == ["STARTED", "STARTED", "STARTING"]


def test_one_that_is_silent_is_down_and_the_others_are_asked(nodes):
    [first] = nodes(STARTED)
    found = ignite_status.status(["127.0.0.1:1", first])
    assert found["states"]["127.0.0.1:1"] == "down"
    assert found["members"] == NAMES
    assert found["whole"] is False


def test_before_there_is_a_cluster_nodes_tell_whom_they_know(nodes):
    addresses = nodes(BEGINNING, BEGINNING, BEGINNING)
    found = ignite_status.status(addresses)
    assert found["known"] == dict.fromkeys(addresses, NAMES)
    assert found["metadata_nodes"] == []
    assert found["whole"] is False


def test_a_cluster_that_is_on_its_way_is_not_taken_for_none(nodes):
    found = ignite_status.status(nodes(BEGINNING | {"cluster/state": UNAVAILABLE}))
    assert found["metadata_nodes"] == []
    assert "temporarily" in found["problem"]


def test_an_answer_that_is_none_is_a_problem(nodes):
    found = ignite_status.status(nodes(STARTED | {"cluster/topology/physical": (500, {})}))
    assert "500" in found["problem"]
    assert found["whole"] is False
