"""The order for a major compaction, against servers that take it and servers that do not."""

import contextlib
import importlib.util
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[4] / "ansible/roles/hbase/files/ask_for_compaction.py"
FIRST, SECOND, OTHER = "0" * 32, "a" * 32, "b" * 32
BEAN = "\n".join(
    f'"Namespace_default_table_{table}_region_{region}_metric_{figure}": 1,'
    for table, region in (("usertable", SECOND), ("usertable", FIRST), ("orders", OTHER))
    for figure in ("storeCount", "storeFileCount")
)


@pytest.fixture
def program():
    spec = importlib.util.spec_from_file_location("ask_for_compaction", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def page():
    """The web server of a region server, whose answer and status can be set."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(self.server.status)
            self.end_headers()
            self.wfile.write(self.server.text.encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Page)
    server.status, server.text = 200, BEAN
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@contextlib.contextmanager
def region_server(answers):
    """Its RPC: notes what it gets, and sends one of the answers for each call."""
    received = []

    def serve(listener):
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as stream:
            received.append(stream.read(6))
            received.append(stream.read(struct.unpack(">I", stream.read(4))[0]))
            for answer in answers:
                length = stream.read(4)
                if len(length) < 4:
                    return
                received.append(stream.read(struct.unpack(">I", length)[0]))
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield listener.getsockname()[1], received
        thread.join()


def taken(program, call):
    header = program.field(1, call)
    return program.framed(program.varint(len(header)) + header + b"\x00")


def refused(program, call, name):
    # ExceptionResponse: class, stack trace, whether to try again.
    exception = program.field(1, name) + program.field(2, b"at org.example") + program.field(5, 1)
    header = program.field(1, call) + program.field(2, exception)
    return program.framed(program.varint(len(header)) + header)


def test_regions_of_the_table_under_load_alone(program, page):
    assert program.regions("127.0.0.1", page.server_port) == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("status", "text", "says"), [(200, "{}", "create the table"), (500, BEAN, "HTTP/1.0 500")]
)
def test_a_server_without_them_is_an_error(program, page, status, text, says):
    page.status, page.text = status, text
    with pytest.raises(SystemExit, match=says):
        program.regions("127.0.0.1", page.server_port)


def test_each_region_is_asked(program):
    with region_server([taken(program, 0), taken(program, 1)]) as (port, received):
        program.ask("127.0.0.1", [FIRST, SECOND], port)
    preamble, header, *calls = received
    assert preamble == b"HBas\x00\x50"
    assert header == b"\x0a\x07\x0a\x05hbase\x12\x0cAdminService"
    # Request header: call, method, that a message follows. Message: region by name, major.
    assert calls[0] == (
        b"\x13\x08\x00\x1a\x0dCompactRegion\x20\x01"
        b"\x35\x0a\x31\x08\x01\x12\x2dusertable,,." + FIRST.encode() + b".\x10\x01"
    )
    assert SECOND.encode() in calls[1]


def test_an_order_that_is_not_taken_is_an_error(program):
    name = b"org.apache.hadoop.hbase.NotServingRegionException"
    answers = [taken(program, 0), refused(program, 1, name)]
    with (
        region_server(answers) as (port, _),
        pytest.raises(SystemExit, match=f"not take the order for {SECOND}: {name.decode()}"),
    ):
        program.ask("127.0.0.1", [FIRST, SECOND], port)


@pytest.mark.parametrize("answer", [b"", b"\x00\x00", b"\x00\x00\x00\x02\x80\x80"])
def test_a_server_that_goes_away_is_an_error(program, answer):
    with (
        region_server([answer]) as (port, _),
        pytest.raises(SystemExit, match="region server's journal"),
    ):
        program.ask("127.0.0.1", [FIRST], port)


def test_a_server_that_is_not_there_is_an_error(program):
    with pytest.raises(SystemExit, match="region server's journal"):
        program.ask("127.0.0.1", [FIRST], 1)


@pytest.mark.parametrize(
    "argv", [[], ["hb1"], ["hb1", "checkpoint"], ["hb1", "start-major-compact third-half"]]
)
def test_usage_is_shown(program, argv, monkeypatch):
    monkeypatch.setattr("sys.argv", ["ask_for_compaction.py", *argv])
    with pytest.raises(SystemExit, match="usage"):
        program.main()


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("", "abcde"),
        (" first-quarter", "a"),
        (" second-quarter", "b"),
        (" first-half", "ab"),
        (" second-half", "cde"),
    ],
)
def test_the_parts_are_the_whole(program, order, names, monkeypatch):
    asked = []
    monkeypatch.setattr(program, "regions", lambda _: list("abcde"))
    monkeypatch.setattr(program, "ask", lambda *order: asked.append(order))
    monkeypatch.setattr("sys.argv", ["ask_for_compaction.py", "hb1", f"start-major-compact{order}"])
    program.main()
    assert asked == [("hb1", list(names))]
