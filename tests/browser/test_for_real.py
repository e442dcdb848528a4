"""One question from the form to the answer: `bisect serve` with its worker, over a toy package from a local index."""

from __future__ import annotations

import json

from playwright.sync_api import Browser, expect

from tests.browser.conftest import MINUTE
from tests.integration.conftest import Place, failing, history, place
from tests.rig.server import server

__all__ = ["place"]

SCRIPT = 'import sys\nimport toy\nfor case in sys.argv[1:] or ["main"]:\n    toy.run(case)\n'


def test_asked_in_a_browser_answered_and_shown_with_its_evidence(browser: Browser, place: Place) -> None:
    place.publish(history(6, failing([3, 4, 5])))
    spec = {
        "name": "in-a-browser",
        "package": "toy",
        "channel": "release",
        "device": "cpu",
        "flaky": "no",
        "script": "repro.py",
    }
    complaints: list[str] = []
    with server(place.command("serve"), place.environ(), place.root) as served:
        page = browser.new_page(base_url=served.address)
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.goto("/ask")
        page.get_by_label("Spec (YAML)").fill(json.dumps(spec))
        page.get_by_label("Script", exact=True).fill(SCRIPT)
        page.get_by_role("button", name="Ask", exact=True).click()
        # The page loads itself anew once the answer is there.
        expect(page.get_by_role("heading", name="Answer")).to_be_visible(timeout=2 * MINUTE)
        expect(page.locator(".answer")).to_contain_text("appeared in 1.3")
        page.get_by_role("row", name="with 1.3").get_by_role("link", name="log").first.click()
        expect(page.get_by_role("region", name="What trial 1 printed")).to_contain_text(
            "RuntimeError: gradient is all zero"
        )
        page.goto("/workers")
        expect(page.get_by_text("Nothing waits.")).to_be_visible()
        page.close()
        assert served.stop() == 0
    assert complaints == []
