// The list of nodes: signals of each, its stores, and a row for each kind and scope of task.

import { KeyedList, byId, element, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";
import { Lane } from "./lane.js";
import { targetOf } from "./model.js";

export class NodeList {
  constructor(model, onOpen) {
    this.model = model;
    this.list = new KeyedList(byId("nodes"), () => new NodeCard(model, onOpen));
  }

  update() {
    const { cluster, nodes, query } = this.model;
    if (!cluster) return;
    this.list.show([...nodes]);
    this.#showEmpty(cluster);
    const isPaged = cluster.matching > query.limit;
    byId("pager").hidden = !isPaged;
    const last = cluster.offset + cluster.names.length;
    setText(byId("range"), `${format.count(cluster.offset + 1)} to ${format.count(last)} of ${format.count(cluster.matching)}`);
    byId("previous").disabled = cluster.offset === 0;
    byId("next").disabled = last >= cluster.matching;
  }

  #showEmpty(cluster) {
    const empty = byId("nodes-empty");
    empty.hidden = cluster.matching > 0;
    setText(empty, cluster.summary.nodes === 0
      ? "No nodes. Add the agents to the list “agents” of the controller's configuration; they appear here with their first answer."
      : "No node is like that. Change the filter, or show all nodes.");
  }

  // showAges is called once a second.
  showAges() {
    for (const card of document.querySelectorAll(".node.unreachable .age")) {
      const age = Number(card.dataset.age) + (performance.now() - Number(card.dataset.receivedAt)) / 1000;
      setText(card, `, last answer ${format.longDuration(age)} ago`);
    }
  }
}

class NodeCard {
  constructor(model, onOpen) {
    this.name = element("h3");
    this.version = element("span", { class: "muted version" });
    this.meters = element("div", { class: "meters" });
    this.problem = element("p", { class: "problem" });
    this.reason = element("span");
    this.age = element("span", { class: "age" });
    this.problem.append(element("strong", {}, "Agent not reachable"), this.age, ": ", this.reason);
    this.stores = element("div", { class: "stores" });
    this.noStores = element("p", { class: "muted no-stores" }, "No store. The agent looks for the sockets that its configuration names.");
    this.element = element("article", { class: "node" },
      element("header", {}, this.name, this.version, this.meters), this.problem, this.stores, this.noStores);
    this.meterList = new KeyedList(this.meters, () => new Meter());
    this.storeList = new KeyedList(this.stores, () => new StoreCard(model, onOpen));
  }

  update({ node, receivedAt }) {
    setText(this.name, node.node);
    setText(this.version, node.address);
    const isUnreachable = Boolean(node.problem) || !node.snapshot;
    this.element.classList.toggle("unreachable", isUnreachable);
    this.problem.hidden = !isUnreachable;
    setText(this.reason, node.problem || "it has not answered yet.");
    this.#updateAge(node, receivedAt);
    this.meterList.show(metersOf(node.snapshot?.signals));
    this.noStores.hidden = isUnreachable || node.snapshot.snapshots.length > 0;
    const versions = new Map((node.snapshot?.descriptions ?? []).map((d) => [nameOf(d.ref), d.store_version]));
    this.storeList.show((node.snapshot?.snapshots ?? []).map((snapshot) => {
      const name = nameOf(snapshot.ref);
      return [name, { node: node.node, name, snapshot, version: versions.get(name) ?? "" }];
    }));
  }

  #updateAge(node, receivedAt) {
    const age = format.seconds(node.age);
    this.age.hidden = age === null || !node.snapshot;
    this.age.dataset.age = age ?? 0;
    this.age.dataset.receivedAt = receivedAt;
  }
}

function nameOf(ref) {
  return `${ref?.store ?? ""}/${ref?.instance ?? ""}`;
}

