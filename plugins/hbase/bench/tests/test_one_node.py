"""A node that is not started: its daemons, and what is asked of their pages."""

import json
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from daemons import LOOPBACK, Daemon, free_ports
from one_node import Layout, OneNode

BEANS = {"known": [{"name": "known", "value": 7}], "unknown": []}


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        wanted = parse_qs(urlsplit(self.path).query)["qry"][0]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"beans": BEANS[wanted]}).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def node(tmp_path):
    prefixes = {store: tmp_path / store for store in ("hbase", "hdfs", "zookeeper")}
    return OneNode(Layout(region_servers=2, datanodes=2), tmp_path / "node", prefixes)


@pytest.fixture
def node_with_page(node):
    with HTTPServer((LOOPBACK, 0), Page) as server:
        node.ports["namenode-web"] = server.server_port
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield node
        server.shutdown()
        thread.join()


def test_daemons_come_in_the_order_in_which_they_need_each_other(node):
    assert list(node.daemons) == [
        "zookeeper",
        "namenode",
        "datanode",
        "datanode2",
        "master",
        "regionserver",
        "regionserver2",
    ]


def test_a_bean_is_asked_for_by_its_name(node_with_page):
    assert node_with_page.jmx("namenode", "known")["value"] == 7
    with pytest.raises(LookupError, match="namenode has no bean unknown"):
        node_with_page.jmx("namenode", "unknown")


def test_a_proxy_of_the_environment_is_not_asked(node_with_page, monkeypatch):
    nobody = f"http://{LOOPBACK}:{free_ports(1)[0]}"
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, nobody)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    # What an earlier test has used knows the environment of that time.
    monkeypatch.setattr(urllib.request, "_opener", None)
    assert node_with_page.jmx("namenode", "known")["value"] == 7


def test_another_layout_is_followed_by_what_does_not_run(node):
    layout = Layout(plugin=False, region_servers=2, datanodes=2)
    namenode = Daemon("namenode", ["sleep", "60"], {}, node.folder / "log/namenode.log")
    node.daemons["namenode"] = namenode
    before, ports = dict(node.daemons), dict(node.ports)
    namenode.start()
    try:
        node.follow(layout)
    finally:
        namenode.kill()
    assert node.ports == ports
    assert node.daemons["namenode"] is namenode
    assert node.daemons["regionserver"] is not before["regionserver"]
    site = (node.folder / "conf/regionserver/hbase-site.xml").read_text()
    assert "dev.sluice" not in site


def test_a_layout_of_other_daemons_is_refused(node):
    with pytest.raises(ValueError, match="make another node"):
        node.follow(Layout(region_servers=1, datanodes=2))
