"""The modules hdfs_status and hbase_status, against pages as the daemons serve them."""

import json
import socket
import threading
import urllib.parse
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from ansible_collections.sluice.stores.plugins.modules import hbase_status, hdfs_status

NAMENODE = "Hadoop:service=NameNode,name="
NOWHERE = "http://127.0.0.1:9"


def active_namenode(**changes) -> dict:
    figures = {
        "Safemode": "",
        "LiveNodes": json.dumps({"b:9866": {}, "a:9866": {}}),
        "NumberOfMissingBlocks": 0,
        "JournalTransactionInfo": json.dumps({"LastAppliedOrWrittenTxId": "41"}),
    }
    return {
        f"{NAMENODE}NameNodeStatus": {"State": "active"},
        f"{NAMENODE}NameNodeInfo": figures | changes,
        f"{NAMENODE}FSNamesystemState": {"UnderReplicatedBlocks": 3},
    }


def standby_namenode(safe_mode: str = "") -> dict:
    return {
        f"{NAMENODE}NameNodeStatus": {"State": "standby"},
        f"{NAMENODE}NameNodeInfo": {"Safemode": safe_mode},
    }


def journal(transaction: int) -> dict:
    return {"Hadoop:service=JournalNode,name=Journal-ns": {"LastWrittenTxId": transaction}}


def datanode(*states: str) -> dict:
    actors = json.dumps([{"ActorState": state} for state in states])
    return {"Hadoop:service=DataNode,name=DataNodeInfo": {"BPServiceActorInfo": actors}}


def master(active: str, **changes) -> dict:
    figures = {
        "tag.isActiveMaster": active,
        "tag.liveRegionServers": "b,16020,2;a,16020,1",
        "masterFinishedInitializationTime": 7,
    }
    return {hbase_status.MASTER: figures | changes, hbase_status.IN_TRANSITION: {"rits": [{}, {}]}}


