// The colours of the style sheet: light, dark or for print.

const rgb = (name) => {
  const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
};

// Steps on either side of zero.
const STEPS = 128;

// 2 STEPS + 1 colours from opposite over zero to alike, as pixels of an image.
function palette() {
  const [opposite, zero, alike] = [rgb("--opposite"), rgb("--zero"), rgb("--alike")];
  return Uint32Array.from({ length: 2 * STEPS + 1 }, (_, i) => {
    const strength = Math.abs(i - STEPS) / STEPS;
    const end = i < STEPS ? opposite : alike;
    const [r, g, b] = zero.map((c, k) => Math.round(c + strength * (end[k] - c)));
    return (255 << 24) | (b << 16) | (g << 8) | r;
  });
}

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
