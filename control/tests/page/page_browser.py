"""A browser that notes what a page complains about, and waits for conditions."""

import time
from typing import Any

from browser import Browser

DEADLINE_SECONDS = 300.0
PAUSE_SECONDS = 0.05
NETWORK_CHANGED = "ERR_NETWORK_CHANGED"
"""What Chromium says when an interface of this machine comes or goes, as those of test beds do."""


class PageBrowser(Browser):
    """One page of a fresh Chromium, with its complaints."""

    def __enter__(self) -> "PageBrowser":
        self.complaints: list[str] = []
        super().__enter__()
        self.call("Runtime.enable")
        self.call("Log.enable")
        return self

    def _receive(self) -> dict[str, Any]:
        event = super()._receive()
        parameters = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                self.complaints.append(str(details.get("exception", details).get("description")))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                self.complaints.append(str(parameters["args"]))
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                self.complaints.append(parameters["entry"]["text"])
        self.complaints = [text for text in self.complaints if NETWORK_CHANGED not in text]
        return event

    def visit(self, url: str, width: int = 1280, height: int = 900, scheme: str = "light") -> None:
        """Open an address at a size, and wait until the page follows the stream."""
        self.call("Page.navigate", url="about:blank")
        # With the answer to this, what the page before complained about has been read.
        self.evaluate("document.readyState")
        self.complaints.clear()
        self.requests.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)  # fmt: skip
        media = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=media)
        self._navigate(url)
        self.wait_for("['live', 'stale'].includes(document.body?.dataset.connection)")

    def _navigate(self, url: str) -> None:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while problem := self.call("Page.navigate", url=url).get("errorText"):
            if NETWORK_CHANGED not in problem or time.monotonic() > deadline:
                raise AssertionError(f"{url}: {problem}")
            time.sleep(PAUSE_SECONDS)

    def wait_for(self, condition: str) -> None:
        """Wait until an expression is true, or anything else than nothing."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not self.evaluate(f"Boolean({condition})"):
            if time.monotonic() > deadline:
                shown = self.evaluate("document.body.innerText.slice(0, 2000)")
                raise AssertionError(f"never true: {condition}; {self.complaints}; page:\n{shown}")
            time.sleep(PAUSE_SECONDS)

    def text(self, selector: str) -> str:
        """The text of the first element that a selector finds."""
        return self.evaluate(f"document.querySelector({selector!r}).textContent")

    def press(self, key: str) -> None:
        """Press and release a key on what has the focus."""
        for kind in ("keyDown", "keyUp"):
            character = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=KEY_CODES[key], **character)  # fmt: skip


KEY_CODES = {"Enter": 13, "Tab": 9, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowRight": 39}
