"""A faithful nightly index of download.pytorch.org on 127.0.0.1, with tiny torch wheels that behave as planned.

By hand: ``python -m tests.rig.nightly_index --from 2026-04-01 --to 2026-10-09 --variants cpu,cu130``. In tests::

    plan = NightlyPlan(
        first=date(2026, 4, 1),
        last=date(2026, 10, 9),
        variants=("cpu", "cu130"),
        pythons=("cp311",),
        changes=(Change("inductor", date(2026, 6, 3), "RuntimeError: gradient is all zero"),),
        dead=[date(2026, 6, 1)],                            # installs, does not import
        missing=(Missing(date(2026, 5, 9), variant="cu130"),),
        stalls=((date(2026, 7, 1), date(2026, 7, 4)),),     # four dates, one main commit
    )
    with NightlyIndex(plan) as index:
        index.address              # http://127.0.0.1:PORT/whl/nightly
        index.default_index        # http://127.0.0.1:PORT/simple/ with filelock, numpy, a triton without +git ...
        index.url(index.torch(date(2026, 6, 3), "cpu"))     # the direct address, listed or hidden
        index.today = date(2026, 8, 1)                      # the evening of that day: 60 versions up to then are listed
        index.faults.add("torch-2.14*", faults.status(503, times=2, retry_after=1), method="HEAD")
        index.faults.storm(seed=7, share=0.05)              # one request in twenty fails, once
        index.replace("torch-*20260603+cpu-*", changes=())  # other bytes under the same name
        index.withdraw("torch-*20260604*")                  # neither listed nor there
        index.hrefs = Hrefs.RELATIVE                        # the outage of the second host
        index.requests.counts()                             # {("HEAD", "file"): 12, ("GET", "page"): 1, ...}
        index.requests.sent(RequestKind.FILE)               # bytes

``torch.run(case)`` and ``python -m torch CASE`` act in a build as planned (`tests.rig.toy` has the words), a script for
them is ``toy_script(folder, module="torch")``. `plan.cut(day)` says what a nightly was built from; a git history hands in
its own commits as ``cuts={one.day: Cut(one.sha, one.main) for one in history.nightlies}``. Wheels are made when they
are asked for, and the same every time.

``real=(Real(date(2026, 4, 1), release), Real(date(2026, 6, 3), later_release))`` serves real torch releases from disk as
nightlies (`relabel`; any number of dates costs no disk), ``ballast=900_000_000`` gives stand-ins the size of real wheels.

Machines beside ``x86_64`` (``machines=``) put their wheels on the same pages, as in the real index. `scenarios.hard(seed)`
is a hard history of 400 dates with the truth about it, `releases` are the stable ones in the default index.

What is imitated, and where it is known from, stands in `README.md` here.
"""

from tests.rig.nightly_index.catalogue import Wheel
from tests.rig.nightly_index.index import NightlyIndex
from tests.rig.nightly_index.pages import Hrefs
from tests.rig.nightly_index.plan import Change, Cut, Missing, NightlyPlan, Real

__all__ = ["Change", "Cut", "Hrefs", "Missing", "NightlyIndex", "NightlyPlan", "Real", "Wheel"]
