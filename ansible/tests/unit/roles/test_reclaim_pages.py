"""Pages of a control group, made of files, that are freed before it is full."""

import errno
import importlib.util
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[4] / "ansible/roles/testbed/files/reclaim_pages.py"
LIMIT = 100 << 20
KEPT = 84 << 20


@pytest.fixture
def program():
    spec = importlib.util.spec_from_file_location("reclaim_pages", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def group(tmp_path):
    (tmp_path / "memory.limit_in_bytes").write_text(str(LIMIT))
    (tmp_path / "memory.usage_in_bytes").write_text("0")
    return tmp_path


@pytest.fixture
def written(monkeypatch):
    """What is written into any file, which a test may refuse by an error."""
    values, errors = [], {}
    keep = Path.write_text

    def write(path, text):
        values.append(int(text))
        if text in errors:
            raise errors[text]
        return keep(path, text)

    monkeypatch.setattr(Path, "write_text", write)
    return values, errors


def test_a_small_bound_leaves_most_of_it(program):
    assert program.kept_bytes(LIMIT) == KEPT
    assert program.kept_bytes(16 << 20) == 12 << 20


def test_nothing_is_done_as_long_as_there_is_room(program, group, written):
    program.reclaim(group, LIMIT)
    assert written[0] == []


def test_a_lower_limit_frees_pages_and_does_not_last(program, group, written):
    (group / "memory.usage_in_bytes").write_text(str(KEPT + 4096))
    written[0].clear()
    program.reclaim(group, LIMIT)
    assert written[0] == [KEPT, LIMIT]


def test_pages_that_cannot_be_freed_now_are_no_error(program, group, written):
    (group / "memory.usage_in_bytes").write_text(str(LIMIT))
    written[0].clear()
    written[1][str(KEPT)] = OSError(errno.EBUSY, "busy")
    program.reclaim(group, LIMIT)
    assert (group / "memory.limit_in_bytes").read_text() == str(LIMIT)


def test_another_error_is_one_and_the_limit_stays(program, group, written):
    (group / "memory.usage_in_bytes").write_text(str(LIMIT))
    written[1][str(KEPT)] = PermissionError("not yours")
    with pytest.raises(PermissionError):
        program.reclaim(group, LIMIT)
    assert (group / "memory.limit_in_bytes").read_text() == str(LIMIT)


def test_it_ends_with_the_group(program, group, monkeypatch):
    monkeypatch.setattr("sys.argv", ["reclaim_pages.py", str(group)])
    looks = []

    def remove(_):
        looks.append(1)
        (group / "memory.usage_in_bytes").unlink()

    monkeypatch.setattr(program.time, "sleep", remove)
    program.main()
    assert len(looks) == 1
