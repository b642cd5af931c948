"""Compactions by order, of a plug-in that keeps files for a while after their compaction."""

import pytest
from ordered_compactions import OrderedCompactions
from sluice_evaluation.bench.plugin_socket import REFUSED, RpcError


class SlowToCommit:
    """Refuses to start what it has just ended; what it starts runs at once."""

    def __init__(self, refusals: int, code: int = REFUSED):
        self.left = refusals
        self.code = code
        self.running = []

    def set(self, *_):
        pass

    def tasks(self, *_):
        return self.running

    def start(self, *_):
        if self.left:
            self.left -= 1
            raise RpcError("start", {"code": self.code, "message": "is being compacted"})
        self.running.append({"state": "running", "bytes_done": 1})


def test_a_start_is_asked_for_until_the_files_are_free():
    plugin = SlowToCommit(refusals=3)
    OrderedCompactions(plugin, "t", 2).start(1e6)
    assert len(plugin.running) == 2


def test_any_other_refusal_is_an_error():
    with pytest.raises(RpcError, match="is being compacted"):
        OrderedCompactions(SlowToCommit(refusals=1, code=-32602), "t", 1).start(1e6)
