// One chart: lines over time with bounds across, and the figures of a moment in its heading.

import { KeyedList, drawing, element, setAttribute, setText } from "./dom.js";
import { areaPath, highest, linePath, niceCeiling, placeNear } from "./scale.js";

const HEIGHT = 92;
const TOP = 6;
const BOTTOM = HEIGHT - 2;
// GUTTER is the room for figures to the right of the lines.
export const GUTTER = 74;

export class Chart {
  // lines are {column, label, kind, hasSteps, hasArea}; kind names the style.
  constructor(title, lines, format) {
    this.lines = lines;
    this.format = format;
    this.readings = lines.map(({ label, kind }) => new Reading(label, kind));
    this.heading = element("div", { class: "chart-head" }, element("h3", {}, title),
      ...this.readings.map((reading) => reading.element));
    this.grid = drawing("g", { class: "grid" });
    this.paths = lines.map(({ kind }) => drawing("path", { class: `line ${kind}` }));
    this.areas = lines.map(({ kind, hasArea }) => (hasArea ? drawing("path", { class: `area ${kind}` }) : null));
    this.bounds = drawing("g", { class: "bounds" });
    this.guides = drawing("g", { class: "guides" });
    this.cursor = drawing("line", { class: "cursor", y1: 0, y2: HEIGHT });
    this.picture = drawing("svg", { height: HEIGHT, class: "chart", "aria-hidden": "true" },
      this.grid, ...this.areas.filter(Boolean), ...this.paths, this.bounds, this.guides, this.cursor);
    this.gridLines = new KeyedList(this.grid, () => new GridLine());
    this.boundLines = new KeyedList(this.bounds, () => new BoundLine());
    this.guideLines = new KeyedList(this.guides, () => new Guide());
    this.element = element("figure", {}, this.heading, this.picture);
  }

  // draw shows columns over a time scale x; bounds are [label, value] pairs, guides {x, kind} by key. A line is broken
  // where there is no point for a gap of milliseconds.
  draw({ columns, x, gap, width, bounds, guides, moment }) {
    setAttribute(this.picture, "width", width);
    const top = niceCeiling(highest(...this.lines.map(({ column }) => columns[column]), bounds.map(([, value]) => value)));
    const y = (value) => BOTTOM - (Math.min(value, top) / top) * (BOTTOM - TOP);
    this.#drawLines(columns, x, y, gap);
    const right = width - GUTTER;
    this.gridLines.show([0, top / 2, top].map((value, place) => [
      place, { y: y(value), right, text: value === 0 ? "0" : withoutZeros(this.format(value)) },
    ]));
    this.boundLines.show(bounds.map(([label, value], place) => [
      label, { y: y(value), right, isAtEnd: place % 2 === 1, text: `${label} ${withoutZeros(this.format(value))}` },
    ]));
    this.guideLines.show(guides.map(({ key, x: place, kind }) => [key, { x: place, kind, height: HEIGHT }]));
    this.#read(columns, x, moment);
  }

  #drawLines(columns, x, y, gap) {
    this.lines.forEach(({ column, hasSteps }, place) => {
      const path = linePath(columns.milliseconds, columns[column], x, y, gap, hasSteps);
      setAttribute(this.paths[place], "d", path);
      if (this.areas[place]) setAttribute(this.areas[place], "d", areaPath(path, BOTTOM));
    });
  }

  // #read shows the figures of the moment, or the last ones if there is none.
  #read(columns, x, moment) {
    const moments = columns.milliseconds;
    const place = moment === null ? moments.length - 1 : placeNear(moments, moment);
    this.lines.forEach(({ column }, i) => {
      this.readings[i].update(place < 0 ? "–" : this.format(columns[column][place]));
    });
    const isShown = moment !== null && place >= 0;
    setAttribute(this.cursor, "visibility", isShown ? "visible" : "hidden");
    if (!isShown) return;
    for (const name of ["x1", "x2"]) setAttribute(this.cursor, name, x(moments[place]).toFixed(1));
  }
}

// withoutZeros is a figure without those at the end of its fraction.
function withoutZeros(text) {
  return text.replace(/\.0+(?= )|(\.\d*?)0+(?= )/, "$1");
}

class Reading {
  constructor(label, kind) {
    this.value = element("span", { class: "figure" }, "–");
    const key = drawing("svg", { width: 18, height: 8, "aria-hidden": "true" },
      drawing("line", { x1: 0, x2: 18, y1: 4, y2: 4, class: `line ${kind}` }));
    this.element = element("span", { class: "reading" }, key, ` ${label} `, this.value);
  }

  update(text) {
    setText(this.value, text);
  }
}

class GridLine {
  constructor() {
    this.line = drawing("line", { x1: 0 });
    this.text = drawing("text", {});
    this.element = drawing("g", {}, this.line, this.text);
  }

  update({ y, right, text }) {
    for (const name of ["y1", "y2"]) setAttribute(this.line, name, y.toFixed(1));
    setAttribute(this.line, "x2", right);
    setAttribute(this.text, "x", right + 8);
    setAttribute(this.text, "y", Math.min(HEIGHT - 2, Math.max(11, y + 4)).toFixed(1));
    setText(this.text, text);
  }
}

class BoundLine {
  constructor() {
    this.line = drawing("line", { x1: 0 });
    this.text = drawing("text", {});
    this.element = drawing("g", { class: "bound" }, this.line, this.text);
  }

  // update puts the text to one end or the other, so that those of two bounds do not meet.
  update({ y, right, isAtEnd, text }) {
    for (const name of ["y1", "y2"]) setAttribute(this.line, name, y.toFixed(1));
    setAttribute(this.line, "x2", right);
    setAttribute(this.text, "x", isAtEnd ? right - 4 : 4);
    setAttribute(this.text, "text-anchor", isAtEnd ? "end" : "start");
    setAttribute(this.text, "y", (y < 18 ? y + 13 : y - 4).toFixed(1));
    setText(this.text, text);
  }
}

class Guide {
  constructor() {
    this.element = drawing("line", { y1: 0 });
  }

  update({ x, kind, height }) {
    setAttribute(this.element, "class", `guide ${kind}`);
    for (const name of ["x1", "x2"]) setAttribute(this.element, name, x.toFixed(1));
    setAttribute(this.element, "y2", height);
  }
}
