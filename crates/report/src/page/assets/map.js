// The heat map with its tree, for mouse, touch and keyboard.

const map = (() => {
  if (!drawn) return null;
  const canvas = byId("map"), tip = byId("tip"), stage = byId("stage");
  const context = canvas.getContext("2d");
  // The part in view: first cell and number of cells.
  const part = { x: 0, y: 0, size: n };
  let layout = { left: 0, top: 0, side: 1, cell: 1, tree: 0, room: 0 };
  // The cell under the pointer: row and column in the order of the map.
  let cursor = null;

  const font = (bold) => `${bold ? "600 " : ""}11px system-ui, sans-serif`;
  context.font = font(true);
  const widest = Math.max(...names.slice(0, 400).map((name) => context.measureText(name.slice(0, 40)).width));

  function measure() {
    const width = stage.clientWidth;
    const narrow = width < 560;
    const tree = narrow ? 34 : 76;
    const room = Math.min(widest + 14, narrow ? 84 : 150);
    const side = Math.min(width - tree - room, 760);
    layout = { left: tree, top: 6, side, cell: side / part.size, tree, room };
    const ratio = window.devicePixelRatio || 1;
    const height = side + room + 12;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  function draw() {
    measure();
    const { left, top, side, cell } = layout;
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingEnabled = false;
    const { image, unit } = cells.image(part.size);
    context.drawImage(image, part.x / unit, part.y / unit, part.size / unit, part.size / unit, left, top, side, side);
    context.strokeStyle = css("--line");
    context.strokeRect(left - 0.5, top - 0.5, side + 1, side + 1);
    drawTree();
    drawNames();
    drawCursor();
  }

  function drawTree() {
    const { top, side, cell, tree } = layout;
    const x = (height) => tree - 6 - height * (tree - 10);
    const y = (at) => top + (at + 0.5 - part.y) * cell;
    context.save();
    context.beginPath();
    context.rect(0, top, tree, side);
    context.clip();
    context.beginPath();
    context.strokeStyle = css("--soft");
    context.lineWidth = cell < 3 ? 0.5 : 1;
    for (const { a, b, height } of cells.branches) {
      context.moveTo(x(a.height), y(a.at));
      context.lineTo(x(height), y(a.at));
      context.lineTo(x(height), y(b.at));
      context.lineTo(x(b.height), y(b.at));
    }
    context.stroke();
    context.restore();
  }

  // As many names as fit, and always those that were searched for and those of the current cell.
  function drawNames() {
    const { left, top, side, cell, room } = layout;
    const every = Math.max(1, Math.ceil(12 / cell));
    const [ink, soft, accent] = [css("--ink"), css("--soft"), css("--accent")];
    const first = Math.floor(part.y), firstColumn = Math.floor(part.x);
    const last = Math.min(n, Math.ceil(part.y + part.size));
    const lastColumn = Math.min(n, Math.ceil(part.x + part.size));
    context.textBaseline = "middle";
    context.direction = "ltr";
    const write = (i, pointed, at, upwards) => {
      if (at < 0 || at > side) return;
      const found = state.found.has(order[i]);
      if (i % every !== 0 && !found && !pointed) return;
      context.font = font(found || pointed);
      context.fillStyle = found ? accent : pointed ? ink : soft;
      const text = fitting(names[order[i]], room - 10);
      context.save();
      if (upwards) {
        context.translate(left + at, top + side + 7);
        context.rotate(Math.PI / 2);
      } else {
        context.translate(left + side + 7, top + at);
      }
      // A background where names overlap.
      if (every > 1 && (found || pointed)) {
        context.fillStyle = css("--paper");
        context.fillRect(-3, -8, room, 16);
        context.fillStyle = found ? accent : ink;
      }
      context.fillText(text, 0, 0);
      if (found) context.fillRect(-6, -Math.max(cell, 2) / 2, 3, Math.max(cell, 2));
      context.restore();
    };
    const rows = span(first, last), columns = span(firstColumn, lastColumn);
    const emphasised = (i, own) => state.found.has(order[i]) || own === i;
    for (const [list, own, from, upwards] of [[rows, cursor?.i, part.y, false], [columns, cursor?.j, part.x, true]]) {
      const sorted = [...list.filter((i) => !emphasised(i, own)), ...list.filter((i) => emphasised(i, own))];
      for (const i of sorted) write(i, own === i, (i + 0.5 - from) * cell, upwards);
    }
  }

  const span = (from, to) => Array.from({ length: Math.max(0, to - from) }, (_, k) => from + k);

  function fitting(text, width) {
    if (context.measureText(text).width <= width) return text;
    const letters = Array.from(text.slice(0, 120));
    while (letters.length > 1 && context.measureText(letters.join("") + "…").width > width) letters.pop();
    return letters.join("") + "…";
  }

  function drawCursor() {
    if (!cursor) return;
    const { left, top, side, cell } = layout;
    const x = left + (cursor.j - part.x) * cell, y = top + (cursor.i - part.y) * cell;
    context.save();
    context.beginPath();
    context.rect(left, top, side, side);
    context.clip();
    context.fillStyle = css("--ink");
    context.globalAlpha = 0.07;
    context.fillRect(left, y, side, Math.max(cell, 1));
    context.fillRect(x, top, Math.max(cell, 1), side);
    context.globalAlpha = 1;
    context.strokeStyle = css("--ink");
    context.lineWidth = 1.5;
    context.strokeRect(x, y, Math.max(cell, 3), Math.max(cell, 3));
    context.restore();
  }

  function tell() {
    tip.hidden = !cursor;
    if (!cursor) return;
    const r = order[cursor.i], s = order[cursor.j];
    const lines = [["b", names[r]]];
    if (r !== s) lines.push(["b", names[s]]);
    lines.push(["span", `correlation ${short(correlation(r, s))}`], ["span", `Theta ${short(raw(r, s))}`]);
    if (alike) lines.push(["span", `fitted functions ${short(functions(r, s))}`]);
    lines.push(["span", `log(1 + |Theta|) ${short(log(r, s))}`]);
    tip.replaceChildren(...lines.map(([kind, text]) => {
      const line = document.createElement(kind);
      line.textContent = text;
      line.dir = "auto";
      return line;
    }));
    const { left, top, cell } = layout;
    const x = left + (cursor.j + 1 - part.x) * cell + 12, y = top + (cursor.i + 1 - part.y) * cell + 12;
    const free = stage.clientWidth - tip.offsetWidth - 4;
    const below = y + tip.offsetHeight < stage.clientHeight;
    tip.style.left = `${Math.max(0, Math.min(x, free))}px`;
    tip.style.top = `${below ? y : Math.max(0, y - tip.offsetHeight - cell - 24)}px`;
  }

  // Draws at most once per frame.
  let waiting = false;
  function refresh() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); tell(); });
  }

  function point(i, j) {
    const inside = i >= 0 && j >= 0 && i < n && j < n;
    cursor = inside ? { i, j } : null;
    refresh();
  }

  // Moves the part in view: inside the matrix, at least three cells.
  function look(x, y, size) {
    part.size = Math.min(n, Math.max(Math.min(3, n), size));
    part.x = Math.min(n - part.size, Math.max(0, x));
    part.y = Math.min(n - part.size, Math.max(0, y));
    refresh();
  }

  // Zooms around a cell, which keeps its position.
  function zoom(factor, x = part.x + part.size / 2, y = part.y + part.size / 2) {
    const size = Math.min(n, Math.max(Math.min(3, n), part.size * factor));
    const kept = size / part.size;
    look(x - (x - part.x) * kept, y - (y - part.y) * kept, size);
  }

  // Shows a pair, large enough to read names.
  function show(r, s) {
    const size = Math.min(part.size, Math.max(3, layout.side / 14));
    const [i, j] = [place[r], place[s]];
    look(j + 0.5 - size / 2, i + 0.5 - size / 2, size);
    point(i, j);
  }

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return {
      x: part.x + (event.clientX - box.left - layout.left) / layout.cell,
      y: part.y + (event.clientY - box.top - layout.top) / layout.cell,
    };
  };
  const inView = ({ x, y }) => x >= part.x && y >= part.y && x < part.x + part.size && y < part.y + part.size;

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse") drag = { ...at(event), moved: false };
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = at(event);
    if (drag && part.size < n) {
      look(part.x + drag.x - now.x, part.y + drag.y - now.y, part.size);
      return;
    }
    if (inView(now)) point(Math.floor(now.y), Math.floor(now.x));
    else point(-1, -1);
  });
  window.addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => {
    if (document.activeElement !== canvas || !cursor?.byKey) point(-1, -1);
  });
  canvas.addEventListener("dblclick", (event) => { const { x, y } = at(event); zoom(0.5, x, y); });
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const { x, y } = at(event);
    zoom(event.deltaY > 0 ? 1.25 : 0.8, x, y);
  }, { passive: false });

  function step(di, dj) {
    const from = cursor ?? { i: Math.floor(part.y) - di, j: Math.floor(part.x) - dj };
    const inside = (k) => Math.min(n - 1, Math.max(0, k));
    const [i, j] = [inside(from.i + di), inside(from.j + dj)];
    const pulled = (start, k) => (k < start ? k : k + 1 > start + part.size ? k + 1 - part.size : start);
    look(pulled(part.x, j), pulled(part.y, i), part.size);
    point(i, j);
    cursor.byKey = true;
  }
  const keys = {
    ArrowUp: () => step(-1, 0), ArrowDown: () => step(1, 0),
    ArrowLeft: () => step(0, -1), ArrowRight: () => step(0, 1),
    "+": () => zoomAtCursor(0.7), "=": () => zoomAtCursor(0.7), "-": () => zoomAtCursor(1 / 0.7),
    "0": () => look(0, 0, n),
    Escape: () => point(-1, -1),
  };
  const zoomAtCursor = (factor) => (cursor ? zoom(factor, cursor.j + 0.5, cursor.i + 0.5) : zoom(factor));
  canvas.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  });
  canvas.addEventListener("blur", () => point(-1, -1));

  byId("zoom-in").addEventListener("click", () => zoom(0.6));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 0.6));
  byId("zoom-all").addEventListener("click", () => look(0, 0, n));

  function legend() {
    const { largest, signed } = views[state.view];
    const [opposite, zero, alike] = [css("--opposite"), css("--zero"), css("--alike")];
    byId("scale-low").textContent = signed ? short(-largest) : "0";
    // Diagonal values may be larger.
    const beyond = order.some((t) => views[state.view].value(t, t) > 1.005 * largest);
    byId("scale-high").textContent = short(largest) + (beyond ? " or more" : "");
    byId("scale-bar").style.background = `linear-gradient(to right, ${signed ? `${opposite}, ` : ""}${zero}, ${alike})`;
  }

  const repaint = () => { cells.paint(); legend(); refresh(); };
  listeners.push((what) => (what === "search" ? refresh() : repaint()));
  new ResizeObserver(refresh).observe(stage);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) {
    matchMedia(query).addEventListener("change", () => { cells.paint(); legend(); draw(); });
  }
  cells.paint();
  legend();
  draw();
  return { show };
})();
