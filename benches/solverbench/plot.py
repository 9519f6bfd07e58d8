"""Plots with logarithmic axes, as SVG."""

import math
from xml.sax.saxutils import escape

COLOURS = ["#1b6ca8", "#d1495b", "#3a7d44", "#8a5a9e", "#b07d12"]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 460, 320, 62, 34, 16, 44


def decades(values):
    """Whole powers of ten around the values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def text(x, y, what, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(what)}</text>'


def panel(name, unit, curves):
    """One pair of axes: what grows, what is measured, and points of each curve."""
    points = [point for curve in curves.values() for point in curve]
    parts = [text(WIDTH / 2, 18, f"{unit} over {name}", more=' font-weight="bold"')]
    if not points:
        return [*parts, text(WIDTH / 2, HEIGHT / 2, "nothing solved")]
    (x0, x1), (y0, y1) = decades([p[0] for p in points]), decades([p[1] for p in points])
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    at_x = lambda x: LEFT + (math.log10(x) - x0) / (x1 - x0) * (right - LEFT)
    at_y = lambda y: bottom - (math.log10(y) - y0) / (y1 - y0) * (bottom - TOP)
    label = lambda e: f"{10**e:,}" if 0 <= e <= 5 else f"{10.0**e:g}"
    for e in range(x0, x1 + 1):
        x = at_x(10.0**e)
        parts += [f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#ddd"/>', text(x, bottom + 16, label(e))]
    for e in range(y0, y1 + 1):
        y = at_y(10.0**e)
        parts += [f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#ddd"/>', text(LEFT - 6, y + 4, label(e), "end")]
    parts += [f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" fill="none" stroke="#666"/>']
    parts += [text((LEFT + right) / 2, HEIGHT - 8, name)]
    for i, (title, curve) in enumerate(curves.items()):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in curve)
        parts += [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>']
        parts += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3" fill="{colour}"/>' for x, y in curve]
        parts += [text(LEFT + 8, TOP + 16 + 15 * i, title, "start", f' fill="{colour}"')]
    return parts


def svg(panels, columns):
    """Panels side by side, then below."""
    rows = -(-len(panels) // columns)
    width, height = columns * WIDTH, rows * HEIGHT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">']
    out += [f'<rect width="{width}" height="{height}" fill="white"/>']
    for i, (name, unit, curves) in enumerate(panels):
        x, y = (i % columns) * WIDTH, (i // columns) * HEIGHT
        out += [
            f'<g transform="translate({x} {y})" font-family="sans-serif" font-size="12">',
            *panel(name, unit, curves),
            "</g>",
        ]
    return "\n".join([*out, "</svg>", ""])
