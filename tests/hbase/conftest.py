"""The packages that this checkout made, unpacked: their programs run from wherever they are."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from one_node import Layout, OneNode, one_node

PACKAGES = Path(__file__).parents[2] / ".work" / "packages"
STORES = ("hbase", "hdfs", "zookeeper")
VARIANTS = ("patched", "stock")


def unpack(store: str, variant: str, target: Path) -> Path:
    """Unpack the store's package; gives the folder that is its prefix."""
    suffix = "-stock" if variant == "stock" else ""
    found = [
        package
        for package in PACKAGES.glob(f"sluice-{store}-*.deb")
        if not package.name.partition("_")[0].endswith("-plugin")
        and package.name.partition("_")[0].endswith("-stock") == bool(suffix)
    ]
    assert len(found) == 1, f"make it: sluice-dist package {store} --variant {variant}"
    subprocess.run(["dpkg-deb", "--extract", str(found[0]), str(target)], check=True)
    return next((target / "opt" / "sluice" / store).glob(f"[0-9]*{suffix}"))


@pytest.fixture(scope="module", params=VARIANTS)
def node(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OneNode]:
    """ZooKeeper, HDFS and HBase of one variant, running; without the plug-in."""
    folder = tmp_path_factory.mktemp(request.param)
    prefixes = {store: unpack(store, request.param, folder / "root") for store in STORES}
    layout = Layout(variant=request.param, plugin=False, heaps={"regionserver": "512m"})
    with one_node(layout, parent=folder, prefixes=prefixes) as made:
        yield made
