"""Configuration files: what is written is what Hadoop reads, and every daemon has its own ports."""

from pathlib import Path
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from site_files import (
    Layout,
    core_site,
    hbase_site,
    hdfs_site,
    numbered,
    port_names,
    site_xml,
    zookeeper_configuration,
)

FOLDER = Path("/folder")
PRINTABLE = st.text(
    st.characters(min_codepoint=32, max_codepoint=0xD7FF, exclude_characters="\x7f")
)


def ports_of(layout: Layout) -> dict[str, int]:
    return {name: port for port, name in enumerate(port_names(layout), 1000)}


def read(text: str) -> dict[str, str]:
    root = ElementTree.fromstring(text)
    return {each.findtext("name"): each.findtext("value") for each in root.iter("property")}


@given(st.dictionaries(PRINTABLE, PRINTABLE))
def test_xml_reads_as_it_was_written(properties):
    assert read(site_xml(properties)) == properties


def test_names_are_numbered_from_the_second_on():
    assert numbered("datanode", 0) == []
    assert numbered("datanode", 1) == ["datanode"]
    assert numbered("datanode", 3) == ["datanode", "datanode2", "datanode3"]


def test_every_port_has_a_name_of_its_own():
    names = port_names(Layout(region_servers=3, datanodes=2))
    assert len(names) == len(set(names)) == 1 + 2 + 2 * 3 + 2 * 4


def test_datanodes_share_a_name_node_and_nothing_else():
    layout = Layout(datanodes=2)
    first, second = (
        hdfs_site(layout, FOLDER, ports_of(layout), name) for name in layout.datanode_names()
    )
    different = {key for key in first if first[key] != second[key]}
    assert different == {
        "dfs.datanode.data.dir",
        "dfs.datanode.address",
        "dfs.datanode.http.address",
        "dfs.datanode.ipc.address",
    }
    assert first["dfs.replication"] == 2


def test_region_servers_have_sockets_of_their_own():
    layout = Layout(region_servers=2)
    sites = [hbase_site(layout, FOLDER, ports_of(layout), n) for n in layout.region_server_names()]
    assert [site["sluice.instance"] for site in sites] == ["regionserver", "regionserver2"]
    assert len({site["hbase.regionserver.port"] for site in sites}) == 2


def test_the_plug_in_is_of_region_servers_and_its_cache_of_patched_ones():
    ports = ports_of(Layout())
    patched = hbase_site(Layout(), FOLDER, ports, "regionserver")
    stock = hbase_site(Layout(variant="stock"), FOLDER, ports, "regionserver")
    assert set(patched) - set(stock) == {"hfile.block.cache.policy"}
    for site in (
        hbase_site(Layout(plugin=False), FOLDER, ports, "regionserver"),
        hbase_site(Layout(), FOLDER, ports, "master"),
        hbase_site(Layout(), FOLDER, ports),
    ):
        assert not [value for value in site.values() if "sluice" in str(value)]


def test_what_the_caller_sets_wins():
    layout = Layout(site={"zookeeper.session.timeout": "6000"}, hdfs_site={"dfs.replication": "1"})
    ports = ports_of(layout)
    assert hbase_site(layout, FOLDER, ports)["zookeeper.session.timeout"] == "6000"
    assert hdfs_site(layout, FOLDER, ports)["dfs.replication"] == "1"


def test_java_options_have_the_callers_heap():
    layout = Layout(heaps={"regionserver": "512m"}, java_options={"regionserver": "-Xmn256m"})
    assert layout.java_options_of("regionserver") == "-Xms512m -Xmx512m -XX:+UseG1GC -Xmn256m"
    assert layout.java_options_of("zookeeper") == "-Xms128m -Xmx128m -XX:+UseSerialGC"


def test_all_is_on_the_loopback_interface():
    ports = ports_of(Layout())
    assert core_site(FOLDER, ports)["fs.defaultFS"] == f"hdfs://127.0.0.1:{ports['namenode']}"
    assert "clientPortAddress=127.0.0.1\n" in zookeeper_configuration(FOLDER, ports)
    assert hbase_site(Layout(), FOLDER, ports)["hbase.regionserver.ipc.address"] == "127.0.0.1"