// metersOf are the signals of a node, from 0 to 1 each.
function metersOf(signals) {
  if (!signals) return [];
  const meters = [["CPU", { label: "CPU", share: signals.cpu_used, title: "Share of the processors in use" }]];
  if (signals.io_pressure !== undefined) {
    meters.push(["I/O", { label: "I/O wait", share: signals.io_pressure, title: "Share of the last 10 s in which some task waited for input or output" }]);
  }
  for (const device of signals.devices) {
    const rates = `reads ${format.rate(device.read_bytes_per_second)}, writes ${format.rate(device.write_bytes_per_second)}`;
    const title = `Share of time in use; ${rates}, ${device.in_flight.toFixed(1)} requests in flight`;
    meters.push([`device ${device.name}`, { label: device.name, share: device.utilisation, title }]);
  }
  return meters;
}

class Meter {
  constructor() {
    this.label = element("span", { class: "meter-label" });
    this.bar = element("span", { class: "meter-fill" });
    this.value = element("span", { class: "meter-value" });
    this.element = element("span", { class: "meter" },
      this.label, element("span", { class: "meter-bar", "aria-hidden": "true" }, this.bar), this.value);
  }

  update({ label, share, title }) {
    setText(this.label, label);
    setText(this.value, format.percent(share));
    this.bar.style.width = `${Math.min(100, Math.max(0, share * 100))}%`;
    this.element.classList.toggle("high", share > 0.9);
    setAttribute(this.element, "title", title);
  }
}

class StoreCard {
  constructor(model, onOpen) {
    this.name = element("h4");
    this.version = element("span", { class: "muted version" });
    this.latency = element("p", { class: "latency" });
    this.read = element("span", { class: "figure" });
    this.write = element("span", { class: "figure" });
    this.latency.append("p99 read ", this.read, " write ", this.write);
    this.problem = element("p", { class: "problem" });
    this.lanes = element("div", { class: "lanes" });
    this.element = element("section", { class: "store" },
      element("header", {}, this.name, this.version, this.latency), this.problem, this.lanes);
    this.list = new KeyedList(this.lanes, () => new Lane(model, onOpen));
  }

  update({ node, name, snapshot, version }) {
    setText(this.name, name);
    setText(this.version, version);
    setText(this.read, p99Of(snapshot, "read"));
    setText(this.write, p99Of(snapshot, "write"));
    this.problem.hidden = !snapshot.problem;
    this.element.classList.toggle("silent", Boolean(snapshot.problem));
    setText(this.problem, snapshot.problem ? `Store not reachable: ${snapshot.problem}` : "");
    this.list.show(lanesOf(snapshot).map((lane) => [
      `${lane.kind} ${lane.scope}`,
      { ...lane, target: targetOf({ ...lane, node, ref: snapshot.ref }) },
    ]));
  }
}

// p99Of is that of the last interval of a class, which comes last.
function p99Of(snapshot, requestClass) {
  const last = snapshot.latencies.findLast((latency) => latency.request_class === requestClass);
  return last && Number(last.count) > 0 ? format.duration(format.seconds(last.p99)) : "–";
}

// lanesOf groups tasks, debts and leases of a store by kind and scope.
function lanesOf(snapshot) {
  const lanes = new Map();
  const laneOf = ({ kind, scope }) => {
    const key = `${kind} ${scope}`;
    if (!lanes.has(key)) lanes.set(key, { kind, scope, tasks: [], debt: null, leases: [] });
    return lanes.get(key);
  };
  for (const task of snapshot.tasks) laneOf(task).tasks.push(task);
  for (const debt of snapshot.debts) laneOf(debt).debt = debt;
  for (const lease of snapshot.leases) laneOf(lease).leases.push(lease);
  // What is for all of the store is for the tasks of every scope.
  for (const lane of lanes.values()) {
    if (lane.scope === "") lane.tasks = snapshot.tasks.filter((task) => task.kind === lane.kind);
  }
  return [...lanes.values()].sort((a, b) => (a.kind + a.scope < b.kind + b.scope ? -1 : 1));
}
