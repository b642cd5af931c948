"""What HDFS's image does before its NameNode runs, with a made-up `hdfs`."""

import os
import subprocess
from pathlib import Path

import pytest
from images import ROOT

ENTRYPOINT = ROOT / "build/stores/hdfs/image/rootfs/usr/local/sbin/hdfs-entrypoint"
HDFS = '#!/bin/sh\necho "$@" >>"$CALLS"\n[ "$1" != getconf ] || echo "$FOLDERS"\n'


def calls(folder: Path, named: str) -> list[str]:
    """What the image calls `hdfs` for, where the configuration names its first folder NAMED."""
    programs = folder / "bin"
    programs.mkdir()
    # Root would only make the folders of an image.
    for name, text in (("hdfs", HDFS), ("id", "#!/bin/sh\necho 1000\n")):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    environment = os.environ | {
        "PATH": f"{programs}:/usr/bin:/bin",
        "CALLS": str(folder / "calls"),
        "FOLDERS": f"{named},/absent",
    }
    subprocess.run([ENTRYPOINT, "namenode"], env=environment, check=True)
    return (folder / "calls").read_text().splitlines()


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_a_formatted_folder_is_never_touched(tmp_path: Path, scheme: str):
    (tmp_path / "data" / "current").mkdir(parents=True)
    (tmp_path / "data" / "current" / "VERSION").touch()
    asked, served = calls(tmp_path, f"{scheme}{tmp_path}/data")
    assert asked.startswith("getconf")
    assert served == "namenode"


def test_an_empty_folder_is_formatted(tmp_path: Path):
    called = calls(tmp_path, f"file:{tmp_path}/data")
    assert called[1:] == ["namenode -format -nonInteractive", "namenode"]
