"""The order for a major compaction, against a page that takes it and pages that do not."""

import importlib.util
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

PROGRAM = Path(__file__).parents[4] / "ansible/roles/hbase/files/ask_for_compaction.py"
TAKEN = "<h1>Table action request accepted</h1> major Compact request accepted. <hr>"
READ_ONLY = "<h1>Table: usertable</h1>"


@pytest.fixture
def program():
    spec = importlib.util.spec_from_file_location("ask_for_compaction", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def page():
    """A server whose answer and status can be set; it notes what it was asked."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.server.asked.append(urlsplit(self.path))
            self.send_response(self.server.status)
            self.end_headers()
            self.wfile.write(self.server.text.encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Page)
    server.asked, server.status, server.text = [], 200, TAKEN
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def ask(program, page):
    program.ask("127.0.0.1", "start-major-compact", page.server_port)


def test_the_order_is_for_the_table_under_load(program, page):
    ask(program, page)
    (asked,) = page.asked
    assert asked.path == "/table.jsp"
    assert parse_qs(asked.query) == {"name": ["usertable"], "action": ["major compact"]}


@pytest.mark.parametrize(
    ("status", "text", "says"),
    [(200, READ_ONLY, "hbase.master.ui.readonly"), (500, TAKEN, "HTTP Error 500")],
)
def test_an_order_that_is_not_taken_is_an_error(program, page, status, text, says):
    page.status, page.text = status, text
    with pytest.raises(SystemExit, match=says):
        ask(program, page)


def test_a_master_that_is_not_there_is_an_error(program, page):
    with pytest.raises(SystemExit, match="master's journal"):
        program.ask("127.0.0.1", "start-major-compact", 1)


@pytest.mark.parametrize("argv", [[], ["hb1"], ["hb1", "checkpoint"]])
def test_usage_is_shown(program, argv, monkeypatch):
    monkeypatch.setattr("sys.argv", ["ask_for_compaction.py", *argv])
    with pytest.raises(SystemExit, match="usage"):
        program.main()
