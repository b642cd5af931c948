"""What makes a page hard to read, found by expressions that the browser evaluates."""

# Texts whose contrast with the nearest painted ground is below WCAG 2.1 AA.
LOW_CONTRAST = """(() => {
  const rgb = c => c.match(/[\\d.]+/g).map(Number);
  const light = c => { const [r, g, b] = rgb(c).slice(0, 3).map(v => (v /= 255) <= 0.03928
      ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126*r + 0.7152*g + 0.0722*b; };
  const ground = e => { for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor, parts = rgb(c);
      if (parts.length < 4 || parts[3] === 1) return c; }
    return 'rgb(255, 255, 255)'; };
  const ink = e => { const s = getComputedStyle(e); return e.closest('svg') ? s.fill : s.color; };
  const low = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length) continue;
    const [a, b] = [light(ink(e)), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) low.push(e.textContent.trim().slice(0, 40));
  }
  return low;
})()"""

# Elements that stick out of the page to the right.
OUTSIDE = """[...document.querySelectorAll('body *')].filter(e => e.getClientRects().length
  && e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
  .map(e => e.tagName + ' ' + e.textContent.trim().slice(0, 40))"""

SMALL_TEXT = """[...document.querySelectorAll('body *')].filter(e =>
  [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())
  && parseFloat(getComputedStyle(e).fontSize) < 11.5).map(e => e.textContent.trim().slice(0, 40))"""

# Controls that assistive technology could not name.
NAMELESS = """[...document.querySelectorAll('button, input, select, [role=slider], [role=toolbar]')]
  .filter(e => e.getClientRects().length && !e.getAttribute('aria-label')
    && !(e.matches('button') && e.textContent.trim()) && !e.labels?.length)
  .map(e => e.outerHTML.slice(0, 80))"""

# Put into a page before its own scripts: notes what jumps without the user's doing, but for the
# list of decisions, in which the newest is the first.
NOTE_JUMPS = """window.jumps = [];
const mayMove = node =>
  (node?.closest ? node : node?.parentElement)?.closest('#decisions, #status');
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) for (const { node } of entry.sources) {
    if (!mayMove(node)) window.jumps.push(`${entry.value} ${node?.nodeName} ${node?.textContent}`);
  }
}).observe({type: 'layout-shift', buffered: true});"""
