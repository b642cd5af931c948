"""The page on a desktop and on a phone, light and dark."""

import pytest
from PIL import Image
from readability import LOW_CONTRAST, NAMELESS, OUTSIDE, SMALL_TEXT

WIDE, DESKTOP, PHONE = (1920, 1080), (1280, 900), (390, 844)
SIZES = pytest.mark.parametrize("size", [WIDE, DESKTOP, PHONE], ids=["wide", "desktop", "phone"])
SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])


@SCHEMES
@SIZES
def test_cluster_is_readable(browser, cluster, tmp_path, size, scheme):
    browser.visit(cluster.url, *size, scheme)
    browser.wait_for("document.querySelectorAll('.mark').length > 5")
    browser.evaluate("document.querySelector('.mark.change').click()")
    check(browser, tmp_path / "page.png", size, scheme)


@SCHEMES
def test_problems_are_readable(browser, cluster, tmp_path, scheme):
    for command in ("unreachable db-2", "standby ctl-2", "dry-run on", "step 5"):
        cluster.tell(command)
    browser.visit(cluster.url, *PHONE, scheme)
    check(browser, tmp_path / "page.png", PHONE, scheme)


def check(browser, path, size, scheme):
    assert browser.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert browser.evaluate(OUTSIDE) == []
    assert browser.evaluate(LOW_CONTRAST) == []
    assert browser.evaluate(SMALL_TEXT) == []
    assert browser.evaluate(NAMELESS) == []
    browser.screenshot(path)
    with Image.open(path) as image:
        drawn = image.convert("L")
    assert drawn.width == size[0] and drawn.height >= size[1]
    corner = drawn.getpixel((2, 2))
    assert corner > 230 if scheme == "light" else corner < 40
    top = drawn.crop((0, 0, drawn.width, 600))
    darkest, lightest = top.getextrema()
    assert lightest - darkest > 100


def test_the_checks_can_fail(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<!DOCTYPE html><meta name=viewport content='width=device-width'>"
        "<body style='background:#fff;margin:0'><p style='color:#bbb;width:900px;font-size:8px'>"
        "pale, wide and small</p><button></button>"
    )
    browser.open(bad, *PHONE, "light")
    assert (
        browser.evaluate(LOW_CONTRAST) == browser.evaluate(SMALL_TEXT) == ["pale, wide and small"]
    )
    assert browser.evaluate(OUTSIDE)
    assert browser.evaluate(NAMELESS) == ["<button></button>"]
