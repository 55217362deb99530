"""A real browser for tests of the page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

needs_browser = pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")),
    reason="Chromium is not installed: make test installs it where it may",
)


@contextmanager
def browser(width: int = 1440, height: int = 1000) -> Iterator[Chrome]:
    options = Options()
    options.binary_location = str(shutil.which("chromium"))
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{argument}")
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield opened
    finally:
        opened.quit()


def complaints(opened: Chrome) -> list[str]:
    """What the page wrote to the console since it was last asked."""
    return [entry["message"] for entry in opened.get_log("browser")]  # type: ignore[no-untyped-call]
