// The timeline of the open task: marks of decisions, and charts of rate, latency and debt below them.

import { Chart, GUTTER } from "./chart.js";
import { KeyedList, byId, drawing, element, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";
import { Marks } from "./marks.js";
import { SPAN_MILLISECONDS } from "./model.js";

const AXIS_HEIGHT = 18;
const MINUTE = 60000;
// GAP_MILLISECONDS is how far points are apart at least where something is missing between them.
const GAP_MILLISECONDS = 5000;
// STEP_MILLISECONDS is how far an arrow key moves the cursor.
const STEP_MILLISECONDS = 5000;

export class Timeline {
  constructor(model, onChoose) {
    this.model = model;
    this.moment = null;
    this.marks = new Marks(onChoose);
    this.rate = new Chart("Rate", [
      { column: "rate_bytes_per_second", label: "rate", kind: "first", hasArea: true },
      { column: "ordered_rate_bytes_per_second", label: "ordered", kind: "ordered", hasSteps: true },
    ], format.rate);
    this.latency = new Chart("p99 latency", [
      { column: "read_p99_seconds", label: "read", kind: "first" },
      { column: "write_p99_seconds", label: "write", kind: "second" },
    ], format.duration);
    this.debt = new Chart("Debt", [
      { column: "debt_bytes", label: "debt", kind: "first", hasArea: true },
    ], format.bytes);
    this.axis = drawing("svg", { height: AXIS_HEIGHT, class: "axis", "aria-hidden": "true" });
    this.ticks = new KeyedList(this.axis, () => new Tick());
    this.charts = element("div", { class: "charts", tabindex: "0", role: "slider", "aria-label": "Moment whose figures are shown" },
      this.rate.element, this.latency.element, this.debt.element, this.axis);
    this.note = element("p", { class: "muted note" });
    this.momentText = element("span", { class: "moment figure", "aria-hidden": "true" });
    byId("timeline").append(this.marks.element, this.momentText, this.charts, this.note);
    this.#listen();
  }

  #listen() {
    this.charts.addEventListener("pointermove", (event) => this.#point(event));
    this.charts.addEventListener("pointerleave", () => this.#show(null));
    this.charts.addEventListener("keydown", (event) => this.#step(event));
    new ResizeObserver(() => this.update()).observe(byId("timeline-panel"));
  }

  #point(event) {
    const left = this.charts.getBoundingClientRect().left;
    const across = (event.clientX - left) / this.#plotWidth();
    this.#show(across > 1 ? null : this.model.now() - SPAN_MILLISECONDS * (1 - across));
  }

  #step(event) {
    const from = this.moment ?? this.model.now();
    const moves = {
      ArrowLeft: from - STEP_MILLISECONDS, ArrowRight: from + STEP_MILLISECONDS,
      Home: this.model.now() - SPAN_MILLISECONDS, End: null, Escape: null,
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    const wanted = moves[event.key];
    this.#show(wanted === null || wanted >= this.model.now() ? null : Math.max(wanted, this.model.now() - SPAN_MILLISECONDS));
  }

  #show(moment) {
    this.moment = moment;
    this.update();
  }

  #plotWidth() {
    return Math.max(120, this.charts.clientWidth - GUTTER);
  }

  update() {
    const { target, history, cluster } = this.model;
    if (!cluster) return;
    byId("timeline").hidden = target === null;
    byId("timeline-empty").hidden = target !== null;
    if (!target) return;
    const kind = format.word(target.kind, "KIND_");
    setText(byId("timeline-title"), target.scope ? `${kind} ${target.scope}` : kind);
    setText(byId("timeline-target"), `${target.node}/${target.store}/${target.instance}`);
    this.#draw(history);
  }

  #draw({ columns, beganMilliseconds, debtBounds, isKnown }) {
    const width = this.charts.clientWidth;
    const plotWidth = this.#plotWidth();
    const begin = this.model.now() - SPAN_MILLISECONDS;
    const x = (moment) => ((moment - begin) / SPAN_MILLISECONDS) * plotWidth;
    const dateOf = (moment) => this.model.date(moment);
    const guides = this.marks.draw({
      entries: this.model.entries(true), x, width: plotWidth, dateOf, chosen: this.model.chosen?.key,
    }).filter(({ kind }) => kind !== "keep" && kind !== "stopped");
    const shared = { columns, x, gap: this.model.patience(GAP_MILLISECONDS), width, guides, moment: this.moment };
    this.rate.draw({ ...shared, bounds: [] });
    this.latency.draw({ ...shared, bounds: [] });
    this.debt.draw({ ...shared, bounds: debtBounds });
    this.#drawAxis(x, width, begin);
    setText(this.momentText, this.moment === null ? "" : format.time(dateOf(this.moment)));
    this.#describe(columns);
    const recorded = this.model.now() - beganMilliseconds;
    setText(this.note, isKnown ? noteOf(columns.milliseconds.length, recorded) : "");
  }

  #drawAxis(x, width, begin) {
    setAttribute(this.axis, "width", width);
    const apart = width < 480 ? 5 : 3;
    const start = this.model.date(begin);
    const first = begin + (MINUTE - (start.getTime() % MINUTE));
    const ticks = [];
    for (let moment = first; moment <= this.model.now(); moment += MINUTE) {
      const date = new Date(Math.round(this.model.date(moment).getTime() / MINUTE) * MINUTE);
      const place = x(moment);
      if (date.getMinutes() % apart !== 0 || place < 16 || place > width - GUTTER - 16) continue;
      ticks.push([date.getTime(), { x: place, text: format.minute(date) }]);
    }
    this.ticks.show(ticks);
  }

  // #describe puts the shown moment into words, for those who cannot see the charts.
  #describe(columns) {
    const now = this.model.now();
    const moment = this.moment ?? now;
    setAttribute(this.charts, "aria-valuemin", -SPAN_MILLISECONDS / 1000);
    setAttribute(this.charts, "aria-valuemax", 0);
    setAttribute(this.charts, "aria-valuenow", Math.round((moment - now) / 1000));
    const figures = [this.rate, this.latency, this.debt].flatMap((chart) => chart.readings.map((r) => r.element.textContent.trim()));
    setAttribute(this.charts, "aria-valuetext", columns.milliseconds.length === 0
      ? "nothing recorded" : `${format.time(this.model.date(moment))}: ${figures.join(", ")}`);
  }
}

function noteOf(points, recordedMilliseconds) {
  if (points === 0) return "Nothing recorded in the last 15 minutes.";
  if (recordedMilliseconds >= SPAN_MILLISECONDS - MINUTE) return "";
  return `Recorded for ${format.longDuration(recordedMilliseconds / 1000)}.`;
}

class Tick {
  constructor() {
    this.element = drawing("text", { y: 13, "text-anchor": "middle" });
  }

  update({ x, text }) {
    setAttribute(this.element, "x", x.toFixed(1));
    setText(this.element, text);
  }
}
