"""Filling the environment of a build: from a wheel, from the source of a commit, or from another environment and a layer."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bisect_tool.builds.build import Layer
from bisect_tool.environments import installing
from bisect_tool.environments.blaming import fault
from bisect_tool.environments.building import BuildingFailed, NotBuildable, Workplace, build_wheel
from bisect_tool.environments.installing import make_venv, purelib_of
from bisect_tool.environments.layering import NOT_VALID, NotLayable, lay_over
from bisect_tool.environments.order import NotInstallable, Order
from bisect_tool.environments.thin import lay_thin
from bisect_tool.environments.uv import Download, Uv
from bisect_tool.environments.wheels import Wheels


@dataclass(frozen=True, slots=True)
class Site:
    """Where an environment is made: `folder` is its own, `base` that of the environment under it, where there is one.

    `wheels` fetches the wheel of the build; None leaves that to uv.
    """

    folder: Path
    uv: Uv
    environ: Mapping[str, str] = field(repr=False)
    base: Path | None = None
    wheels: Wheels | None = None

    @property
    def venv(self) -> Path:
        """The virtual environment."""
        return self.folder / "venv"


def fill(
    order: Order,
    site: Site,
    *,
    on_download: Callable[[Download], None],
    on_trouble: Callable[[str, int, int], None],
    on_wait: Callable[[], None] = lambda: None,
    sleep: Callable[[float], None] = time.sleep,
) -> list[str]:
    """Make the virtual environment of `site` with what `order` says; gives notes for the report.

    Raises `NotInstallable` when the build is to blame, a `BisectError` when it is not.
    """
    if order.installation.layer is not None:
        _lay(order, order.installation.layer, site)
        return []
    if order.installation.check_out is None:
        return installing.install(
            order,
            site.venv,
            site.uv,
            on_download=on_download,
            on_trouble=on_trouble,
            on_wait=on_wait,
            sleep=sleep,
            wheels=site.wheels,
        )
    place = Workplace(site.folder / "build", site.uv, site.environ)
    try:
        built = _built(order, order.installation.check_out, place)
        return installing.install(
            built, site.venv, site.uv, on_download=on_download, on_trouble=on_trouble, sleep=sleep
        )
    finally:
        shutil.rmtree(place.folder, ignore_errors=True)


def _built(order: Order, check_out: Callable[[Path], None], place: Workplace) -> Order:
    newest = order.as_of + installing.GRACE[-1] if order.as_of is not None else None
    try:
        return replace(
            order,
            installation=build_wheel(order.build, order.installation, check_out, order.interpreter, newest, place),
        )
    except NotBuildable as error:
        raise NotInstallable(str(error)) from error
    except BuildingFailed as error:
        raise fault(order, error.failure) from error


def _lay(order: Order, layer: Layer, site: Site) -> None:
    if site.base is None:
        raise ValueError(f"{order.build.version} is laid over another build, which is not here")
    make_venv(order, site.venv, site.uv)
    try:
        base, own = purelib_of(site.base / "venv"), purelib_of(site.venv)
        if layer.python is not None:
            lay_thin(base, own, layer.folders, layer.python, site.folder)
        else:
            lay_over(base, own, layer.folders, layer.changes())
    except NotLayable as error:
        raise NotInstallable(f"{NOT_VALID}{error}") from error
