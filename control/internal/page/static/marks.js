// The decisions of a timeline, as marks above its charts. Marks that would overlap are one: of the same
// slice of time, so that they do not regroup while time goes on.

import { KeyedList, element, setAttribute } from "./dom.js";
import * as format from "./format.js";
import { icon, verdictIcon } from "./icons.js";
import { SPAN_MILLISECONDS } from "./model.js";

const SLICES_SECONDS = [5, 10, 15, 30, 60, 120];
const LEAST_PIXELS = 18;
// RANKS says which decision stands for a slice of time.
const RANKS = ["keep", "stopped", "unwritten", "change", "problem", "stop"];

export class Marks {
  constructor(onChoose) {
    this.element = element("div", { class: "marks", role: "toolbar", "aria-label": "Decisions on the timeline" });
    this.list = new KeyedList(this.element, () => new Mark(onChoose));
    this.element.addEventListener("keydown", (event) => this.#move(event));
  }

  // draw shows entries on a time scale, and returns the groups as {key, x, kind}.
  draw({ entries, x, width, dateOf, chosen }) {
    const groups = groupsOf(entries, width);
    const drawn = groups.map((group) => ({ ...group, x: Math.min(x(group.middle), width), dateOf, chosen }))
      .filter((group) => group.x >= 0);
    this.list.show(drawn.map((group) => [group.key, group]));
    this.#keepOneInTabOrder();
    return drawn.map(({ key, x: place, kind, entries: all }) => ({
      key, x: place, kind: all.some((e) => e.key === chosen) ? "chosen" : kind,
    }));
  }

  #keepOneInTabOrder() {
    const marks = [...this.element.children];
    const current = marks.find((m) => m === document.activeElement)
      ?? marks.find((m) => m.getAttribute("aria-pressed") === "true") ?? marks.at(-1);
    for (const mark of marks) mark.tabIndex = mark === current ? 0 : -1;
  }

  #move(event) {
    const marks = [...this.element.children];
    const place = marks.indexOf(document.activeElement);
    const wanted = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: marks.length - 1 }[event.key];
    if (place < 0 || wanted === undefined || !marks[wanted]) return;
    event.preventDefault();
    marks[wanted].focus();
    this.#keepOneInTabOrder();
  }
}

function groupsOf(entries, width) {
  const pixelsPerSecond = width / (SPAN_MILLISECONDS / 1000);
  const slice = 1000 * (SLICES_SECONDS.find((s) => s * pixelsPerSecond >= LEAST_PIXELS) ?? SLICES_SECONDS.at(-1));
  const groups = new Map();
  for (const entry of entries) {
    const key = Math.floor(entry.milliseconds / slice);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(entry);
  }
  return [...groups].sort(([a], [b]) => a - b).map(([key, all]) => {
    const first = all.reduce((best, entry) => (rank(entry) >= rank(best) ? entry : best));
    const isMany = all.filter((entry) => !entry.isRepeat).length > 1;
    return { key: `${slice}-${key}`, middle: (key + 0.5) * slice, entries: all, first, kind: verdictIcon(first), isMany };
  });
}

function rank(entry) {
  return RANKS.indexOf(verdictIcon(entry));
}

class Mark {
  constructor(onChoose) {
    this.element = element("button", { type: "button" });
    this.element.addEventListener("click", () => onChoose(this.group.first));
  }

  update(group) {
    this.group = group;
    const { kind, x, first, entries, isMany, chosen, dateOf } = group;
    if (this.kind !== kind) this.element.replaceChildren(icon(kind));
    this.kind = kind;
    this.element.className = `mark ${kind}${isMany ? " many" : ""}`;
    this.element.style.transform = `translateX(${x.toFixed(1)}px)`;
    const isChosen = entries.some((entry) => entry.key === chosen);
    setAttribute(this.element, "aria-pressed", String(isChosen));
    const label = labelOf(first, entries, dateOf);
    setAttribute(this.element, "aria-label", label);
    setAttribute(this.element, "title", label);
  }
}

function labelOf(first, entries, dateOf) {
  const verdict = format.word(first.decision.verdict, "VERDICT_");
  const others = entries.reduce((sum, entry) => sum + entry.count, 0) - 1;
  const more = others > 0 ? ` (and ${others} more)` : "";
  return `${format.time(dateOf(first.milliseconds))} ${verdict}, ${format.setting(first.decision.setting)}${more}`;
}
