// What the page knows, and how updates of the server change it. Times are in milliseconds of the
// controller's clock, which never jumps.

export const SPAN_MILLISECONDS = 15 * 60 * 1000;

const MAX_DECISIONS = 500;
const PERIODS_OF_PATIENCE = 2.5;
const COLUMNS = [
  "milliseconds", "rate_bytes_per_second", "ordered_rate_bytes_per_second", "debt_bytes",
  "read_p99_seconds", "write_p99_seconds",
];

export class Model {
  constructor() {
    this.query = { filter: "", show: "all", offset: 0, limit: 20 };
    this.target = null;
    this.#reset();
  }

  // #reset forgets what another process of the controller has told: its moments and numbers begin anew.
  #reset() {
    this.cluster = null;
    this.nodes = new Map();
    this.decisions = new Map();
    this.leftOut = 0;
    this.history = emptyHistory();
    this.chosen = null;
  }

  // takeCluster takes over a state of the cluster; nodes that it does not hold are as they were.
  takeCluster(cluster) {
    if (this.cluster && this.cluster.instance !== cluster.instance) this.#reset();
    const receivedAt = performance.now();
    const known = this.nodes;
    this.nodes = new Map();
    const fresh = new Map(cluster.nodes.map((node) => [node.node, { node, receivedAt }]));
    for (const name of cluster.names) {
      const entry = fresh.get(name) ?? known.get(name);
      if (entry) this.nodes.set(name, entry);
    }
    this.cluster = cluster;
    this.clusterReceivedAt = receivedAt;
    this.#forget();
  }

  // takeDecisions takes over decisions, in any order: after a lost connection the newest ones are loaded first.
  takeDecisions({ decisions, left_out: leftOut }, isFirstLoad) {
    for (const entry of decisions) this.decisions.set(entry.ordinal, entry);
    if (!isFirstLoad) this.leftOut += leftOut;
    const inOrder = [...this.decisions].sort(([a], [b]) => a - b);
    this.decisions = new Map(inOrder.slice(-MAX_DECISIONS));
  }

  // takeHistory takes over the timeline of the open target, whole or what is new of it.
  takeHistory(history) {
    if (!this.target || !sameTarget(history.target, this.target)) return;
    this.history.isKnown = true;
    const { columns, repeats, decisions } = this.history;
    const last = columns.milliseconds.at(-1) ?? -1;
    history.points.milliseconds.forEach((moment, place) => {
      if (moment <= last) return;
      for (const column of COLUMNS) columns[column].push(history.points[column][place]);
    });
    for (const window of history.repeats) repeats.set(window.window, window);
    for (const entry of history.decisions) decisions.set(entry.ordinal, entry);
    this.history.debtBounds = [["trigger", history.debt_trigger_bytes], ["limit", history.debt_limit_bytes]]
      .filter(([, bytes]) => bytes > 0);
    this.history.beganMilliseconds = history.began_milliseconds;
    this.#forget();
  }

  // #forget drops what has left the timeline, also that of a task that is gone.
  #forget() {
    const { columns, repeats, decisions } = this.history;
    const oldest = this.now() - SPAN_MILLISECONDS;
    const kept = columns.milliseconds.findIndex((moment) => moment >= oldest);
    const stale = kept < 0 ? columns.milliseconds.length : kept;
    for (const column of COLUMNS) columns[column].splice(0, stale);
    for (const [key, window] of repeats) if (window.last_milliseconds < oldest) repeats.delete(key);
    for (const [key, entry] of decisions) if (entry.milliseconds < oldest) decisions.delete(key);
  }

  open(target) {
    this.target = target;
    this.history = emptyHistory();
  }

  // now is the moment that is shown.
  now() {
    return this.cluster?.milliseconds ?? 0;
  }

  // patience is how long nothing new need come: some milliseconds, or more than two periods of the controller.
  patience(leastMilliseconds) {
    return Math.max(leastMilliseconds, PERIODS_OF_PATIENCE * (this.cluster?.period_milliseconds ?? 0));
  }

  // date is the time of day of a moment.
  date(milliseconds) {
    return new Date(Date.parse(this.cluster.wall_clock) + milliseconds - this.now());
  }

  // ageSeconds is how old what is shown is.
  ageSeconds() {
    if (!this.cluster) return 0;
    return (this.cluster.age_milliseconds + performance.now() - this.clusterReceivedAt) / 1000;
  }

  // entries are the decisions of the list, or of the timeline, the newest last. An entry has a key, the
  // moment, the decision, how many there were of it, and whether it brought nothing new.
  entries(ofTarget) {
    if (!ofTarget) return [...this.decisions.values()].map(single);
    const all = [...this.history.decisions.values()].map(single);
    for (const window of this.history.repeats.values()) {
      all.push({
        key: `repeats-${window.window}`, milliseconds: window.last_milliseconds,
        decision: window.decision, count: window.count, isRepeat: true,
      });
    }
    return all.sort((a, b) => a.milliseconds - b.milliseconds);
  }
}

// emptyHistory is a timeline of which nothing has been told yet.
function emptyHistory() {
  return {
    columns: Object.fromEntries(COLUMNS.map((name) => [name, []])), repeats: new Map(), decisions: new Map(),
    debtBounds: [], beganMilliseconds: 0, isKnown: false,
  };
}

function single({ ordinal, milliseconds, decision }) {
  return { key: `decision-${ordinal}`, milliseconds, decision, count: 1, isRepeat: false };
}

// targetOf is the target of a decision, or of anything else with node, ref, kind and scope.
export function targetOf(decision) {
  return {
    node: decision.node, store: decision.ref?.store ?? "", instance: decision.ref?.instance ?? "",
    kind: decision.kind, scope: decision.scope,
  };
}

export function sameTarget(a, b) {
  return ["node", "store", "instance", "kind", "scope"].every((part) => a[part] === b[part]);
}
