"""What the module cassandra_status makes of what nodetool prints."""

import socket

import pytest
from ansible_collections.sluice.stores.plugins.module_utils import cassandra_ring
from ansible_collections.sluice.stores.plugins.modules import cassandra_status

NAMES = ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
# As nodetool 5.0.9 prints it.
TOLD = """Datacenter: datacenter1
=======================
Status=Up/Down
|/ State=Normal/Leaving/Joining/Moving
--  Address   Load        Tokens  Owns (effective)  Host ID                               Rack
UN  10.0.0.1  104.34 KiB  16      64.7%             6b0d5a4e-0f7c-4f2e-8a33-0c7f1f1e9d21  rack1
{second}  10.0.0.2  ?           16      59.3%             7c1e6b5f-1a8d-4a3f-9b44-1d8a2a2f0e32  r1
UN  10.0.0.3  99.2 KiB    16      76.0%             8d2f7c60-2b9e-4b40-8c55-2e9b3b30f143  rack1

"""


def status(second: str = "UN", serves: bool = True, nodes=NAMES, joining: str = "") -> dict:
    return cassandra_status.status(TOLD.format(second=second), serves, nodes, joining)


def test_a_cluster_is_whole_when_each_node_is_up_and_normal():
    found = status()
    assert found["states"] == dict.fromkeys(NAMES, "UN")
    assert found["whole"] and found["not_normal"] == []


@pytest.mark.parametrize("second", ["DN", "UJ", "UL", "UM", "DL", "?N"])
def test_another_state_of_one_is_not_whole(second):
    found = status(second)
    assert not found["whole"]
    assert found["not_normal"] == [f"10.0.0.2 {second}"]


def test_a_node_that_takes_no_clients_is_not_whole():
    assert not status(serves=False)["whole"]


def test_one_that_the_ring_does_not_know_is_missing():
    found = status(nodes=[*NAMES, "10.0.0.4"])
    assert found["not_normal"] == ["10.0.0.4 absent"] and not found["whole"]


def test_one_that_nobody_named_counts_too():
    """A quorum would miss it as any other one."""
    found = status("DN", nodes=["10.0.0.1", "10.0.0.3"])
    assert found["not_normal"] == ["10.0.0.2 DN"] and not found["whole"]


@pytest.mark.parametrize("second", ["DN", "UJ", "UN"])
def test_the_node_that_joins_may_be_in_any_state(second):
    found = status(second, nodes=["10.0.0.1", "10.0.0.3"], joining="10.0.0.2")
    assert found["whole"] and found["joining_state"] == second


def test_a_node_that_is_new_has_no_state():
    found = status(joining="10.0.0.4")
    assert found["whole"] and found["joining_state"] == ""


def test_no_answer_is_no_whole_cluster():
    found = cassandra_status.status("", True, NAMES, "")
    assert not found["whole"]
    assert found["states"] == dict.fromkeys(NAMES, "absent")


def test_a_name_is_the_node_at_its_address():
    seen = {"127.0.0.1": "UN", "10.0.0.2": "DN"}
    assert cassandra_ring.state(seen, "localhost") == "UN"
    assert cassandra_ring.not_normal(seen, ["localhost"], "") == ["10.0.0.2 DN"]


def test_connections_are_taken_by_who_listens():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        assert cassandra_ring.takes_connections(address)
    assert not cassandra_ring.takes_connections(address)
