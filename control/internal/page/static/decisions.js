// The list of decisions, the newest first, and the one that was chosen in full.

import { KeyedList, byId, element, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";
import { icon, verdictIcon } from "./icons.js";
import { targetOf } from "./model.js";

const MAX_ROWS = 150;

export class DecisionList {
  constructor(model, onChoose) {
    this.model = model;
    this.list = new KeyedList(byId("decisions"), () => new Row(model, onChoose));
    this.held = null;
    byId("task-only").addEventListener("change", () => this.#release());
    const pane = byId("decisions");
    pane.addEventListener("pointerleave", () => this.#release());
    pane.addEventListener("focusout", () => this.#release());
  }

  // update shows new rows at once, unless somebody points at one: it must not move away.
  update() {
    const entries = this.model.entries(byId("task-only").checked && this.model.target !== null).slice(-MAX_ROWS);
    if (!isInUse() || this.held === null) this.held = entries;
    const fresh = entries.filter((entry) => entry.milliseconds > (this.held.at(-1)?.milliseconds ?? -1)).length;
    this.list.show(this.held.toReversed().map((entry) => [entry.key, entry]));
    byId("decisions-empty").hidden = this.held.length > 0;
    setText(byId("decisions-note"), this.#note(fresh));
  }

  #note(fresh) {
    const notes = [];
    if (fresh > 0) notes.push(`${format.count(fresh)} new`);
    if (this.model.leftOut > 0) notes.push(`${format.count(this.model.leftOut)} left out`);
    return notes.join(", ");
  }

  #release() {
    this.held = null;
    this.update();
  }
}

// isInUse says whether somebody points at the list, with a pointer that can, or with the keyboard.
function isInUse() {
  const canHover = matchMedia("(hover: hover)").matches;
  return byId("decisions").matches(canHover ? ":hover, :has(:focus-visible)" : ":has(:focus-visible)");
}

class Row {
  constructor(model, onChoose) {
    this.model = model;
    this.sign = element("span", { class: "sign" });
    this.verdict = element("span", { class: "verdict" });
    this.setting = element("span", { class: "figure" });
    this.time = element("time", { class: "muted figure" });
    this.where = element("span", { class: "where" });
    this.reason = element("span", { class: "reason muted" });
    this.button = element("button", { type: "button", class: "row" },
      this.sign, this.verdict, this.setting, this.time, this.where, this.reason);
    this.button.addEventListener("click", () => onChoose(this.entry));
    this.element = element("li", {}, this.button);
  }

  update(entry) {
    this.entry = entry;
    const { decision } = entry;
    const sign = verdictIcon(entry);
    if (this.shown !== sign) this.sign.replaceChildren(icon(sign));
    this.shown = sign;
    this.button.dataset.verdict = sign;
    setText(this.verdict, verdictText(entry));
    setText(this.setting, format.setting(decision.setting));
    setText(this.time, format.time(this.model.date(entry.milliseconds)));
    setText(this.where, `${pathOf(decision)}, ${decision.policy}`);
    setText(this.reason, decision.problem || decision.reason || "");
    setAttribute(this.button, "aria-current", entry.key === this.model.chosen?.key ? "true" : null);
  }
}

function verdictText({ decision, count }) {
  const verdict = format.word(decision.verdict, "VERDICT_");
  return count > 1 ? `${verdict} ×${count}` : verdict;
}

function pathOf(decision) {
  const { node, store, instance, kind, scope } = targetOf(decision);
  return [`${node}/${store}/${instance}`, format.word(kind, "KIND_"), scope].filter(Boolean).join(" ");
}

// Detail is the chosen decision.
export class Detail {
  // onChoose is told null when it is closed, onOpen the task that is to be opened.
  constructor(model, onChoose, onOpen) {
    this.model = model;
    this.onChoose = onChoose;
    this.onOpen = onOpen;
    this.shown = undefined;
    this.update();
  }

  update() {
    const entry = this.model.chosen;
    if (this.shown === entry) return;
    this.shown = entry;
    setAttribute(byId("decisions-panel"), "data-open", entry ? "true" : null);
    byId("detail").replaceChildren(...(entry ? this.#parts(entry) : [placeholder()]));
  }

  #parts(entry) {
    const { decision } = entry;
    const facts = element("dl", { class: "facts" });
    const add = (name, value, kind = "") => facts.append(element("dt", {}, name), element("dd", { class: kind }, value));
    add("Setting", format.setting(decision.setting));
    if (decision.start) add("Start", "a task is to be started now");
    add("Policy", decision.policy);
    add("Task", this.#taskButton(decision));
    add("Written", writtenText(decision, this.model.cluster.controller.is_dry_run));
    if (decision.problem) add("Problem", decision.problem, "problem");
    if (entry.count > 1) add("Repeated", `${entry.count} times until then, with other figures`);
    add("Number", decision.sequence);
    return [this.#heading(entry), element("p", { class: "full-reason" }, decision.reason), facts, inputsOf(decision)].filter(Boolean);
  }

  #heading(entry) {
    const sign = verdictIcon(entry);
    const close = element("button", { type: "button", class: "close", "aria-label": "Close" }, icon("failed"));
    close.addEventListener("click", () => this.onChoose(null));
    return element("h3", { "data-verdict": sign }, icon(sign),
      element("span", { class: "verdict" }, verdictText(entry)),
      element("time", { class: "muted figure" }, format.zonedTime(this.model.date(entry.milliseconds))), close);
  }

  #taskButton(decision) {
    const button = element("button", { type: "button", class: "link" }, pathOf(decision));
    button.addEventListener("click", () => this.onOpen(targetOf(decision)));
    return button;
  }
}

function placeholder() {
  return element("p", { class: "empty" }, "Choose a decision in the list or on the timeline.");
}

function writtenText(decision, isDryRun) {
  if (decision.problem) return "no, it failed";
  if (decision.was_written) return "yes, to the agent";
  return isDryRun ? "no, dry run" : "no, there was nothing to write";
}

function inputsOf(decision) {
  const inputs = Object.entries(decision.inputs).sort(([a], [b]) => (a < b ? -1 : 1));
  if (inputs.length === 0) return null;
  const rows = inputs.map(([name, value]) => element("tr", {},
    element("th", { scope: "row" }, name), element("td", { class: "figure", title: `${value}` }, format.quantity(name, value))));
  return element("table", { class: "inputs" }, element("caption", {}, "Inputs"), element("tbody", {}, ...rows));
}
