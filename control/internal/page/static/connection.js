// The stream of updates, and the plain answers that come before it and in its place.

const RETRY_MILLISECONDS = 5000;
// A stream that is open and silent for so long is taken for dead, if no period takes as long.
const SILENCE_MILLISECONDS = 45000;

export class Connection {
  #stream = null;
  #retry = null;
  #lastEventID = "";
  #heardAt = 0;

  // The model says what to ask for; onUpdate gets each answer in the form of an update of the stream,
  // onState "live" or "lost".
  constructor(model, onUpdate, onState) {
    this.model = model;
    this.onUpdate = onUpdate;
    this.onState = onState;
    setInterval(() => this.#checkSilence(), 1000);
  }

  // start loads what the model asks for, then follows it. It is called anew when that changes.
  async start() {
    this.#close();
    const stream = {};
    this.#stream = stream;
    try {
      await this.#load(stream);
    } catch {
      if (this.#stream === stream) this.#fail();
      return;
    }
    if (this.#stream === stream) this.#follow();
  }

  async #load(stream) {
    const [cluster, decisions, history] = await Promise.all([
      fetchJSON("/api/cluster", this.model.query),
      fetchJSON("/api/decisions", {}),
      this.#loadHistory(),
    ]);
    if (this.#stream === stream) this.onUpdate({ cluster, decisions, history }, true);
  }

  // #loadHistory gets the timeline of the open task, null if there is none. A task whose name is wrong,
  // as it may come in an address, is closed; one that is not there may come.
  async #loadHistory() {
    const { target } = this.model;
    if (!target) return null;
    const response = await fetch(`/api/history?${new URLSearchParams(target)}`);
    if (response.status === 400) this.model.open(null);
    return response.ok ? response.json() : null;
  }

  #follow() {
    const parameters = { ...this.model.query, ...this.model.target };
    if (this.#lastEventID) parameters.after = this.#lastEventID;
    const stream = new EventSource(`/api/events?${new URLSearchParams(parameters)}`);
    this.#stream = stream;
    this.#heardAt = performance.now();
    stream.addEventListener("update", (event) => {
      this.#lastEventID = event.lastEventId;
      this.#heardAt = performance.now();
      this.onUpdate(JSON.parse(event.data), false);
      this.onState("live");
    });
    stream.addEventListener("error", () => {
      // The browser tries again by itself, unless the server has refused.
      if (stream.readyState === EventSource.CLOSED) this.#fail();
      else this.onState("lost");
    });
  }

  #fail() {
    this.#close();
    this.onState("lost");
    this.#retry = setTimeout(() => this.start(), RETRY_MILLISECONDS);
  }

  #close() {
    clearTimeout(this.#retry);
    this.#stream?.close?.();
    this.#stream = null;
  }

  #checkSilence() {
    const open = this.#stream?.readyState === EventSource.OPEN;
    if (open && performance.now() - this.#heardAt > this.model.patience(SILENCE_MILLISECONDS)) this.start();
  }
}

async function fetchJSON(path, parameters) {
  const response = await fetch(`${path}?${new URLSearchParams(parameters)}`);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}
