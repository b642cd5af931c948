"""HBase on HDFS with ZooKeeper, all from the packages: the usual work, restarts, pages."""

import urllib.request

from stack import TERMINATED, Stack

ROWS = 2000


def fetch(port: int, path: str) -> tuple[int, str]:
    """Give status and text of a page, without a proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/{path}", timeout=30) as answer:
        return answer.status, answer.read().decode(errors="replace")


def lines(value: str) -> str:
    return "".join(f"row{number:06}\tcf:q\t{value}{number}\n" for number in range(ROWS))


def test_data_outlive_a_restart_of_everything(stack: Stack):
    stack.hbase("create", "kept", "--family", "cf", "--splits", "row000500,row001500")
    assert stack.hbase("put", "kept", "--stdin", text=lines("flushed")) == f"wrote {ROWS} cells\n"
    stack.hbase("flush", "kept")
    stack.hbase("put", "kept", "--stdin", text=lines("in the log"))
    assert stack.hbase("get", "kept", "row000007") == "row000007\tcf:q\tin the log7\n"
    assert set(stack.stop().values()) <= {0, TERMINATED}
    stack.start()
    assert stack.hbase("scan", "kept") == lines("in the log")
    assert stack.hbase("count", "kept") == f"{ROWS}\n"
    assert "is HEALTHY" in stack.hdfs("fsck", "/hbase")


def test_a_killed_region_server_loses_nothing(stack: Stack):
    stack.hbase("create", "logged", "--family", "cf")
    stack.hbase("put", "logged", "--stdin", text=lines("x"))
    process = stack.processes["regionserver"]
    process.kill()
    process.wait()
    # The others go down in order; what was not flushed is in the log on HDFS.
    del stack.processes["regionserver"]
    stack.stop()
    stack.start()
    stack.hbase("transitions", "--wait", "120")
    assert stack.hbase("scan", "logged") == lines("x")
    # Only data: a log that was split is still open until HDFS has recovered its lease.
    assert "is HEALTHY" in stack.hdfs("fsck", "/hbase/data")


def test_hbase_lies_on_hdfs(stack: Stack):
    stack.hbase("create", "placed", "--family", "cf")
    assert "/hbase/data/default/placed" in stack.hdfs("dfs", "-ls", "-R", "/hbase/data/default")
    report = stack.hdfs("dfsadmin", "-report")
    assert "Live datanodes (1)" in report


def test_storage_policies(stack: Stack):
    assert "ALL_SSD" in stack.hdfs("storagepolicies", "-listPolicies")
    stack.hdfs("dfs", "-mkdir", "-p", "/cold")
    stack.hdfs("storagepolicies", "-setStoragePolicy", "-path", "/cold", "-policy", "COLD")
    assert "COLD" in stack.hdfs("storagepolicies", "-getStoragePolicy", "-path", "/cold")


def test_the_web_interface_is_whole(stack: Stack):
    status, page = fetch(stack.ports["master_http"], "master-status")
    assert status == 200
    assert "Region Servers" in page
    assert fetch(stack.ports["master_http"], "static/css/hbase.css")[0] == 200
    assert fetch(stack.ports["master_http"], "tablesDetailed.jsp")[0] == 200
    status, page = fetch(stack.ports["regionserver_http"], "rs-status")
    assert status == 200
    assert "Region Server" in page


def test_hdfs_says_where_its_pages_are(stack: Stack):
    assert "not in its Maven artifacts" in fetch(stack.ports["namenode_http"], "index.html")[1]
    assert "NameNodeInfo" in fetch(stack.ports["namenode_http"], "jmx")[1]


def test_the_region_mover_of_upstream(stack: Stack):
    """The tool that a rolling restart uses is there, and finds its classes."""
    usage = stack.hbase("class", "org.apache.hadoop.hbase.util.RegionMover", "--help")
    assert "regionserverhost" in usage


def test_versions(stack: Stack):
    assert "HBase 2." in stack.hbase("version")
    assert "Hadoop 3." in stack.hdfs("version")
    assert "Mode: standalone" in stack.call("zookeeper", "status")


def test_wrong_use_ends_with_two(stack: Stack):
    stack.hbase(status=2)
    stack.hdfs("no-such-command", status=2)
    stack.call("zookeeper", "no-such-command", status=2)
    stack.hbase("--config", "/nonexistent", "master", status=2)
    stack.hbase("shell", status=2)
