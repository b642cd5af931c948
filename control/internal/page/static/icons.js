// Small signs, so that nothing is told by colour alone. Each is drawn in 12 by 12.

import { drawing } from "./dom.js";

const FILLED = {
  running: "M3 1.5v9l7.5-4.5z",
  held: "M2.5 2h2.6v8H2.5zM6.9 2h2.6v8H6.9z",
  change: "M6 .8 11.2 6 6 11.2.8 6z",
  stop: "M2 2h8v8H2z",
  keep: "M6 4.2a1.8 1.8 0 1 1 0 3.6a1.8 1.8 0 1 1 0-3.6",
  stopped: "M4.2 4.2h3.6v3.6H4.2z",
};

const OUTLINED = {
  queued: "M2 3h8M2 6h8M2 9h5",
  deferred: "M6 1.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9M6 3.5V6l2 1.4",
  done: "M2 6.4 4.8 9 10 3",
  failed: "M2.5 2.5l7 7M9.5 2.5l-7 7",
  idle: "M3 6h6",
  // A decision to change that was not written.
  unwritten: "M6 1.6 10.4 6 6 10.4 1.6 6z",
  problem: "M6 1.2 11 10.4H1zM6 4.6v2.6M6 8.6v.4",
};

export function icon(name) {
  const isFilled = name in FILLED;
  const shape = drawing("path", {
    d: isFilled ? FILLED[name] : OUTLINED[name] ?? OUTLINED.idle,
    class: isFilled ? "filled" : "outlined",
  });
  return drawing("svg", { viewBox: "0 0 12 12", class: "icon", "aria-hidden": "true" }, shape);
}

// verdictIcon is the sign of an entry of the model.
export function verdictIcon({ decision, isRepeat }) {
  if (isRepeat && decision.verdict === "VERDICT_STOP") return "stopped";
  if (isRepeat) return "keep";
  if (decision.problem) return "problem";
  if (decision.verdict === "VERDICT_STOP") return "stop";
  if (decision.verdict === "VERDICT_KEEP") return "keep";
  return decision.was_written ? "change" : "unwritten";
}
