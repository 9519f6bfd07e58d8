"""The report of the demo: every control does what it says."""

import math
import re

import pytest
from page import Keys, Theta, right, three_digits


@pytest.fixture(scope="module")
def theta(command, demo):
    return Theta(command, demo / "model.safetensors")


@pytest.fixture
def page(browser, demo):
    yield browser.open(demo / "report.html")
    browser.quiet()


def test_all_sections_are_there_and_say_what_was_found(page):
    for place in ["fitted", "certificate", "theta", "tasks", "joining", "path"]:
        assert page.find(f"#{place} h2").text
    assert page.texts(".hint") == []
    assert re.search(r"can be better than this one by more than [\d.]+ %", page.find("#certificate .lead").text)
    assert re.match(r"Joint learning (helped|made|hurt)", page.find("#joining h2").text)
    assert len(page.all("#certificate .plot")) >= 2 and len(page.all("#path .plot")) == 2
    assert len(page.all("#joining .plot circle")) == 20


def test_hovering_shows_names_and_values(page, theta):
    page.show_map()
    seen = {}
    for x in range(100, 700, 140):
        for y in range(20, 640, 150):
            tip = page.hover(x, y)
            if tip:
                right(tip, theta)
                seen[tip[0]] = tip[1]
    assert len(seen) > 12
    assert page.hover(2, 2) is None, "the tree is not the map"


def test_the_keyboard_reaches_every_cell_in_order(page, theta):
    page.focus_map()
    page.press(Keys.ARROW_RIGHT)
    assert page.tip()[0] == (theta.names[0], theta.names[0])
    for j in (1, 2, 3):
        page.press(Keys.ARROW_RIGHT)
        assert page.tip()[0] == (theta.names[0], theta.names[j])
        right(page.tip(), theta)
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_LEFT)
    assert page.tip()[0] == (theta.names[2], theta.names[2])
    page.press(Keys.ESCAPE)
    assert page.tip() is None


def test_everything_can_be_reached_with_tab(page):
    reached = set()
    page.find("body").click()
    for _ in range(40):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        name = "return e.id || e.name || e.parentElement.dataset.key || e.className"
        reached.add(page.js(f"const e = document.activeElement; {name}"))
    expected = {"view", "shape", "threshold", "search", "map", "zoom-in", "filter", "scroll", "rows", "gain"}
    assert expected <= reached, reached


def test_switching_changes_values_and_picture(page, theta):
    pictures = set()
    views = [("correlation", theta.correlation), ("functions", theta.functions), ("raw", theta.raw), ("log", None)]
    for view, values in views:
        page.click(f"input[value={view}]")
        expected = theta.strongest(theta.raw if values is None else values)
        shown = page.texts("#strongest .names"), page.texts("#strongest button > span:last-child")
        assert len(shown[0]) == 16
        for text, number, (names, value) in zip(*shown, expected):
            assert set(text.split(" – ")) == names
            size = math.log1p(abs(value)) if values is None else value
            assert three_digits(float(number), size)
        pictures.add(page.pixels()[1])
    assert len(pictures) == 4


def test_the_threshold_hides_weak_relations(page, theta):
    coloured, kept = page.pixels()[0], None
    for threshold in (0.1, 0.2, 0.4, 0.99):
        page.threshold(threshold)
        assert page.find("#threshold-value").text == f"{threshold:.2f}"
        assert page.find("#status").text == f"{theta.pairs_from(threshold)} of 190 pairs shown"
        now = page.pixels()[0]
        assert now < coloured
        coloured = now
        kept = len(page.all("#strongest li"))
    assert kept == theta.pairs_from(0.99) == 0


def test_zoom_shows_fewer_cells_and_all_again(page):
    def cells():
        return {page.hover(x, 300)[0] for x in range(90, 690, 85)}

    page.show_map()
    before = cells()
    page.click("#zoom-in"), page.click("#zoom-in")
    page.show_map()
    assert len(cells()) < len(before)
    page.click("#zoom-all")
    page.show_map()
    assert cells() == before
    page.focus_map()
    page.press("+", "+", "+", "+")
    assert len(cells()) < len(before)


def test_search_finds_in_map_and_table(page):
    plain = page.pixels()[1]
    page.type("#search", "G2-t")
    assert page.find("#status").text == "6 tasks found"
    assert page.find("#filter").get_attribute("value") == "G2-t"
    visible = [row[0] for row in page.task_rows()]
    assert len(visible) == 6 and all(name.startswith("g2-t") for name in visible)
    assert page.pixels()[1] != plain, "found names are marked"
    page.type("#search", "g3-t15")
    page.press(Keys.ENTER)
    assert page.tip()[0] == ("g3-t15", "g3-t15")
    page.type("#search", "nobody")
    assert page.find("#status").text == "no task has this in its name"


