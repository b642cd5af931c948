// Service levels: target, what it comes to, what it has of caches, and its actions on a time line of an hour.

import { KeyedList, byId, drawing, element, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";

const SPAN_MILLISECONDS = 60 * 60 * 1000;
const WIDTH = 200;
const HEIGHT = 16;
// Actions that are asked for are drawn hollow: nothing carries them out.
const ASKED = new Set(["add-node", "throttle"]);
const SHAPES = {
  "grow-cache": "M8 2 14 13H2z",
  "shrink-cache": "M2 3H14L8 14z",
  "add-node": "M8 2 14 8 8 14 2 8z",
  throttle: "M3 3H13V13H3z",
};

export class LevelList {
  constructor(model) {
    this.model = model;
    this.list = new KeyedList(byId("levels"), () => new Level(model));
  }

  update() {
    const levels = this.model.cluster?.service_levels ?? [];
    byId("levels-panel").hidden = levels.length === 0;
    this.list.show(levels.map((level) => [level.service_level.name, level]));
  }
}

class Level {
  constructor(model) {
    this.model = model;
    this.name = element("h3");
    this.scope = element("span", { class: "muted" });
    this.state = element("span", { class: "level-state" });
    this.figures = element("p", { class: "level-figures" });
    this.reason = element("p", { class: "muted level-reason" });
    this.line = drawing("svg", { class: "level-line", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
    this.element = element("article", { class: "level" },
      element("header", {}, this.name, this.scope, this.state), this.figures, this.line, this.reason);
  }

  update(level) {
    const { service_level: asked } = level;
    setText(this.name, asked.name);
    setText(this.scope, `${asked.store} ${asked.scope}`);
    setText(this.state, level.wanted_action ? `${level.state}, asks for ${level.wanted_action}` : level.state);
    setAttribute(this.element, "data-state", level.state);
    setText(this.figures, figuresOf(level));
    setText(this.reason, level.reason);
    this.#draw(level.actions);
  }

  #draw(actions) {
    const now = this.model.date(this.model.now()).getTime();
    const shown = actions
      .map((action) => ({ ...action, at: Date.parse(action.taken_at) }))
      .filter(({ at }) => now - at <= SPAN_MILLISECONDS);
    setAttribute(this.line, "aria-label", shown.length === 0
      ? "No action in the last hour"
      : `Actions of the last hour: ${shown.map(({ action, at }) => `${action} at ${format.minute(new Date(at))}`).join(", ")}`);
    this.line.replaceChildren(
      drawing("line", { x1: 0, x2: WIDTH, y1: HEIGHT - 1, y2: HEIGHT - 1, class: "level-axis" }),
      ...shown.map((action) => markOf(action, now)));
  }
}

function figuresOf(level) {
  const { target, most_operations_per_second: most } = level.service_level;
  const known = level.actual_seconds !== undefined;
  const actual = known ? `${level.is_estimated ? "about " : ""}${format.duration(level.actual_seconds)}` : "not known";
  const load = level.operations_per_second === undefined ? "" : `${Math.round(level.operations_per_second)} of ${most} operations/s, `;
  const hits = level.hit_share === undefined ? "" : `${format.percent(level.hit_share)} hits, `;
  return `${target.statistic} of reads ${actual}, target ${format.duration(target.seconds)}; `
    + `${load}${hits}${format.bytes(level.reserved_bytes)} of cache on each of ${format.plural(level.nodes, "node")}`;
}

function markOf({ action, at, reason }, now) {
  const x = (WIDTH - HEIGHT) * (1 - (now - at) / SPAN_MILLISECONDS);
  return drawing("path", {
    d: SHAPES[action] ?? SHAPES.throttle, transform: `translate(${x.toFixed(1)} 0)`,
    class: ASKED.has(action) ? "level-mark asked" : "level-mark",
  }, drawing("title", {}, `${format.time(new Date(at))} ${action}: ${reason}`));
}
