// The controls, and the list of the strongest relations.

const MAX_LISTED = 16;

function listStrongest() {
  const view = views[state.view];
  byId("strongest").replaceChildren(...strongest(MAX_LISTED).map(({ r, s }) => {
    const item = document.createElement("li"), button = document.createElement("button");
    const pair = document.createElement("span"), value = document.createElement("span");
    button.type = "button";
    pair.className = "names";
    for (const [t, between] of [[r, " – "], [s, ""]]) {
      const name = document.createElement("bdi");
      name.textContent = names[t];
      pair.append(name, between);
    }
    pair.title = `${names[r]} – ${names[s]}`;
    value.textContent = even(view.value(r, s));
    button.append(pair, value);
    button.addEventListener("click", () => {
      choose("shape", "map");
      map.show(r, s);
      byId("stage").scrollIntoView({ block: "nearest" });
    });
    item.append(button);
    return item;
  }));
}

function choose(name, value) {
  byId("controls").elements[name].value = value;
  update(name, value);
}

function update(name, value) {
  state[name] = value;
  if (name === "shape") {
    byId("map-view").hidden = value !== "map";
    byId("graph-view").hidden = value !== "graph";
  }
  changed(name);
}

function say() {
  const parts = [];
  if (state.threshold > 0) {
    let kept = 0;
    for (let r = 1; r < n; r++) for (let s = 0; s < r; s++) if (passes(r, s)) kept++;
    const all = (n * (n - 1)) / 2;
    parts.push(`${kept.toLocaleString("en")} of ${all.toLocaleString("en")} pairs shown`);
  }
  if (state.words !== "") {
    const k = state.found.size;
    parts.push(k === 0 ? "no task has this in its name" : k === 1 ? "1 task found" : `${k} tasks found`);
  }
  byId("status").textContent = parts.join(" · ");
}

// Both search fields hold the same text.
function search(text) {
  state.words = text.trim().toLocaleLowerCase();
  state.found = new Set();
  const matches = (name) => state.words !== "" && name.toLocaleLowerCase().includes(state.words);
  names.forEach((name, t) => { if (matches(name)) state.found.add(t); });
  for (const id of ["search", "filter"]) if (byId(id) && byId(id).value !== text) byId(id).value = text;
  changed("search");
  if (drawn) say();
}
for (const id of ["search", "filter"]) {
  const field = byId(id);
  if (!field) continue;
  field.addEventListener("input", () => search(field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const first = data.order.find((t) => state.found.has(t));
    if (id === "search" && first !== undefined && state.shape === "map") map.show(first, first);
  });
}

if (drawn) {
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  for (const radio of byId("controls").querySelectorAll("input[type=radio]")) {
    radio.addEventListener("change", () => update(radio.name, radio.value));
  }
  byId("threshold").addEventListener("input", (event) => {
    state.threshold = Number(event.target.value);
    byId("threshold-value").textContent = state.threshold.toFixed(2);
    changed("threshold");
  });
  listeners.push((what) => {
    if (what !== "view" && what !== "threshold") return;
    listStrongest();
    say();
  });
  listStrongest();
}

performance.mark("kinfolk-ready");
