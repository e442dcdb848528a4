from __future__ import annotations

import io
import zipfile
from datetime import date

from tests.rig import index_pages
from tests.rig.nightly_index import Change, NightlyIndex, NightlyPlan
from tests.rig.nightly_index.conftest import Client
from tests.rig.nightly_index.releases import releases

PLAN = NightlyPlan(
    first=date(2025, 9, 1),
    last=date(2026, 10, 9),
    pythons=("cp311",),
    changes=(Change("grad", date(2026, 5, 1), "exit 3"),),
    picks={"2.14.0": {"grad": "pass"}},
)


def test_releases_are_cut_a_day_before_the_nightlies_get_the_next_version() -> None:
    told = {release.version: release for release in releases(PLAN)}
    assert next(iter(told)) == "2.1.0"
    assert list(told)[-1] == "2.14.0"
    assert (told["2.14.0"].cut, told["2.14.0"].uploaded.date()) == (date(2026, 8, 11), date(2026, 9, 22))
    assert told["2.14.0"].revision not in {PLAN.cut(day).nightly for day in PLAN.days()}


def test_the_default_index_has_them(client: Client) -> None:
    with NightlyIndex(PLAN) as index:
        files = {file.filename for file in index_pages.files_of(index.default.folder, "torch")}
        assert "torch-2.13.0-cp311-cp311-manylinux_2_28_x86_64.whl" in files
        behaving = {}
        for version in ("2.12.0", "2.13.0", "2.14.0"):
            name = f"torch-{version}-cp311-cp311-manylinux_2_28_x86_64.whl"
            with zipfile.ZipFile(io.BytesIO(client.get(index.default.file_url(name)).content)) as wheel:
                behaving[version] = b"exit 3" in wheel.read("torch/__init__.py")
    # 2.12 was cut in April; the change was picked away from the branch of 2.14.
    assert behaving == {"2.12.0": False, "2.13.0": True, "2.14.0": False}
