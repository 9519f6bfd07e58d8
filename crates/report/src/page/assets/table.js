// The table of tasks: a click on a column head sorts it, the search filters it.

const table = (() => {
  const body = byId("task-table").tBodies[0];
  const heads = [...byId("task-table").tHead.rows[0].cells];
  const rows = [...body.rows];
  // Until they are sorted, rows are in the order of the model.
  rows.forEach((row, t) => { row.dataset.task = t; });
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  // Numbers by size, names in natural order (2 before 10); missing values come last in both directions.
  function sort(column) {
    const head = heads[column];
    const numeric = "numeric" in head.dataset;
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numeric;
    const sign = down ? -1 : 1;
    const key = (row) => {
      const cell = row.cells[column];
      if (!numeric) return cell.textContent;
      return cell.dataset.sort === undefined ? null : Number(cell.dataset.sort);
    };
    const keyed = rows.map((row) => [key(row), row]);
    keyed.sort(([a], [b]) => {
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (numeric ? a - b : collator.compare(a, b));
    });
    body.replaceChildren(...keyed.map(([, row]) => row));
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  }
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => sort(column)));

  listeners.push((what) => {
    if (what !== "search") return;
    for (const row of rows) row.hidden = state.words !== "" && !state.found.has(Number(row.dataset.task));
  });
})();
