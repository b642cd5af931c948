"""Requests and answers of the local protocol, and scopes."""

import json
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice_evaluation.bench.plugin_socket import (
    PluginSocket,
    RpcError,
    contains,
    request_line,
    result_of,
    setting,
)


@given(st.integers(0, 2**53 - 1), st.text(), st.dictionaries(st.text(), st.text()))
def test_a_request_is_one_line_of_json(number, method, params):
    line = request_line(number, method, params)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    request = json.loads(line)
    assert (request["id"], request["method"]) == (number, method)
    assert request.get("params", {}) == params


def test_settings_have_a_number_a_text_or_neither():
    assert setting("hold") == {"name": "hold"}
    assert setting("rate_bytes_per_second", 5) == {"name": "rate_bytes_per_second", "number": 5}
    assert setting("tier", "ssd") == {"name": "tier", "text": "ssd"}


def test_an_error_is_raised_with_its_code():
    error = {"code": -32002, "message": "taken", "data": {"hint": "wait"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 3, "error": error}).encode()
    with pytest.raises(RpcError, match=r"set: taken \(-32002\)") as raised:
        result_of(line, 3, "set")
    assert raised.value.code == -32002
    assert raised.value.data == {"hint": "wait"}


@pytest.mark.parametrize(
    "response",
    [
        {"id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 2, "result": {}},
        {"jsonrpc": "2.0", "id": 1},
    ],
)
def test_what_answers_another_request_is_no_answer(response):
    with pytest.raises(ValueError, match="not"):
        result_of(json.dumps(response).encode(), 1, "set")


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ("", "a/x", True),
        ("a", "a/x", True),
        ("a", "a", True),
        ("a/x", "a/x", True),
        ("a/x", "a", False),
        ("a", "ab/x", False),
        ("a", "", False),
    ],
)
def test_scopes(outer, inner, expected):
    assert contains(outer, inner) is expected


def answer_once(listener: socket.socket, answer: bytes) -> None:
    connection, _ = listener.accept()
    with connection, connection.makefile("rb") as requests:
        requests.readline()
        connection.sendall(answer)


@pytest.mark.parametrize(
    ("answer", "error"),
    [(b'{"jsonrpc":"2.0","id":1,"result":{"tasks":[]}}\n', None), (b"{}", ConnectionError)],
)
def test_a_connection_takes_one_line_for_an_answer(tmp_path, answer, error):
    path = tmp_path / "plugin.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        server = threading.Thread(target=answer_once, args=(listener, answer))
        server.start()
        try:
            with PluginSocket(path) as plugin:
                if error:
                    with pytest.raises(error, match="closed the connection"):
                        plugin.snapshot()
                else:
                    assert plugin.snapshot() == {"tasks": []}
        finally:
            server.join()
