"""Which specs of a batch are searched together: all that may run beside each other, on the same kind of device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from bisect_tool.errors import DeviceMissing
from bisect_tool.runs.workshop import Workshop
from bisect_tool.spec.reading import ReadSpec


def groups_of(specs: Sequence[ReadSpec], workshop: Workshop) -> list[list[ReadSpec]]:
    """The specs in groups, in the order in which they come.

    Numbers are compared one trial at a time: such specs have a run of their own, so that they hold up nobody else. So have
    those on another device, whose slots are other ones. Environments are shared all the same, as they are kept.
    """
    means = workshop.means()
    is_here = workshop.settings.executor == "local"  # else the devices are not those of this machine
    devices: dict[tuple[str, ...], str] = {}
    groups: dict[tuple[str, bool], list[ReadSpec]] = defaultdict(list)
    for read in specs:
        wanted = read.spec.device
        if wanted not in devices:
            try:
                devices[wanted] = means.find_device(wanted, means.environ).name if is_here else " ".join(wanted)
            except DeviceMissing:
                devices[wanted] = "cpu"  # asking for it says what is missing
        groups[devices[wanted], bool(read.spec.metrics)].append(read)
    return list(groups.values())
