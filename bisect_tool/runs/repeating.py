"""The command that asks the same question again."""

from __future__ import annotations

import shlex

from bisect_tool.builds.index_address import without_credentials
from bisect_tool.runs.asking import Asked
from bisect_tool.settings import Settings, without_secrets


def repeat_command(asked: Asked, settings: Settings) -> str:
    """The command that asks the same question again, with the bounds that this run found; no passwords."""
    spec = asked.spec
    words = ["bisect", "run", str(asked.read.path), "--device", asked.device.name]
    words += [] if spec.python is None else ["--python", spec.python]
    words += ["--base", "system"] if spec.base == "system" else []
    words += [word for text in spec.as_is for word in ("--as-is", text)]
    words += [word for text in spec.hold for word in ("--hold", text)]
    if len(spec.channel) == 1:
        words += ["--channel", asked.stage.channel]
    if asked.stage.channel == "nightly":
        variants = {build.variant or "auto" for build in asked.builds}
        words += ["--variant", variants.pop() if len(variants) == 1 else spec.variant]
    if not asked.selection.open_start:
        words += ["--from", asked.builds[0].version]
    words += ["--to", asked.builds[-1].version]
    words += [flag for flag, is_set in (("--pre", asked.wishes.pre), ("--yanked", asked.wishes.yanked)) if is_set]
    for name in ("executor", "index", "nightly_index", "ray_address", "repo", "wheelhouse"):
        if settings.sources[name].startswith("--"):
            words += [settings.sources[name], without_credentials(str(getattr(settings, name)))]
    for name, address in (("store", settings.store), ("logs", settings.logs)):
        if address and settings.sources[name].startswith("--"):
            words += [settings.sources[name], without_secrets(address)]
    return shlex.join(words)
