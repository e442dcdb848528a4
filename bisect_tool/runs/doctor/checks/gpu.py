"""The GPUs: what they are, how full, who uses them."""

from __future__ import annotations

from collections.abc import Iterator

from bisect_tool.reports.checkup import Finding, Level
from bisect_tool.runs.doctor.place import Place
from bisect_tool.runs.gpus_seen import GpuUser, SeenGpu, SeenGpus

ORDER = 10
_BUSY = 0.1  # of the memory


def check(place: Place) -> Iterator[Finding]:
    """One line for each card; one when there is none."""
    seen = place.seen
    if isinstance(seen, str):
        yield _none(place, seen)
        return
    cuda = "{}.{}".format(*seen.cuda)
    for number, card in enumerate(seen.cards):
        yield _card(number, card, place, f"driver {seen.driver} (CUDA {cuda})", _facts(number, card, seen))
    if (visible := place.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        yield Finding(about="gpu", level="ok", says=f"CUDA_VISIBLE_DEVICES is {visible}: only these are used")


def _none(place: Place, why: str) -> Finding:
    if place.needs_gpu:
        fix = "use a machine with an NVIDIA GPU and its driver, or ask with --device cpu"
        return Finding(about="gpu", level="problem", says=f"none: {why}", fix=fix)
    return Finding(about="gpu", level="ok", says=f"none ({why}): trials run on the CPU")


def _card(number: int, card: SeenGpu, place: Place, driver: str, facts: dict[str, object]) -> Finding:
    says = f"{number}: {card.name}, sm_{card.capability[0]}{card.capability[1]}, {driver}, "
    if card.is_cut:
        says += f"cut into {len(card.slices)} MIG slices" + (f": {', '.join(card.slices)}" if card.slices else "")
        level: Level = "ok" if card.slices or not place.needs_gpu else "problem"
        fix = "make slices with `nvidia-smi mig -cgi …`, or turn MIG off"
        return Finding(about="gpu", level=level, says=says, fix=fix, facts=facts)
    says += f"{_gib(card.free)} of {_gib(card.total)} GiB free"
    if card.users or card.free < card.total * (1 - _BUSY):
        says += f", used by {_users(card.users)}"
        fix = "end them or choose another card with CUDA_VISIBLE_DEVICES: trials may run out of memory or be slow"
        return Finding(about="gpu", level="warning", says=says, fix=fix, facts=facts)
    return Finding(about="gpu", level="ok", says=says, facts=facts)


def _users(users: tuple[GpuUser, ...]) -> str:
    if not users:
        return "processes that the driver does not show (of another container or user)"
    shown = ", ".join(f"{user.pid} ({_gib(user.memory)} GiB)" if user.memory else str(user.pid) for user in users)
    return f"process {shown}" if len(users) == 1 else f"processes {shown}"


def _gib(size: int) -> str:
    return f"{size / 2**30:.3g}"


def _facts(number: int, card: SeenGpu, seen: SeenGpus) -> dict[str, object]:
    return {
        "number": number,
        "name": card.name,
        "capability": "{}.{}".format(*card.capability),
        "driver": seen.driver,
        "cuda": "{}.{}".format(*seen.cuda),
        "memory_total": card.total,
        "memory_free": card.free,
        "users": [user.pid for user in card.users],
        "mig": card.is_cut,
        "mig_slices": list(card.slices),
    }
