from __future__ import annotations

from datetime import date

import pytest
from packaging.version import Version

from bisect_tool.builds.fitting import target_for
from bisect_tool.builds.nightly.naming import Naming, Sighting
from bisect_tool.builds.nightly.tables import Tables

TARGET = target_for("3.11.7")


def naming(tables: Tables, variant: str = "cu126", package: str = "torch") -> Naming:
    return Naming(tables, package, variant, TARGET)


def filenames(names: Naming, day: str, *sightings: Sighting) -> list[str]:
    return [one.filename for one in names.candidates(date.fromisoformat(day), sightings)]


def bases(names: Naming, day: str, *sightings: Sighting) -> list[str]:
    return [str(version) for version in names.versions(date.fromisoformat(day), sightings)]


# Versions and tags of nightlies that were published: sections 1.3 to 1.6 of the facts, with their sources in tables.toml.
PUBLISHED = [
    ("cu118", "2023-09-05", "torch-2.1.0.dev20230905+cu118-cp311-cp311-linux_x86_64.whl"),
    ("cu124", "2024-11-21", "torch-2.6.0.dev20241121+cu124-cp311-cp311-linux_x86_64.whl"),
    ("cu118", "2025-06-08", "torch-2.8.0.dev20250608+cu118-cp311-cp311-manylinux_2_28_x86_64.whl"),
    ("cu126", "2026-09-07", "torch-2.15.0.dev20260907+cu126-cp311-cp311-manylinux_2_28_x86_64.whl"),
    ("cu130", "2025-09-09", "torch-2.9.0.dev20250909+cu130-cp311-cp311-manylinux_2_28_x86_64.whl"),
    ("cu130", "2026-10-07", "torch-2.16.0.dev20261007+cu130-cp311-cp311-manylinux_2_28_x86_64.whl"),
    ("cu134", "2026-08-10", "torch-2.14.0.dev20260810+cu134-cp311-cp311-manylinux_2_28_x86_64.whl"),
]


@pytest.mark.parametrize(("variant", "day", "filename"), PUBLISHED)
def test_names_of_published_nightlies_come_first(tables: Tables, variant: str, day: str, filename: str) -> None:
    assert filenames(naming(tables, variant), day) == [filename]


def test_at_a_seam_of_versions_both_are_possible(tables: Tables) -> None:
    assert bases(naming(tables), "2025-03-11") == ["2.7.0"]
    assert bases(naming(tables), "2025-03-12") == ["2.7.0", "2.8.0"]
    assert bases(naming(tables), "2025-03-14") == ["2.8.0"]


def test_what_was_seen_narrows_the_versions(tables: Tables) -> None:
    before, after = Sighting(date(2024, 5, 20), Version("2.4.0")), Sighting(date(2024, 5, 25), Version("2.5.0"))
    assert bases(naming(tables), "2024-05-15", before) == ["2.4.0"]
    assert bases(naming(tables), "2024-05-28", after) == ["2.5.0"]
    assert bases(naming(tables), "2024-05-22", before, after) == ["2.4.0", "2.5.0"]


def test_both_platform_tags_while_they_changed(tables: Tables) -> None:
    names = filenames(naming(tables, "cpu"), "2024-12-10")
    assert [name.split("-cp311-")[1] for name in names] == ["cp311-manylinux_2_28_x86_64.whl", "cp311-linux_x86_64.whl"]
    near = Sighting(date(2024, 12, 9), Version("2.6.0"), "linux_x86_64")
    assert filenames(naming(tables, "cpu"), "2024-12-10", near)[0].endswith("-linux_x86_64.whl")


def test_after_the_last_row_the_next_versions_are_looked_for(tables: Tables) -> None:
    assert bases(naming(tables), "2026-11-01") == ["2.16.0"]
    assert bases(naming(tables), "2026-12-10") == ["2.16.0", "2.17.0"]
    seen = Sighting(date(2026, 12, 5), Version("2.17.0"))
    assert bases(naming(tables), "2026-12-10", seen) == ["2.17.0"]


def test_versions_that_the_table_lacks_are_taken_from_what_was_seen(tables: Tables) -> None:
    before, after = Sighting(date(2026, 10, 9), Version("2.16.0")), Sighting(date(2027, 6, 1), Version("2.20.0"))
    assert bases(naming(tables), "2027-03-01", before, after) == ["2.16.0", "2.17.0", "2.18.0", "2.19.0", "2.20.0"]


@pytest.mark.parametrize(
    ("package", "day", "published"),
    [
        ("torchvision", "2024-11-21", "0.20.0"),
        ("torchvision", "2025-09-02", "0.24.0"),
        ("torchvision", "2026-02-20", "0.26.0"),
        ("torchvision", "2026-10-06", "0.30.0"),
        ("torchaudio", "2024-11-21", "2.5.0"),
        ("torchaudio", "2025-09-02", "2.8.0"),
    ],
)
def test_companions_lag_behind(tables: Tables, package: str, day: str, published: str) -> None:
    assert published in bases(naming(tables, package=package), day)


def test_of_other_packages_nothing_is_known(tables: Tables) -> None:
    assert not naming(tables, package="executorch").is_known


def test_free_threaded_tags(tables: Tables) -> None:
    names = Naming(tables, "torch", "cu130", target_for("3.14", free_threaded=True))
    assert filenames(names, "2026-10-07") == ["torch-2.16.0.dev20261007+cu130-cp314-cp314t-manylinux_2_28_x86_64.whl"]
