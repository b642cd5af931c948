"""Stamps that a full disk, or the end of the program, broke off."""

from pathlib import Path

import pytest
from sluice_dist.stamp import read_stamp, write_stamp


def test_a_stamp_is_read_as_it_was_written(tmp_path: Path):
    write_stamp(tmp_path / "stamp", {"commit": "1"})
    write_stamp(tmp_path / "stamp", {"commit": "2"})
    assert read_stamp(tmp_path / "stamp") == {"commit": "2"}
    assert not list(tmp_path.glob("stamp.*"))


@pytest.mark.parametrize("left", ["", '{"commit": "1', "null", "\udcff"])
def test_half_a_stamp_is_none(tmp_path: Path, left: str):
    (tmp_path / "stamp").write_text(left, errors="surrogateescape")
    assert read_stamp(tmp_path / "stamp") is None
    assert read_stamp(tmp_path / "no stamp") is None


def test_a_stamp_that_cannot_be_written_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_stamp(tmp_path / "stamp", {"commit": "1"})
    write = Path.write_text

    def disk_is_full(file: Path, text: str) -> None:
        write(file, text[:5])
        raise OSError("No space left on device")

    monkeypatch.setattr(Path, "write_text", disk_is_full)
    with pytest.raises(OSError, match="No space"):
        write_stamp(tmp_path / "stamp", {"commit": "2"})
    assert read_stamp(tmp_path / "stamp") == {"commit": "1"}
