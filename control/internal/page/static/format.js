// Figures as text, with SI prefixes and three digits.

const PREFIXES = ["", "k", "M", "G", "T", "P"];
const UNKNOWN = "–";

function threeDigits(value) {
  if (value >= 99.95) return Math.round(value).toLocaleString("en");
  return value.toFixed(value >= 9.995 ? 1 : 2);
}

export function bytes(value) {
  if (value === null || !Number.isFinite(value)) return UNKNOWN;
  let size = Math.abs(value);
  let prefix = 0;
  while (size >= 999.5 && prefix < PREFIXES.length - 1) {
    size /= 1000;
    prefix++;
  }
  const digits = prefix === 0 ? Math.round(size).toString() : threeDigits(size);
  return `${value < 0 ? "−" : ""}${digits} ${PREFIXES[prefix]}B`;
}

export function rate(value) {
  return value === null || !Number.isFinite(value) ? UNKNOWN : `${bytes(value)}/s`;
}

export function duration(seconds) {
  if (seconds === null || !Number.isFinite(seconds)) return UNKNOWN;
  if (seconds === 0) return "0 s";
  if (seconds < 0.0009995) return `${threeDigits(seconds * 1e6)} µs`;
  if (seconds < 0.9995) return `${threeDigits(seconds * 1e3)} ms`;
  if (seconds < 99.95) return `${threeDigits(seconds)} s`;
  return longDuration(seconds);
}

// longDuration is in whole seconds, minutes or hours, for ages.
export function longDuration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

export function percent(share) {
  return Number.isFinite(share) ? `${Math.round(share * 100)} %` : UNKNOWN;
}

export function count(number) {
  return number.toLocaleString("en");
}

// plural is a number and its noun.
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

export function time(date) {
  return date.toLocaleTimeString("en-GB");
}

// zonedTime also says of which time zone it is: that of the browser.
export function zonedTime(date) {
  return date.toLocaleTimeString("en-GB", { timeZoneName: "short" });
}

export function minute(date) {
  return date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
}

// quantity is a number in the unit that the name ends in.
export function quantity(name, value) {
  if (name.endsWith("bytes_per_second")) return rate(value);
  if (name.endsWith("bytes")) return bytes(value);
  if (name.endsWith("seconds")) return duration(value);
  return value.toLocaleString("en", { maximumSignificantDigits: 6 });
}

// setting is what an order sets, in words.
export function setting(given) {
  if (!given) return "no lease";
  const { name } = given;
  if (given.text !== undefined) return `${name} ${given.text}`;
  if (given.number === undefined) return name;
  const words = name.replace(/_(bytes_per_second|bytes|seconds)$/, "").replaceAll("_", " ");
  return `${words} ${quantity(name, given.number)}`;
}

// word is the value of an enumeration without its prefix: "KIND_LOG_PLACEMENT" is "log-placement".
export function word(value, prefix) {
  return value.replace(prefix, "").toLowerCase().replaceAll("_", "-");
}

// seconds reads a duration of Protocol Buffers, "1.5s"; null if there is none.
export function seconds(text) {
  return text ? Number.parseFloat(text) : null;
}
