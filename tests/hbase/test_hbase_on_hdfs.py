"""HBase on HDFS with ZooKeeper, all from the packages: the usual work, restarts, pages."""

import subprocess
import urllib.request

from one_node import OneNode

ROWS = 2000


def fetch(port: int, path: str) -> tuple[int, str]:
    """Give status and text of a page, without a proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/{path}", timeout=30) as answer:
        return answer.status, answer.read().decode(errors="replace")


def run(node: OneNode, store: str, *arguments: str, status: int = 0) -> str:
    """Run a command of a store's launcher, which has to end with the status."""
    command, environment = node.command(store, *arguments)
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def lines(value: str) -> str:
    return "".join(f"row{number:06}\tcf:q\t{value}{number}\n" for number in range(ROWS))


def test_data_outlive_a_restart_of_everything(node: OneNode):
    node.hbase("create", "kept", "--family", "cf", "--splits", "row000500,row001500")
    written = node.hbase("put", "kept", "--stdin", input=lines("flushed"))
    assert written == f"wrote {ROWS} cells\n"
    node.hbase("flush", "kept")
    node.hbase("put", "kept", "--stdin", input=lines("in the log"))
    assert node.hbase("get", "kept", "row000007") == "row000007\tcf:q\tin the log7\n"
    node.stop()
    node.start_all()
    assert node.hbase("scan", "kept") == lines("in the log")
    assert node.hbase("count", "kept") == f"{ROWS}\n"
    assert "is HEALTHY" in node.hdfs("fsck", "/hbase")


def test_a_killed_region_server_loses_nothing(node: OneNode):
    node.hbase("create", "logged", "--family", "cf")
    node.hbase("put", "logged", "--stdin", input=lines("x"))
    node.kill("regionserver")
    # The others go down in order; what was not flushed is in the log on HDFS.
    node.stop()
    node.start_all()
    node.hbase("transitions", "--wait", "120")
    assert node.hbase("scan", "logged") == lines("x")
    # Only data: a log that was split is still open until HDFS has recovered its lease.
    assert "is HEALTHY" in node.hdfs("fsck", "/hbase/data")


def test_hbase_lies_on_hdfs(node: OneNode):
    node.hbase("create", "placed", "--family", "cf")
    assert "/hbase/data/default/placed" in node.hdfs("dfs", "-ls", "-R", "/hbase/data/default")
    report = node.hdfs("dfsadmin", "-report")
    assert "Live datanodes (1)" in report


def test_storage_policies(node: OneNode):
    assert "ALL_SSD" in node.hdfs("storagepolicies", "-listPolicies")
    node.hdfs("dfs", "-mkdir", "-p", "/cold")
    node.hdfs("storagepolicies", "-setStoragePolicy", "-path", "/cold", "-policy", "COLD")
    assert "COLD" in node.hdfs("storagepolicies", "-getStoragePolicy", "-path", "/cold")


def test_the_balancers_of_hdfs(node: OneNode):
    """There is nothing to move, with one DataNode and one kind of disk, and they say so."""
    assert "The cluster is balanced." in node.hdfs("balancer", "-threshold", "5")
    assert "Mover Successful" in node.hdfs("mover", "-p", "/hbase")


def test_the_web_interface_is_whole(node: OneNode):
    status, page = fetch(node.ports["master-web"], "master-status")
    assert status == 200
    assert "Region Servers" in page
    assert fetch(node.ports["master-web"], "static/css/hbase.css")[0] == 200
    assert fetch(node.ports["master-web"], "tablesDetailed.jsp")[0] == 200
    status, page = fetch(node.ports["regionserver-web"], "rs-status")
    assert status == 200
    assert "Region Server" in page


def test_hdfs_says_where_its_pages_are(node: OneNode):
    assert "not in its Maven artifacts" in fetch(node.ports["namenode-web"], "index.html")[1]
    assert "NameNodeInfo" in fetch(node.ports["namenode-web"], "jmx")[1]


def test_the_region_mover_of_upstream(node: OneNode):
    """The tool that a rolling restart uses is there, and finds its classes."""
    usage = node.hbase("class", "org.apache.hadoop.hbase.util.RegionMover", "--help")
    assert "regionserverhost" in usage


def test_versions(node: OneNode):
    assert "HBase 2." in node.hbase("version")
    assert "Hadoop 3." in node.hdfs("version")
    assert "Mode: standalone" in run(node, "zookeeper", "status")


def test_wrong_use_ends_with_two(node: OneNode):
    run(node, "hbase", status=2)
    run(node, "hdfs", "no-such-command", status=2)
    run(node, "zookeeper", "no-such-command", status=2)
    run(node, "hbase", "--config", "/nonexistent", "master", status=2)
    run(node, "hbase", "shell", status=2)
