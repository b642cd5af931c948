// The parts of the page, and what happens between them.

import { Connection } from "./connection.js";
import { DecisionList, Detail } from "./decisions.js";
import { byId, setText } from "./dom.js";
import { LevelList } from "./levels.js";
import { Model, sameTarget, targetOf } from "./model.js";
import { NodeList } from "./nodes.js";
import { Overview } from "./overview.js";
import { Timeline } from "./timeline.js";

const TARGET_PARTS = ["node", "store", "instance", "kind", "scope"];
const FILTER_DELAY_MILLISECONDS = 250;

const model = new Model();
const overview = new Overview(model);
const levels = new LevelList(model);
const nodes = new NodeList(model, open);
const timeline = new Timeline(model, choose);
const decisions = new DecisionList(model, choose);
const detail = new Detail(model, choose, open);
const connection = new Connection(model, take, (state) => overview.setState(state));

function take(update, isPlain) {
  model.takeCluster(update.cluster);
  model.takeDecisions(update.decisions, isPlain);
  if (update.history) model.takeHistory(update.history);
  if (model.target === null) openFirst();
  show();
}

function show() {
  for (const part of [overview, levels, nodes, timeline, decisions, detail]) part.update();
  overview.showAge();
  nodes.showAges();
}

// openFirst opens the task of the last decision, or else the first one of the list.
function openFirst() {
  const last = [...model.decisions.values()].at(-1);
  if (last) {
    open(targetOf(last.decision));
    return;
  }
  for (const [name, { node }] of model.nodes) {
    for (const snapshot of node.snapshot?.snapshots ?? []) {
      const task = snapshot.tasks[0] ?? snapshot.debts[0];
      if (task) {
        open(targetOf({ ...task, node: name, ref: snapshot.ref }));
        return;
      }
    }
  }
}

function open(target) {
  if (model.target && sameTarget(model.target, target)) return;
  model.open(target);
  history.replaceState(null, "", `#${new URLSearchParams(target)}`);
  show();
  connection.start();
}

function choose(entry) {
  model.chosen = entry;
  show();
  if (!entry) return;
  byId("detail").scrollIntoView({ block: "nearest" });
  setText(byId("announcement"), `Shown below: ${entry.decision.reason}`);
}

// readAddress opens the task that the address names.
function readAddress() {
  const named = new URLSearchParams(location.hash.slice(1));
  if (!named.has("node")) return false;
  model.open(Object.fromEntries(TARGET_PARTS.map((part) => [part, named.get(part) ?? ""])));
  return true;
}

function ask(changes) {
  Object.assign(model.query, { offset: 0 }, changes);
  connection.start();
}

let filterDelay;
byId("filter").addEventListener("input", () => {
  clearTimeout(filterDelay);
  filterDelay = setTimeout(() => ask({ filter: byId("filter").value.trim() }), FILTER_DELAY_MILLISECONDS);
});
byId("show").addEventListener("change", () => ask({ show: byId("show").value }));
byId("previous").addEventListener("click", () => ask({ offset: Math.max(0, model.query.offset - model.query.limit) }));
byId("next").addEventListener("click", () => ask({ offset: model.query.offset + model.query.limit }));
addEventListener("hashchange", () => {
  if (readAddress()) connection.start();
});
setInterval(() => {
  overview.showAge();
  nodes.showAges();
}, 1000);

readAddress();
connection.start();
