// One row of a store: the tasks of a kind and scope, their debt, and the leases on them.

import { KeyedList, element, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";
import { icon } from "./icons.js";
import { sameTarget } from "./model.js";

// STATES are in the order in which one stands for several tasks.
const STATES = ["failed", "held", "running", "deferred", "queued", "done"];

// TASKLESS are the kinds of which leases say where data is kept, and no task does any work.
const TASKLESS = ["KIND_CACHE", "KIND_LOG_PLACEMENT"];

export class Lane {
  constructor(model, onOpen) {
    this.model = model;
    this.kind = element("strong");
    this.phase = element("span", { class: "phase muted" });
    this.state = element("span", { class: "state" });
    this.progress = element("span", { class: "progress" });
    this.progressFill = element("span", { class: "progress-fill" });
    this.progress.append(this.progressFill);
    this.share = element("span", { class: "share" });
    this.rate = element("span", { class: "rate figure" });
    this.debt = new DebtBar();
    this.leases = element("span", { class: "leases" });
    this.leaseList = new KeyedList(this.leases, () => new LeaseText());
    this.element = element("button", { type: "button", class: "lane" },
      element("span", { class: "kind" }, this.kind, this.phase),
      element("span", { class: "doing" }, this.state, this.progress, this.share, this.rate),
      this.debt.element, this.leases);
    this.element.addEventListener("click", () => onOpen(this.target));
  }

  update({ tasks, debt, leases, target }) {
    this.target = target;
    const kind = format.word(target.kind, "KIND_");
    setText(this.kind, target.scope ? `${kind} ${target.scope}` : kind);
    this.element.classList.toggle("taskless", TASKLESS.includes(target.kind) && tasks.length === 0);
    this.#updateTasks(tasks);
    this.debt.update(debt);
    this.leaseList.show(leases.map((lease, place) => [`${place} ${lease.owner}`, lease]));
    const isOpen = this.model.target !== null && sameTarget(target, this.model.target);
    setAttribute(this.element, "aria-current", isOpen ? "true" : null);
    setAttribute(this.element, "title", `Show the timeline of ${kind} of ${target.node}/${target.store}/${target.instance}`);
  }

  #updateTasks(tasks) {
    const states = tasks.map((task) => format.word(task.state, "STATE_"));
    const state = STATES.find((candidate) => states.includes(candidate)) ?? "idle";
    if (this.element.dataset.state !== state) {
      this.element.dataset.state = state;
      this.state.replaceChildren(icon(state), element("span"));
    }
    setText(this.state.lastChild, stateText(state, states));
    setText(this.phase, tasks.length === 1 ? tasks[0].phase : "");
    const total = tasks.reduce((sum, task) => sum + Number(task.bytes_total), 0);
    const done = tasks.reduce((sum, task) => sum + (Number(task.bytes_total) > 0 ? Number(task.bytes_done) : 0), 0);
    this.progress.classList.toggle("unknown", total === 0);
    this.progressFill.style.width = total > 0 ? `${Math.min(100, (100 * done) / total)}%` : "0";
    setText(this.share, total > 0 ? format.percent(done / total) : "");
    const rate = tasks.reduce((sum, task) => sum + task.rate_bytes_per_second, 0);
    setText(this.rate, tasks.length > 0 ? format.rate(rate) : "");
  }
}

// stateText counts the states where there are several tasks.
function stateText(state, states) {
  if (states.length < 2) return state;
  return STATES.map((candidate) => [candidate, states.filter((s) => s === candidate).length])
    .filter(([, number]) => number > 0).map(([name, number]) => `${number} ${name}`).join(", ");
}

// DebtBar is debt on the way to its limit, with a tick where the store starts a task by itself.
class DebtBar {
  constructor() {
    this.fill = element("span", { class: "debt-fill" });
    this.trigger = element("span", { class: "debt-trigger" });
    this.text = element("span", { class: "debt-text figure" });
    this.element = element("span", { class: "debt" },
      element("span", { class: "debt-bar", "aria-hidden": "true" }, this.fill, this.trigger), this.text);
  }

  update(debt) {
    this.element.classList.toggle("absent", !debt);
    if (!debt) {
      setText(this.text, "no debt known");
      return;
    }
    const [held, trigger, limit] = [debt.bytes, debt.trigger_bytes, debt.limit_bytes].map(Number);
    const full = limit || Math.max(held, trigger) * 1.1 || 1;
    this.fill.style.width = `${Math.min(100, (100 * held) / full)}%`;
    this.trigger.hidden = trigger === 0;
    this.trigger.style.left = `${Math.min(100, (100 * trigger) / full)}%`;
    this.element.dataset.level = limit > 0 && held > 0.9 * limit ? "high" : trigger > 0 && held >= trigger ? "due" : "low";
    setText(this.text, limit > 0 ? `${format.bytes(held)} of ${format.bytes(limit)}` : format.bytes(held));
    setAttribute(this.element, "title", debtTitle(debt, held, trigger, limit));
  }
}

function debtTitle(debt, held, trigger, limit) {
  const parts = [`Debt ${format.bytes(held)}`];
  if (trigger > 0) parts.push(`a task starts by itself at ${format.bytes(trigger)}`);
  if (limit > 0) parts.push(`every order ends at ${format.bytes(limit)}`);
  if (Number(debt.files) > 0) parts.push(format.plural(Number(debt.files), "file"));
  if (debt.estimated_recovery) parts.push(`recovery would take ${format.duration(format.seconds(debt.estimated_recovery))}`);
  return parts.join("; ");
}

class LeaseText {
  constructor() {
    this.owner = element("span", { class: "owner" });
    this.setting = element("span", { class: "figure" });
    this.left = element("span", { class: "left figure" });
    this.element = element("span", { class: "lease" }, this.owner, " ", this.setting, " ", this.left);
  }

  update(lease) {
    setText(this.owner, lease.owner);
    setText(this.setting, format.setting(lease.setting));
    setText(this.left, `${(format.seconds(lease.time_left) ?? 0).toFixed(1)} s left`);
  }
}
