"""The report in a browser, on a desktop and on a phone, light and dark."""

import pytest
from browser import Browser, chromium
from PIL import Image
from sluice_evaluation import report

DESKTOP, PHONE = (1280, 900), (390, 844)

# Texts whose contrast with the nearest painted ground is below WCAG 2.1 AA.
LOW_CONTRAST = """(() => {
  const rgb = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = rgb(c).slice(0, 3).map(v => (v /= 255) <= 0.03928
      ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126*r + 0.7152*g + 0.0722*b; };
  const ground = e => { for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor, parts = rgb(c);
      if (parts.length < 4 || parts[3] === 1) return c; }
    return 'rgb(255, 255, 255)'; };
  const low = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(e.textContent.trim().slice(0, 40));
  }
  return low;
})()"""

# Elements that stick out of the page and are not inside a scrolling box.
OUTSIDE = """[...document.querySelectorAll('body *')].filter(e =>
  !e.closest('.scroll') && e.getClientRects().length
  && e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
  .map(e => e.tagName + ' ' + e.textContent.trim().slice(0, 40))"""

SMALL_TEXT = """[...document.querySelectorAll('body *')].filter(e =>
  [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())
  && parseFloat(getComputedStyle(e).fontSize) < 11.5).map(e => e.textContent.trim().slice(0, 40))"""


@pytest.fixture(scope="module")
def page(smoke_results, tmp_path_factory, experiments_folder):
    return report.write(smoke_results, experiments_folder, tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def browser():
    assert chromium(), "install chromium: it is listed in build/debian-packages.txt"
    with Browser() as opened:
        yield opened


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_page_is_readable(browser, page, tmp_path, size, scheme):
    browser.open(page, *size, scheme)
    assert browser.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert browser.evaluate(OUTSIDE) == []
    assert browser.evaluate(LOW_CONTRAST) == []
    assert browser.evaluate(SMALL_TEXT) == []
    images = browser.evaluate(
        "[...document.images].map(i => [i.complete && i.naturalWidth > 0, i.currentSrc])"
    )
    width = "wide" if size == DESKTOP else "narrow"
    assert images and all(decoded for decoded, _ in images)
    assert {
        source.rsplit("/", 1)[1].endswith(f"-{width}-{scheme}.svg") for _, source in images
    } == {True}
    assert_drawn(browser, tmp_path / "page.png", size, scheme)


def assert_drawn(browser, path, size, scheme):
    """The screenshot has the right ground and shows something in each of its parts."""
    browser.screenshot(path)
    with Image.open(path) as image:
        drawn = image.convert("L")
        assert drawn.width == size[0] and drawn.height > 2000
        corner = drawn.getpixel((2, 2))
        assert corner > 240 if scheme == "light" else corner < 40
        for top in range(0, drawn.height - 600, 600):
            darkest, lightest = drawn.crop((0, top, drawn.width, top + 600)).getextrema()
            assert lightest - darkest > 100, f"nothing to be seen from {top} to {top + 600}"


def test_the_browser_fetched_files_alone(browser, page):
    browser.open(page, *DESKTOP, "light")
    assert browser.requests
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []


def test_the_checks_can_fail(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text(
        "<!DOCTYPE html><meta name=viewport content='width=device-width'>"
        "<body style='background:#fff;margin:0'><p style='color:#bbb;width:900px;font-size:8px'>"
        "pale, wide and small</p><img src='nowhere.svg' alt=''>"
    )
    browser.open(bad, *PHONE, "light")
    assert (
        browser.evaluate(LOW_CONTRAST) == browser.evaluate(SMALL_TEXT) == ["pale, wide and small"]
    )
    assert browser.evaluate(OUTSIDE)
    assert browser.evaluate("document.images[0].naturalWidth") == 0