@pytest.fixture
def page():
    """Serves beans as /jmx does, and other documents by their paths."""
    servers = []

    def serve(beans: dict) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
                found = beans.get(query.get("qry", [self.path])[0])
                asked = {"beans": [] if found is None else [found]} if "qry" in query else found
                self.send_response(200)
                self.end_headers()
                # JSP pages have empty lines around what they tell.
                self.wfile.write(b"\n\n" + json.dumps(asked).encode() + b"\n")

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield serve
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def broken_page():
    """Promises more than it sends, as a daemon that is killed meanwhile."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"beans":')

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def hdfs(namenodes, **others) -> dict:
    parameters = {"journalnodes": [], "nameservice": "ns", "datanodes": []}
    return hdfs_status.status(parameters | {"namenodes": namenodes} | others)


def test_the_active_namenode_is_found_behind_a_standby_and_a_dead_one(page):
    standby = page(standby_namenode())
    active = page(active_namenode())
    found = hdfs([NOWHERE, standby, active])
    assert found["available"] and found["active"] == active
    assert list(found["states"].values()) == ["down", "standby", "active"]
    assert found["live"] == ["a:9866", "b:9866"]
    assert (found["low_redundancy_blocks"], found["transaction"]) == (3, 41)


def test_without_an_active_namenode_nothing_is_available(page):
    found = hdfs([page(standby_namenode())])
    assert not found["available"] and "no NameNode is active" in found["problem"]


def test_a_standby_in_safe_mode_is_not_ready_to_take_over(page):
    found = hdfs([page(standby_namenode("Safe mode is ON.")), page(active_namenode())])
    assert found["available"] and list(found["states"].values()) == ["starting", "active"]


def test_safe_mode_is_not_available(page):
    found = hdfs([page(active_namenode(Safemode="Safe mode is ON."))])
    assert not found["available"] and found["safe_mode"]


def test_the_journal_that_lags_most_counts(page):
    journals = [page(journal(41)), page(journal(17))]
    assert hdfs([NOWHERE], journalnodes=journals)["journal_transaction"] == 17
    found = hdfs([NOWHERE], journalnodes=[*journals, NOWHERE])
    assert found["journal_transaction"] == -1
    assert found["journal_transactions"] == {journals[0]: 41, journals[1]: 17, NOWHERE: -1}
    assert hdfs([NOWHERE])["journal_transaction"] == -1


@pytest.mark.parametrize(
    ("states", "available"),
    [(("RUNNING", "RUNNING"), True), (("RUNNING", "CONNECTING"), False), ((), False)],
)
def test_a_datanode_has_registered_with_all_its_namenodes(page, states, available):
    found = hdfs([page(active_namenode())], datanodes=[page(datanode(*states))])
    assert found["available"] is available


def test_a_datanode_that_is_down_is_named(page):
    found = hdfs([page(active_namenode())], datanodes=[NOWHERE])
    assert not found["available"] and NOWHERE in found["problem"]


# A daemon that starts cannot compute all attributes, and its page leaves these out.
def test_a_datanode_that_starts_has_not_registered(page):
    starting = page({"Hadoop:service=DataNode,name=DataNodeInfo": {"Version": "3.4.2"}})
    found = hdfs([page(active_namenode())], datanodes=[starting])
    assert not found["available"] and "BPServiceActorInfo" in found["problem"]


@pytest.mark.parametrize("attribute", ["Safemode", "LiveNodes", "JournalTransactionInfo"])
def test_a_namenode_that_starts_is_not_available(page, attribute):
    found = hdfs([page(active_namenode(**{attribute: None}))])
    assert not found["available"] and attribute in found["problem"]


def test_a_namenode_that_does_not_tell_its_state_is_down(page):
    beans = {f"{NAMENODE}NameNodeStatus": {}, f"{NAMENODE}NameNodeInfo": {}}
    assert list(hdfs([page(beans)])["states"].values()) == ["down"]


def test_a_journalnode_that_starts_has_written_nothing(page):
    starting = page({"Hadoop:service=JournalNode,name=Journal-ns": {}})
    assert hdfs([NOWHERE], journalnodes=[starting])["journal_transaction"] == -1


def test_a_page_that_breaks_off_is_no_answer():
    with broken_page() as page:
        assert list(hdfs([page])["states"].values()) == ["down"]


def test_the_active_master_and_what_it_knows(page):
    backup, active = page(master("false")), page(master("true"))
    figures = {"regionCount": 5, "tag.serverName": "b,16020,2"}
    region_server = page({hbase_status.REGION_SERVER: figures})
    found = hbase_status.status([NOWHERE, backup, active], region_server)
    assert found["available"] and found["active"] == active
    assert list(found["states"].values()) == ["down", "backup", "active"]
    assert found["live"] == ["a,16020,1", "b,16020,2"]
    assert (found["regions_in_transition"], found["regions"]) == (2, 5)
    assert found["server"] in found["live"]


def test_a_master_that_starts_is_not_available(page):
    found = hbase_status.status([page(master("true", masterFinishedInitializationTime=0))], "")
    assert not found["available"] and "starts" in found["problem"]


def test_a_master_that_does_not_tell_its_transitions_is_not_available(page):
    beans = master("true")
    served = page({hbase_status.MASTER: beans[hbase_status.MASTER]})
    assert hbase_status.figures(page(beans))["regions_in_transition"] == 2
    found = hbase_status.status([served], "")
    assert not found["available"]
    answering = page(beans | {hbase_status.IN_TRANSITION: {}})
    found = hbase_status.status([answering], "")
    assert not found["available"] and "in transition" in found["problem"]


def test_without_an_active_master_nothing_is_available(page):
    found = hbase_status.status([page(master("false")), page({})], NOWHERE)
    assert not found["available"] and (found["server"], found["regions"]) == ("", -1)
    assert list(found["states"].values()) == ["backup", "down"]
