"""A page in the browser, as its reader sees it, and the numbers it should show, read another way."""

import base64
import csv
import io
import json
import time

import numpy as np
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--window-size=1200,1000",
]


class Browser:
    """Chromium, and what can be done with a page in it."""

    def __init__(self, chromium, driver, profile, screenshots):
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for flag in [*FLAGS, f"--user-data-dir={profile}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        self.screenshots = screenshots

    def quit(self):
        self.driver.quit()

    def open(self, path):
        """Opens a page as on paper white; complains of errors and of requests."""
        self.emulate()
        self.size(1200, 1000)
        self.driver.get("about:blank")
        self.driver.get_log("performance"), self.driver.get_log("browser")
        self.driver.get(path.resolve().as_uri())
        self.wait(lambda: self.js("return performance.getEntriesByName('kinfolk-ready').length") == 1)
        return self

    def quiet(self):
        """Nothing in the console, nothing asked for but the page itself, no dialog."""
        assert self.driver.get_log("browser") == []
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        assert asked == [self.driver.current_url.split("#")[0]], asked
        assert not any(e["method"] == "Page.javascriptDialogOpening" for e in events)

    def js(self, code, *args):
        return self.driver.execute_script(code, *args)

    def wait(self, holds, seconds=20):
        WebDriverWait(self.driver, seconds, poll_frequency=0.03).until(lambda _: holds())

    def frame(self):
        """Until the browser has drawn what is waiting."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
        )

    def emulate(self, dark=False, media=""):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [scheme]})

    def size(self, width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def screenshot(self, name):
        """All of the page."""
        self.frame()
        time.sleep(0.2)
        picture = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
        (self.screenshots / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))

    def find(self, css):
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def all(self, css):
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def texts(self, css):
        return self.js("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", css)

    def click(self, css):
        self.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", css)
        self.find(css).click()
        self.frame()

    def threshold(self, value):
        """Moves the slider, as a hand would."""
        self.js(
            "const s = document.getElementById('threshold'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('input', {bubbles: true}))",
            value,
        )
        self.frame()

    def type(self, css, text):
        field = self.find(css)
        field.clear()
        field.send_keys(text)
        self.frame()

    def press(self, *keys):
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()
        self.frame()

    def show_map(self):
        self.js("document.getElementById('map').scrollIntoView({block: 'center', behavior: 'instant'})")

    def focus_map(self):
        self.show_map()
        self.js("document.getElementById('map').focus()")

    def task_rows(self):
        """The texts of the table of tasks, for each row that is shown."""
        return self.js(
            "return [...document.querySelectorAll('#task-table tbody tr')].filter((row) => !row.hidden)"
            ".map((row) => [...row.cells].map((cell) => cell.textContent))"
        )

    def hover(self, x, y):
        """Points at a place of the map, from its upper left corner; returns the tooltip."""
        box = self.js("const b = document.getElementById('map').getBoundingClientRect(); return [b.left, b.top]")
        self.driver.execute_cdp_cmd(
            "Input.dispatchMouseEvent", {"type": "mouseMoved", "x": box[0] + x, "y": box[1] + y}
        )
        self.frame()
        return self.tip()

    def tip(self):
        """Names of a pair, and its values by name; None if there is no tip."""
        if self.js("return document.getElementById('tip').hidden"):
            return None
        names = self.texts("#tip b")
        values = dict(line.rsplit(" ", 1) for line in self.texts("#tip span"))
        return (names[0], names[-1]), {name: float(value) for name, value in values.items()}

    def pixels(self):
        """How many pixels of the map have a colour, and a checksum of them all."""
        return tuple(
            self.js(
                "const c = document.getElementById('map'), copy = document.createElement('canvas');"
                "copy.width = c.width; copy.height = c.height;"
                "const context = copy.getContext('2d', {willReadFrequently: true}); context.drawImage(c, 0, 0);"
                "const d = context.getImageData(0, 0, c.width, c.height).data;"
                "let n = 0, sum = 0; for (let i = 0; i < d.length; i += 4) {"
                "if (Math.abs(d[i] - d[i + 2]) > 12) n++;"
                "sum = (sum * 31 + d[i] + 256 * d[i + 2]) % 1000003; } return [n, sum]"
            )
        )


class Theta:
    """The task matrix as `kinfolk theta` writes it, in the order of its tree."""

    def __init__(self, command, model):
        def read(*more):
            # A file has names as they are; what is printed has no characters that change the text around them.
            command("theta", model.name, "-o", "theta.csv", "--force", *more, cwd=model.parent)
            text = (model.parent / "theta.csv").read_text(encoding="utf-8")
            head, *rows = csv.reader(io.StringIO(text))
            return head[1:], np.array([[float(x) for x in row[1:]] for row in rows])

        self.names, self.raw = read()
        _, self.correlation = read("--correlation")
        functions_in, functions = read("--of", "functions")
        self.at = {name: i for i, name in enumerate(self.names)}
        # Their tree is another one.
        place = [functions_in.index(name) for name in self.names]
        self.functions = functions[np.ix_(place, place)]

    def pair(self, names):
        """Values of a pair, as a tip should show them."""
        i, j = (self.at[name] for name in names)
        raw = self.raw[i, j]
        correlations = {"correlation": self.correlation[i, j], "fitted functions": self.functions[i, j]}
        return correlations | {"Theta": raw, "log(1 + |Theta|)": np.log1p(abs(raw))}

    def strongest(self, values):
        """Names and sizes of pairs, strongest first."""
        rows, columns = np.triu_indices(len(self.names), 1)
        order = np.argsort(-np.abs(values[rows, columns]), kind="stable")
        return [({self.names[rows[k]], self.names[columns[k]]}, values[rows[k], columns[k]]) for k in order]

    def pairs_from(self, threshold):
        rows, columns = np.triu_indices(len(self.names), 1)
        return int((np.abs(self.correlation[rows, columns]) >= threshold).sum())


def three_digits(shown, value):
    """Whether this is the value in three digits. The page has 32-bit floats, so the last digit may differ by one."""
    return shown == float(f"{value:.2e}") or abs(shown - value) <= 0.501 * 10 ** (np.floor(np.log10(abs(value))) - 2)


def right(tip, theta):
    names, values = tip
    expected = theta.pair(names)
    assert set(values) == set(expected)
    for name, value in expected.items():
        assert three_digits(values[name], value), (names, name, values[name], value)


__all__ = ["Browser", "Keys", "Theta", "right", "three_digits"]