def column(page, key):
    heads = page.js("return [...document.querySelectorAll('#task-table th')].map((h) => h.dataset.key)")
    at = heads.index(key)
    return at, [row[at] for row in page.task_rows()]


@pytest.mark.parametrize("key", ["gain", "cross-validated", "score"])
def test_numbers_are_sorted_both_ways(page, key):
    at, before = column(page, key)
    page.click(f"#task-table th:nth-child({at + 1}) button")
    down = [float(x) for x in column(page, key)[1]]
    assert down == sorted(down, reverse=True) and down != [float(x) for x in before]
    page.click(f"#task-table th:nth-child({at + 1}) button")
    assert [float(x) for x in column(page, key)[1]] == sorted(down)
    assert page.find(f"#task-table th:nth-child({at + 1})").get_attribute("aria-sort") == "ascending"


def test_names_are_sorted_and_rows_stay_whole(page, theta):
    rows = {row[0]: row for row in page.task_rows()}
    page.click("#task-table th:first-child button"), page.click("#task-table th:first-child button")
    names = column(page, "name")[1]
    assert names == sorted(theta.names, reverse=True)
    assert all(rows[row[0]] == row for row in page.task_rows())
    # The nearest kin is the one whose fitted function has the largest correlation.
    at, kin = column(page, "kin")
    for name, text in zip(names, kin):
        row = theta.functions[theta.at[name]].copy()
        row[theta.at[name]] = -1
        assert row.max() > 0
        assert text == f"{theta.names[row.argmax()]} ({row.max():.2f})"


def test_the_graph_has_the_strongest_links(page, theta):
    page.click("input[value=graph]")
    assert page.find("#graph-view").is_displayed() and not page.find("#map-view").is_displayed()
    links = page.texts("#graph line title")
    for text in links:
        names, value = text.rsplit(": correlation ", 1)
        a, b = names.split(" – ")
        assert three_digits(float(value), theta.correlation[theta.at[a], theta.at[b]])
    assert len(page.all("#graph .node")) == 20
    page.threshold(0.4)
    assert len(page.all("#graph line")) < len(links)
    page.type("#search", "lone")
    assert len(page.all("#graph .node.found")) == 2
    page.screenshot("demo-graph")
    # A relation of the list leads back to the map.
    page.click("#strongest li:first-child button")
    assert page.find("#map-view").is_displayed()
    assert set(page.tip()[0]) == theta.strongest(theta.correlation)[0][0]


def contrast(page, ink, paper):
    """Of two custom properties, as WCAG 2 defines it."""
    def luminance(name):
        text = page.js("return getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim()", name)
        parts = [int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    a, b = sorted([luminance(ink), luminance(paper)])
    return (b + 0.05) / (a + 0.05)


def test_light_and_dark_can_be_read(page):
    page.screenshot("demo-light")
    light = page.pixels()[1]
    for dark in (False, True):
        page.emulate(dark=dark)
        page.frame()
        for ink in ("--ink", "--soft", "--accent"):
            for paper in ("--paper", "--panel"):
                assert contrast(page, ink, paper) >= 4.5, (dark, ink, paper)
    background = page.js("return getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", background))) < 150
    assert page.pixels()[1] != light, "the map has other colours in the dark"
    page.screenshot("demo-dark")


def test_a_narrow_screen_needs_no_sideways_scrolling(page):
    page.size(400, 900)
    page.frame()
    assert page.js("return document.documentElement.scrollWidth") <= 400
    assert page.js("return [...document.querySelectorAll('figure')].every((f) => f.scrollWidth <= f.clientWidth)")
    beyond = """
        const inside = (e, box) => e.right <= box.right + 1 && e.left >= box.left - 1;
        return [...document.querySelectorAll('.plot')].flatMap((plot) =>
            [...plot.querySelectorAll('rect, circle, text')].filter((part) =>
                !inside(part.getBoundingClientRect(), plot.getBoundingClientRect()))).length
             + [...document.querySelectorAll('.strongest .names')].filter((e) => e.scrollWidth > e.clientWidth).length
    """
    assert page.js(beyond) == 0, "no bar, dot or name is cut"
    page.screenshot("demo-narrow")


def test_on_paper_there_are_no_controls_and_the_whole_table(page):
    page.emulate(dark=True, media="print")
    page.size(800, 1100)
    page.frame()
    for css in (".controls", ".zoom", "#filter"):
        assert not page.find(css).is_displayed()
    box = page.js("const s = document.querySelector('.scroll'); return [s.clientHeight, s.scrollHeight]")
    assert box[0] == box[1] > 400
    assert page.js("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.screenshot("demo-print")
