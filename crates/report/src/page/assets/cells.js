// The cells of the map in the order of the tree, and the tree.

const order = data.order;
const place = new Array(n);
order.forEach((task, i) => { place[task] = i; });

const cells = (() => {
  if (!drawn) return null;
  // One pixel for each cell. If there are more cells than pixels on a screen, also one for the mean of each block.
  const MAX_PIXELS = 700;
  const block = Math.ceil(n / MAX_PIXELS), blocks = Math.ceil(n / block);
  const [fine, coarse] = [n, blocks].map((size) => {
    const image = document.createElement("canvas");
    image.width = image.height = size;
    return image;
  });

  function paint() {
    const { value, largest } = views[state.view];
    const colours = palette();
    const scale = largest > 0 ? STEPS / largest : 0;
    const colour = (x) => colours[STEPS + Math.max(-STEPS, Math.min(STEPS, Math.round(x * scale)))];
    const picture = new ImageData(n, n);
    const pixels = new Uint32Array(picture.data.buffer), sums = new Float64Array(blocks * blocks);
    for (let i = 0; i < n; i++) {
      const r = order[i], from = blocks * Math.floor(i / block);
      for (let j = 0; j <= i; j++) {
        const s = order[j];
        const x = passes(r, s) ? value(r, s) : 0;
        pixels[i * n + j] = pixels[j * n + i] = colour(x);
        sums[from + Math.floor(j / block)] += x;
      }
    }
    fine.getContext("2d").putImageData(picture, 0, 0);
    if (block > 1) paintMeans(sums, colour);
  }

  function paintMeans(sums, colour) {
    const picture = new ImageData(blocks, blocks);
    const dots = new Uint32Array(picture.data.buffer);
    for (let i = 0; i < blocks; i++) {
      for (let j = 0; j <= i; j++) {
        const rows = Math.min(block, n - i * block), columns = Math.min(block, n - j * block);
        // Blocks on the diagonal sum only their lower triangle.
        const count = i === j ? (rows * (rows + 1)) / 2 : rows * columns;
        dots[i * blocks + j] = dots[j * blocks + i] = colour(sums[i * blocks + j] / count);
      }
    }
    coarse.getContext("2d").putImageData(picture, 0, 0);
  }

  // Joins as they are drawn. Heights start at the first distance, which is often most of the last one and would leave
  // no room for the differences.
  const nodes = place.map((at) => ({ at, height: 0 }));
  const lowest = data.joins[0][2], spread = data.joins[n - 2][2] - lowest;
  const branches = data.joins.map(([a, b, distance]) => {
    const height = spread > 0 ? 0.15 + (0.85 * (distance - lowest)) / spread : 1;
    nodes.push({ at: (nodes[a].at + nodes[b].at) / 2, height });
    return { a: nodes[a], b: nodes[b], height };
  });

  // The image to draw this many rows from, and how many cells one of its pixels stands for.
  const image = (rows) => (block > 1 && rows > MAX_PIXELS ? { image: coarse, unit: block } : { image: fine, unit: 1 });
  return { paint, image, branches };
})();

