"""A batch among whose repros some take more than they may, or kill what is not theirs; and one whose folder goes away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bisect_tool.errors import OutputNotWritten
from bisect_tool.reports import events
from bisect_tool.trials.limits import DISK, MEMORY, PROCESSES
from tests.rig.direct_batches import DirectBatches, direct_batches, failing

FILLS = "while True:\n    open('much', 'ab').write(bytes(10**6))\n"
EATS = "kept = []\nwhile True:\n    kept.append(b'x' * 10**7)\n"
FORKS = "import os, time\nfor _ in range(40):\n    os.fork() or time.sleep(600)\ntime.sleep(600)\n"
KILLS_ITS_PARENT = "import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(600)\n"


@pytest.fixture
def batch(tmp_path: Path) -> Iterator[DirectBatches]:
    with direct_batches(tmp_path) as made:
        yield made


def test_repros_that_take_too_much_or_kill_their_parent_cost_nobody_else_an_answer(batch: DirectBatches) -> None:
    batch.publish(2, failing({"good": [1]}))
    batch.environ |= {DISK: "20MB", MEMORY: "300MB", PROCESSES: "20"}
    batch.spec("good")
    for name, script in {"fills": FILLS, "eats": EATS, "forks": FORKS, "kills": KILLS_ITS_PARENT}.items():
        batch.spec(name, script=script)
    told = batch.run()
    assert {name: (line.status, line.outcome) for name, line in told.items()} == {
        "good": ("answered", "exact"),
        "fills": ("answered", "not judged"),
        "eats": ("answered", "not judged"),
        "forks": ("answered", "not judged"),
        "kills": ("failed", None),
    }
    error = told["kills"].error
    assert error is not None
    assert (error.kind, "killed" in error.what) == ("MachineFault", True)
    assert not list((batch.folder / "cache").rglob("much"))


def test_results_that_cannot_be_written_stop_the_batch_and_cost_no_answer(batch: DirectBatches) -> None:
    batch.publish(3, failing({"one": [2]}))
    batch.spec("one")

    def spoil(event: events.Event) -> None:
        if isinstance(event, events.TrialFinished) and not (batch.out / "specs").exists():
            (batch.out / "specs").write_text("in its place")

    with pytest.raises(OutputNotWritten):
        batch.run(hear=spoil)
    assert batch.lines()["one"].status == "unfinished"
    (batch.out / "specs").unlink()
    again = batch.run()["one"]
    assert (again.outcome, again.trials) == ("exact", 0)
