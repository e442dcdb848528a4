"""What to tell somebody whose package has versions, but none that can be installed here."""

from __future__ import annotations

from collections.abc import Sequence

from bisect_tool.builds.build import LeftOut, LeftOutBecause, Listing, Wanted
from bisect_tool.errors import PackageNotFound

_FOLDER = "build wheels and give their folder with the channel `wheelhouse`"
_ADVICE = {
    LeftOutBecause.PRE_RELEASE: "Take pre-releases as builds with --pre.",
    LeftOutBecause.YANKED: "Take yanked versions as builds with --yanked.",
    LeftOutBecause.PYTHON: "Choose another Python with `python:` in the spec or --python.",
    LeftOutBecause.DEVICE: "Update the driver, or use the CPU with --device cpu; `bisect doctor` says what runs here.",
    LeftOutBecause.NO_WHEEL: f"Use a machine that it has wheels for, or {_FOLDER}.",
}


def nothing_fits(listing: Listing, wanted: Wanted) -> PackageNotFound:
    """The error for a listing without builds: what the source has instead, and the way out that needs least."""
    reasons = {because: [left for left in listing.left_out if left.because is because] for because in _ADVICE}
    lines = [_line(because, left_out) for because, left_out in reasons.items() if left_out]
    advice = next((_ADVICE[because] for because, left_out in reasons.items() if left_out), "Look at the index.")
    return PackageNotFound("\n".join([_headline(listing, wanted), *lines]), where=listing.source, advice=advice)


def _headline(listing: Listing, wanted: Wanted) -> str:
    target = wanted.target
    here = f"Python {target.python}" + (f" on {target.tags[0].platform}" if target.tags else "")
    count = len(listing.left_out)
    if count == 0:
        return f"{wanted.package} has no files"
    if count == 1:
        return f"the only version of {wanted.package} cannot be used with {here}"
    return f"none of the {count} versions of {wanted.package} can be used with {here}"


def _line(because: LeftOutBecause, left_out: Sequence[LeftOut]) -> str:
    newest = left_out[-1]
    detail = f" ({newest.detail})" if newest.detail else ""
    return f"  {len(left_out)} {because.value}, the newest is {newest.version}{detail}"
