// Theta and values derived from it. Tasks are numbered as in the model.

const data = JSON.parse(document.getElementById("theta-data").textContent);
const names = data.names;
const n = names.length;
const drawn = data.order.length > 0;
const byId = (id) => document.getElementById(id);

// Little-endian, like every machine that runs a browser.
function numbersOf(encoded) {
  const text = atob(encoded);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

// Lower triangles, row by row: Theta divided by its largest value, and correlations of fitted functions.
const half = numbersOf(data.theta);
const alike = data.functions ? numbersOf(data.functions) : null;

const entry = (triangle, r, s) => triangle[r >= s ? (r * (r + 1)) / 2 + s : (s * (s + 1)) / 2 + r];
const share = (r, s) => entry(half, r, s);
const inverseRoot = Float64Array.from({ length: drawn ? n : 0 }, (_, t) => {
  const own = share(t, t);
  return own > 0 ? 1 / Math.sqrt(own) : 0;
});

const raw = (r, s) => share(r, s) * data.unit;
function correlation(r, s) {
  const a = inverseRoot[r], b = inverseRoot[s];
  if (a === 0 || b === 0) return 0;
  return r === s ? 1 : Math.max(-1, Math.min(1, share(r, s) * a * b));
}
const functions = (r, s) => entry(alike, r, s);
const log = (r, s) => Math.log1p(Math.abs(raw(r, s)));

// The largest absolute value off the diagonal: diagonal values would leave all others pale.
function largestPair(value) {
  let largest = 0;
  for (let r = 1; r < n; r++) for (let s = 0; s < r; s++) largest = Math.max(largest, Math.abs(value(r, s)));
  return largest > 0 ? largest : Math.abs(value(0, 0));
}

// A view: the value of each pair, and the end of the colour scale, which is computed when it is first needed.
function view(value, signed) {
  let largest;
  return { value, signed, get largest() { return (largest ??= largestPair(value)); } };
}
const views = { correlation: view(correlation, true), raw: view(raw, true), log: view(log, false) };
if (alike) views.functions = view(functions, true);

// Three digits; `even` keeps zeros at the end, for columns.
const short = (x) => String(Number(x.toPrecision(3)));
const even = (x) => (x.toPrecision(3).includes("e") ? short(x) : x.toPrecision(3));

// What the reader chose. `changed` calls the listeners of the parts that depend on it.
const state = { view: "correlation", shape: "map", threshold: 0, found: new Set(), words: "" };
const listeners = [];
const changed = (what) => listeners.forEach((listener) => listener(what));

// The correlation that links and the threshold are about.
const related = (r, s) => (state.view === "functions" ? functions(r, s) : correlation(r, s));
const passes = (r, s) => state.threshold === 0 || r === s || Math.abs(related(r, s)) >= state.threshold;

// The strongest pairs in this view, strongest first.
function strongest(most) {
  const value = views[state.view].value;
  const found = [];
  let least = 0;
  for (let r = 1; r < n; r++) {
    for (let s = 0; s < r; s++) {
      const size = Math.abs(value(r, s));
      if (size <= least || !passes(r, s)) continue;
      let at = found.length;
      while (at > 0 && found[at - 1].size < size) at--;
      found.splice(at, 0, { r, s, size });
      if (found.length > most) found.pop();
      if (found.length === most) least = found[most - 1].size;
    }
  }
  return found;
}
