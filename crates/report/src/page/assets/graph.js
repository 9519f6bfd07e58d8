// The graph: tasks as points, their strongest links as lines. Drawn when it is first shown.

const graph = (() => {
  if (!drawn) return null;
  const svg = byId("graph");
  const WIDTH = 900, HEIGHT = 620, MARGIN = 60;
  const MAX_LINKS = 240, LINKS_PER_TASK = 2, MAX_TASKS_WITHOUT_LINKS = 60;

  // The strongest links of each task above the threshold.
  function links() {
    const best = Array.from({ length: n }, () => []);
    const offer = (r, s, size) => {
      const own = best[r];
      if (own.length === LINKS_PER_TASK && own[LINKS_PER_TASK - 1].size >= size) return;
      own.push({ s, size });
      own.sort((a, b) => b.size - a.size);
      if (own.length > LINKS_PER_TASK) own.pop();
    };
    for (let r = 1; r < n; r++) {
      for (let s = 0; s < r; s++) {
        const size = Math.abs(related(r, s));
        if (size < 1e-6 || !passes(r, s)) continue;
        offer(r, s, size);
        offer(s, r, size);
      }
    }
    const seen = new Map();
    best.forEach((own, r) => own.forEach(({ s, size }) => {
      const [a, b] = [Math.min(r, s), Math.max(r, s)];
      seen.set(a * n + b, { a, b, size, value: related(a, b) });
    }));
    return [...seen.values()].sort((p, q) => q.size - p.size).slice(0, MAX_LINKS);
  }

  // Springs along links and repulsion between all tasks. Starts from a circle in the order of the map, so that the
  // picture is always the same.
  function layOut(tasks, edges) {
    const rank = new Map();
    data.order.filter((t) => tasks.has(t)).forEach((t, i, all) => rank.set(t, (2 * Math.PI * i) / all.length));
    const points = new Map([...tasks].map((t) => [t, { x: Math.cos(rank.get(t)), y: Math.sin(rank.get(t)) }]));
    const list = [...points.values()];
    const ideal = 1.6 / Math.sqrt(Math.max(list.length, 1));
    for (let round = 0; round < 300; round++) {
      const heat = 0.12 * (1 - round / 300);
      for (const p of list) { p.dx = -p.x; p.dy = -p.y; }
      for (let i = 1; i < list.length; i++) {
        for (let j = 0; j < i; j++) {
          const [p, q] = [list[i], list[j]];
          const dx = p.x - q.x, dy = p.y - q.y, far = Math.max(dx * dx + dy * dy, 1e-4);
          const push = (ideal * ideal) / far;
          p.dx += dx * push; p.dy += dy * push; q.dx -= dx * push; q.dy -= dy * push;
        }
      }
      for (const { a, b, size } of edges) {
        const [p, q] = [points.get(a), points.get(b)];
        const dx = p.x - q.x, dy = p.y - q.y, pull = (Math.hypot(dx, dy) / ideal) * (0.3 + size);
        p.dx -= dx * pull; p.dy -= dy * pull; q.dx += dx * pull; q.dy += dy * pull;
      }
      for (const p of list) {
        const force = Math.hypot(p.dx, p.dy) || 1, go = Math.min(force, heat) / force;
        p.x += p.dx * go; p.y += p.dy * go;
      }
    }
    const fit = (pick, room) => {
      const all = list.map(pick), low = Math.min(...all), high = Math.max(...all);
      return (v) => MARGIN + (high > low ? (v - low) / (high - low) : 0.5) * (room - 2 * MARGIN);
    };
    const x = fit((p) => p.x, WIDTH), y = fit((p) => p.y, HEIGHT);
    return (t) => ({ x: x(points.get(t).x), y: y(points.get(t).y) });
  }

  const make = (kind, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", kind);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const shortName = (name) => {
    const letters = Array.from(name);
    return letters.length > 24 ? letters.slice(0, 23).join("") + "…" : name;
  };

  function draw() {
    const edges = links();
    const tasks = new Set(n <= MAX_TASKS_WITHOUT_LINKS ? names.keys() : edges.flatMap(({ a, b }) => [a, b]));
    const spot = layOut(tasks, edges);
    const lines = edges.map(({ a, b, size, value }) => {
      const [p, q] = [spot(a), spot(b)];
      const line = make("line", {
        x1: p.x.toFixed(1), y1: p.y.toFixed(1), x2: q.x.toFixed(1), y2: q.y.toFixed(1),
        class: value < 0 ? "opposite" : "alike", "data-a": a, "data-b": b,
        "stroke-width": (0.8 + 5 * size * size).toFixed(2), "stroke-opacity": (0.25 + 0.6 * size).toFixed(2),
      });
      line.append(make("title", {}, `${names[a]} – ${names[b]}: correlation ${short(value)}`));
      return line;
    });
    const dots = [...tasks].map((t) => {
      const { x, y } = spot(t);
      const group = make("g", { class: state.found.has(t) ? "node found" : "node", "data-task": t });
      const right = x > WIDTH - 140;
      const named = tasks.size <= 120 || state.found.has(t);
      const anchor = { x: (right ? x - 9 : x + 9).toFixed(1), "text-anchor": right ? "end" : "start" };
      group.append(
        make("title", {}, names[t]),
        make("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 5 }),
        make("text", { ...anchor, y: (y + 4).toFixed(1) }, named ? shortName(names[t]) : ""),
      );
      group.addEventListener("pointerenter", () => lines.forEach((line) =>
        line.classList.toggle("faint", Number(line.dataset.a) !== t && Number(line.dataset.b) !== t)));
      group.addEventListener("pointerleave", () => lines.forEach((line) => line.classList.remove("faint")));
      return group;
    });
    svg.replaceChildren(...lines, ...dots);
    svg.setAttribute("aria-label", `Graph of ${tasks.size} tasks and their ${edges.length} strongest links`);
  }

  listeners.push(() => { if (state.shape === "graph") draw(); });
  return { draw };
})();
