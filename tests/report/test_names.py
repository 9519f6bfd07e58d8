"""No name of a task becomes markup or code."""

import csv

import pytest
from page import Keys, Theta, right

NAMES = [
    "</script><script>window.hacked = 1</script>",
    '"><img src="https://example.invalid/x.png" onerror="window.hacked = 2">',
    "<b>bold</b> & 'quoted' \"twice\"",
    "{{ 7 * 7 }}{% raw %}",
    "]]><!-- \\u003c \\ $& `${window.hacked = 3}`",
    "\U0001f43b\u200d\u2744\ufe0f emoji \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\u05de\u05e9\u05d9\u05de\u05d4 \u0645\u0647\u0645\u0629 \u202eabc",
    "long " * 60,
    "plain",
]

SEARCH = """
    const field = document.getElementById("search");
    field.value = arguments[0];
    field.dispatchEvent(new Event("input"));
"""


@pytest.fixture(scope="module")
def hostile(command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    with open(folder / "names.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "x", "z", "y"])
        for t, name in enumerate(NAMES):
            for i in range(8):
                x, z = (i - 3.5) / 2, ((i * 5 + t) % 7) / 3
                writer.writerow([name, x, z, x * (1 + t % 3) - z + 0.1 * (i % 2)])
    words = ["--task", "task", "--target", "y"]
    more = ["--compare", "--folds", 2, "--grid", "strength=1,10", "--results", "r.json", "-o", "names.st", "--quiet"]
    command("select", "names.csv", *words, *more, cwd=folder)
    command("report", "names.st", "names.csv", "--select", "r.json", "-o", "names.html", cwd=folder)
    return folder


def test_names_stay_names(browser, command, hostile):
    theta = Theta(command, hostile / "names.st")
    page = browser.open(hostile / "names.html")
    # The command may trim what csv readers trim; it is the authority on names.
    assert set(page.texts("#task-table tbody td:first-child")) == set(theta.names)
    assert page.js("return window.hacked") is None
    assert page.js("return document.scripts.length") == 3
    assert page.js("return document.querySelectorAll('img, b:not(#tip b), iframe, object').length") == 0
    page.focus_map()
    page.press(Keys.ARROW_RIGHT)
    for i in range(len(theta.names)):
        tip = page.tip()
        assert tip[0] == (theta.names[i], theta.names[i])
        right(tip, theta)
        page.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    page.click("input[value=graph]")
    assert set(page.texts("#graph .node title")) == set(theta.names)
    for name in theta.names:
        # Surrogate pairs cannot be typed by the driver.
        page.js(SEARCH, name)
        assert page.find("#status").text == "1 task found", name
    page.js(SEARCH, "")
    page.click("input[value=map]")
    for width in (1200, 400):
        page.size(width, 900)
        page.frame()
        assert page.js("return document.documentElement.scrollWidth") <= width
        page.screenshot(f"names-{width}")
    page.quiet()
