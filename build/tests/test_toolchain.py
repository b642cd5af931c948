"""The environment of a build."""

from types import SimpleNamespace

import pytest
from sluice_dist.toolchain import build_environment


@pytest.mark.parametrize("name", ["MAKELEVEL", "MAKEFLAGS", "CFLAGS"])
def test_caller_does_not_change_the_result(name, tmp_path, monkeypatch):
    monkeypatch.setenv(name, "1")
    layout = SimpleNamespace(ccache=tmp_path / "ccache", work=tmp_path)
    assert name not in build_environment(SimpleNamespace(layout=layout), tmp_path)
