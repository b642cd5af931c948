// What is above the nodes: which controller this is, how old what it shows is, and the cluster in a few
// figures.

import { byId, element, setAttribute, setText } from "./dom.js";
import * as format from "./format.js";

// STALE_MILLISECONDS is the age from which what is shown is no longer called live, if no period takes as long.
const STALE_MILLISECONDS = 5000;

export class Overview {
  constructor(model) {
    this.model = model;
    this.state = "loading";
    this.standby = badge("standby", "Standby");
    this.dryRun = badge("dry-run", "Dry run");
    byId("badges").append(this.standby, this.dryRun);
    this.tiles = Object.fromEntries(
      ["Nodes", "Tasks", "Background rate", "Debt nearest to limit", "Leases", "Decisions, 15 min"].map((title) => {
        const tile = new Tile(title);
        byId("summary").append(tile.element);
        return [title, tile];
      }),
    );
  }

  update() {
    const { cluster } = this.model;
    if (!cluster) return;
    const controller = cluster.controller;
    const name = controller.cluster;
    setText(byId("cluster-name"), name);
    document.title = name ? `${name} – Sluice` : "Sluice";
    this.standby.hidden = controller.is_active;
    this.dryRun.hidden = !controller.is_dry_run;
    const notice = noticeOf(controller);
    setText(byId("notice"), notice);
    byId("notice").hidden = notice === "";
    this.#updateTiles(cluster.summary);
  }

  #updateTiles(summary) {
    const answers = summary.unreachable === 0 ? "all answer" : `${format.count(summary.unreachable)} not reachable`;
    this.tiles.Nodes.update(format.count(summary.nodes), summary.nodes === 0 ? "none yet" : answers, summary.unreachable > 0);
    const rest = `${format.count(summary.held)} held, ${format.count(summary.waiting)} waiting`;
    const failed = summary.failed > 0 ? `, ${format.count(summary.failed)} failed` : "";
    this.tiles.Tasks.update(`${format.count(summary.running)} running`, rest + failed, summary.failed > 0);
    this.tiles["Background rate"].update(format.rate(summary.rate_bytes_per_second), "all tasks together");
    const debt = summary.debt_of === "" ? "–" : format.percent(summary.debt_share);
    this.tiles["Debt nearest to limit"].update(debt, summary.debt_of || "no limit known", summary.debt_share > 0.9);
    this.tiles.Leases.update(format.count(summary.leases), "in force");
    this.tiles["Decisions, 15 min"].update(format.plural(summary.changes, "change"), format.plural(summary.stops, "stop"));
  }

  // setState is told "live" or "lost" by the connection.
  setState(state) {
    if (this.state !== state) {
      const announced = { live: "Connected", lost: "Connection to the controller lost" };
      if (this.state !== "loading" || state === "lost") setText(byId("announcement"), announced[state]);
    }
    this.state = state;
    this.showAge();
  }

  // showAge is called once a second.
  showAge() {
    const age = this.model.ageSeconds();
    const state = this.state === "live" && age * 1000 > this.model.patience(STALE_MILLISECONDS) ? "stale" : this.state;
    setAttribute(document.body, "data-connection", state);
    setText(byId("status-text"), this.#statusText(state, age));
  }

  #statusText(state, age) {
    if (state === "loading") return "Loading";
    if (state === "live") return "Live";
    if (!this.model.cluster) return "Connection lost, trying again";
    const shown = `shown is ${format.time(this.model.date(this.model.now()))}, ${format.longDuration(age)} ago`;
    return state === "lost" ? `Connection lost, trying again; ${shown}` : `Nothing new from the controller; ${shown}`;
  }
}

function noticeOf(controller) {
  const sentences = [];
  if (!controller.is_active) {
    sentences.push(controller.active_controller
      ? `This controller is standing by: ${controller.active_controller} is the active one and decides.`
      : "This controller is standing by, and it knows of no active one: nothing is decided, leases run out.");
  }
  if (controller.is_dry_run) sentences.push("Dry run: decisions are made and shown, and nothing is written to the agents.");
  return sentences.join(" ");
}

function badge(kind, text) {
  const made = element("span", { class: `badge ${kind}` }, text);
  made.hidden = true;
  return made;
}

class Tile {
  constructor(title) {
    this.value = element("dd", { class: "value" }, "–");
    this.note = element("dd", { class: "note" }, "\u00a0");
    this.element = element("dl", { class: "tile" }, element("dt", {}, title), this.value, this.note);
  }

  update(value, note, isBad = false) {
    setText(this.value, value);
    setText(this.note, note);
    setAttribute(this.note, "title", note);
    this.element.classList.toggle("bad", isBad);
  }
}
