"""A browser, and the page over a simulated cluster."""

import pytest
import served
from browser import chromium
from page_browser import PageBrowser


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    return served.build(tmp_path_factory.mktemp("serve"))


@pytest.fixture(scope="session")
def browser():
    assert chromium(), "install chromium: it is listed in build/debian-packages.txt"
    with PageBrowser() as opened:
        yield opened


@pytest.fixture
def cluster(program):
    """A cluster of four nodes, 15 minutes old."""
    started = served.Served(program)
    yield started
    started.kill()
