"""Installing a build into a fresh virtual environment."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import timedelta
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bisect_tool.environments.blaming import ATTEMPTS, blamed, fault
from bisect_tool.environments.holding import is_pinned, pinned_by
from bisect_tool.environments.order import NotInstallable, Order
from bisect_tool.environments.uv import Download, Uv
from bisect_tool.environments.uv_errors import Blame, UvFailure
from bisect_tool.environments.wheels import Offer, Wheels

PAUSES = (1.0, 5.0)  # seconds before the second and the third attempt
# What a build needs is often uploaded hours after it; the second figure is for the rare late pin.
GRACE = (timedelta(days=1), timedelta(days=14))
HOOK = Path(__file__).with_name("exception_hook.py")


def install(
    order: Order,
    venv: Path,
    uv: Uv,
    *,
    on_download: Callable[[Download], None],
    on_trouble: Callable[[str, int, int], None],
    sleep: Callable[[float], None] = time.sleep,
    wheels: Wheels | None = None,
    on_wait: Callable[[], None] = lambda: None,
) -> list[str]:
    """Make `venv` and install the build and what it needs; gives notes for the report.

    `wheels` fetches the wheel of the build; None leaves that to uv. `on_wait` hears that another process fetches it now.
    Raises `NotInstallable` when the build is to blame, a `BisectError` when it is not.
    """
    make_venv(order, venv, uv)
    bare = tuple(text for text in order.requires if _is_bare(text)) if order.base_system else ()
    notes: list[str] = []
    with _offered(order, uv, wheels, on_download, on_wait) as offer:
        requires = tuple(text for text in order.requires if text not in bare)
        first = replace(order, installation=offer.installation, requires=requires)
        failure = _resolved(first, venv, offer, notes, on_trouble, sleep)
        if failure is None and bare:
            _add_pinned(first, bare, venv, offer, on_trouble, sleep)
        offer.is_taken = failure is None
    if failure is not None:
        raise blamed(order, offer, failure)
    _add_hook(venv)
    return notes


def _offered(
    order: Order,
    uv: Uv,
    wheels: Wheels | None,
    on_download: Callable[[Download], None],
    on_wait: Callable[[], None],
) -> AbstractContextManager[Offer]:
    if wheels is None:
        return nullcontext(Offer(order.installation, uv, on_download))
    return wheels.offered(order.build, order.installation, uv, on_download, on_wait)


def _resolved(
    order: Order,
    venv: Path,
    offer: Offer,
    notes: list[str],
    on_trouble: Callable[[str, int, int], None],
    sleep: Callable[[float], None],
) -> UvFailure | None:
    """Install as of the date of the build, and where nothing fits as of somewhat later; None when it worked."""
    for grace in GRACE:
        failure = _attempts(order, venv, offer, grace, on_trouble, sleep)
        if failure is None or failure.blame is not Blame.UNSATISFIABLE:
            return failure
        if order.as_of is None or grace == GRACE[-1]:
            return _asked_afresh(order, venv, offer, grace, failure)
        notes.append(f"nothing fits as of {order.as_of + grace:%Y-%m-%d}: {failure.reason}")
    raise AssertionError("the last period of grace ends the loop")


def _is_bare(text: str) -> bool:
    need = Requirement(text)
    return need.url is None and not need.specifier


def _add_pinned(
    order: Order,
    bare: tuple[str, ...],
    venv: Path,
    offer: Offer,
    on_trouble: Callable[[str, int, int], None],
    sleep: Callable[[float], None],
) -> None:
    """Put packages beside the build, over those of the base, in the versions that the build itself asks for.

    With `base: system` nothing is resolved: a bare name would bring in the newest version there is. Raises
    `NotInstallable` where they cannot be had.
    """
    own = requires_of(venv, order.build.package)
    pins = tuple(dict.fromkeys(pinned_by(own, Requirement(text).name, order.interpreter.version) for text in bare))
    pinned = replace(order, requires=pins)
    failure = _attempts(pinned, venv, offer, GRACE[-1], on_trouble, sleep)
    if failure is None:
        return
    # What no build asks for is a mistake of the spec, which `_blamed` tells.
    if failure.blame is Blame.UNSATISFIABLE and not all(_is_bare(text) for text in pins):
        raise NotInstallable(f"what it asks for cannot be had, {' and '.join(pins)}: {failure.reason}")
    raise blamed(pinned, offer, failure)


def requires_of(venv: Path, package: str) -> tuple[str, ...]:
    """The Requires-Dist lines of a distribution that is installed in an environment."""
    for found in distributions(path=[str(purelib_of(venv))]):
        if canonicalize_name(found.metadata["Name"]) == canonicalize_name(package):
            return tuple(found.requires or ())
    return ()


def make_venv(order: Order, venv: Path, uv: Uv) -> None:
    """An empty virtual environment for the interpreter of `order`. Raises a `BisectError`."""
    words = ["venv", "--no-project", "--python", str(order.interpreter.path)]
    if order.base_system:
        words.append("--system-site-packages")
    made = uv.call(*words, str(venv))
    if isinstance(made, UvFailure):
        raise fault(order, made)
    if order.base_system and order.interpreter.in_environment:
        # The base of a virtual environment is the interpreter under it, not its packages: name them.
        # As a site, not as a mere path, so that its own `.pth` files count too: editable installations are such.
        base = f"import site; site.addsitedir({str(order.interpreter.purelib)!r})\n"
        (purelib_of(venv) / "_bisect_base.pth").write_text(base)


def _attempts(
    order: Order,
    venv: Path,
    offer: Offer,
    grace: timedelta,
    on_trouble: Callable[[str, int, int], None],
    sleep: Callable[[float], None],
) -> UvFailure | None:
    """Try again what the network or a damaged download spoiled; None when it worked."""
    for attempt in range(1, ATTEMPTS + 1):
        refresh = ("--refresh-package", order.build.package) if attempt > 1 and not offer.is_ours else ()
        done = offer.uv.call(*_words(order, venv, grace), *refresh, progress=offer.on_download)
        if not isinstance(done, UvFailure):
            return None
        done = offer.after(done)
        if done.blame not in (Blame.NETWORK, Blame.DAMAGED) or attempt == ATTEMPTS:
            return done
        on_trouble(done.reason, attempt, ATTEMPTS)
        sleep(PAUSES[attempt - 1])
    return None


def _asked_afresh(order: Order, venv: Path, offer: Offer, grace: timedelta, failure: UvFailure) -> UvFailure | None:
    """Before a build is blamed: the pages that uv kept may be older than what it needs, or one answer was wrong."""
    if order.installation.offline:
        return failure
    done = offer.uv.call(*_words(order, venv, grace), "--refresh", progress=offer.on_download)
    return offer.after(done) if isinstance(done, UvFailure) else None


def _words(order: Order, venv: Path, grace: timedelta) -> list[str]:
    words = ["pip", "install", "--python", str(venv / "bin" / "python"), "--only-binary", ":all:"]
    words += order.installation.options
    if order.installation.offline:
        words.append("--offline")
    if order.base_system:
        words.append("--no-deps")
    if order.as_of is not None:
        words += ["--exclude-newer", f"{order.as_of + grace:%Y-%m-%dT%H:%M:%SZ}"]
        for name in _pinned(order.beside):
            words += ["--exclude-newer-package", f"{name}=2999-01-01"]
    words += _files(order, venv)
    served = order.installation.instead_of
    rest = [text for text in order.beside if canonicalize_name(Requirement(text).name) not in served]
    return [*words, *order.installation.requirements, *rest]


def _files(order: Order, venv: Path) -> list[str]:
    """The options for what uv takes from files only; the files lie in the environment itself."""
    pinned = {canonicalize_name(name) for name in _pinned(order.beside)}
    lines = order.installation.constraints
    constraints = [line for line in lines if canonicalize_name(Requirement(line).name) not in pinned]
    words = []
    for option, texts in (("--constraints", constraints), ("--overrides", _overrides(order))):
        if texts:
            file = venv / f"bisect{option.removeprefix('-')}.txt"
            file.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
            words += [option, str(file)]
    return words


def _overrides(order: Order) -> list[str]:
    """What replaces the requirements of every package: the build under test and what is held, where something is."""
    own = (order.installation.requirements[0], *order.hold) if order.hold else ()
    return list(dict.fromkeys((*order.installation.overrides, *own)))


def _pinned(requires: tuple[str, ...]) -> list[str]:
    """Requirements that name one version: they are meant as written, also when that version is newer than the build."""
    needs = {text: Requirement(text) for text in requires}
    return [need.name for text, need in needs.items() if need.url is None and is_pinned(text)]


def purelib_of(venv: Path) -> Path:
    """The site-packages folder of a virtual environment."""
    return next((venv / "lib").glob("python*")) / "site-packages"


def _add_hook(venv: Path) -> None:
    """Put the exception hook into the environment: new files, because installed ones are hard links into uv's cache."""
    packages = purelib_of(venv)
    (packages / "_bisect_exception_hook.py").write_bytes(HOOK.read_bytes())
    (packages / "_bisect_exception_hook.pth").write_text("import _bisect_exception_hook\n")
