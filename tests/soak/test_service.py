"""A small version of what `docs/service-queue.md` measures: one server, killed when it has something in its hands."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.soak.moments import Moment
from tests.soak.stage import soak_in

MOMENTS = (Moment.STORE, Moment.SAY, Moment.CALL)
SECONDS = 600.0  # when it gives up


def test_a_server_is_killed_while_it_works_and_while_it_talks() -> None:
    with soak_in(random.Random(0), SECONDS, postgres=False) as soak:
        soak.add_server()
        for first in (1, 2):
            soak.ask(first, over_http=first == 1)
        for moment in MOMENTS:
            assert replace(soak.killer, children=0.0, patience=SECONDS).kill(moment), moment
            soak.pass_time()
            soak.crowd.revive()
        soak.wait(soak.is_quiet)
        soak.crowd.stop()
        soak.check({})
        said = soak.summary()
        assert (said["kills"], said["questions"], said["comments"]) == ({"server": 3}, 2, 2)
        assert said["of them repeated"] in {
            1,
            2,
        }  # that of the last kill; and one that was on its way at the one before
