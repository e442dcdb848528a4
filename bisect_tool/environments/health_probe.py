"""Runs inside the environment of a build and tells what is really there, as one JSON object on the last line.

It must work on every Python that a build may need. What it prints is read by `bisect_tool.environments.health`.
"""

import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import sys
import sysconfig


def canonical(name):
    return name.lower().replace("_", "-").replace(".", "-")


def packages():
    found = {}
    for distribution in importlib.metadata.distributions():
        name = distribution.metadata["Name"]
        # The first one on the path is the one that is imported.
        if name and canonical(name) not in found:
            found[canonical(name)] = distribution.version
    return found


def modules_of(distribution):
    """Top-level modules of a distribution, from its list of files."""
    tops = set()
    for file in distribution.files or ():
        parts = file.parts
        if parts[0].endswith((".dist-info", ".data")) or parts[0] in ("..", "__pycache__"):
            continue
        if len(parts) > 1 and parts[1].endswith((".py", ".so", ".pyd")):
            tops.add(parts[0])
        elif len(parts) == 1 and file.suffix in (".py", ".so"):
            tops.add(parts[0].split(".")[0])
    # Some folders are no packages: `numpy.libs` holds shared libraries that came along.
    return sorted(top for top in tops if top.isidentifier())


def is_empty(distribution):
    """Whether it brings neither files of its own nor other distributions."""
    own = [file for file in distribution.files or () if not file.parts[0].endswith(".dist-info")]
    return not own and not distribution.requires


def unmet(distribution):
    return list(distribution.requires or ())


def wishes(names):
    """What any distribution requires of these, by their canonical names: its name and version, and the requirement."""
    found = []
    seen = set()
    for distribution in importlib.metadata.distributions():
        name = canonical(distribution.metadata["Name"] or "")
        if name in seen:
            continue
        seen.add(name)
        for text in distribution.requires or ():
            if canonical(re.split(r"[^A-Za-z0-9._-]", text.strip(), maxsplit=1)[0]) in names:
                found.append([name, distribution.version, text])
    return found


def unfit(torch):
    """Why the GPU cannot run the code of this torch, None when it can or torch does not tell.

    Code for sm_80 runs on 8.0 to 8.9; compute_90 (PTX) also on everything newer. CUDA C++ programming guide, "Binary
    compatibility" and "PTX compatibility".
    """
    have = torch.cuda.get_arch_list()
    gpu = torch.cuda.get_device_capability(0)
    codes = [re.match(r"(sm|compute)_(\d+)(\d)[a-z]*$", one) for one in have]
    if not have or not all(codes):
        return None
    for kind, major, minor in (code.groups() for code in codes):
        made_for = (int(major), int(minor))
        if made_for <= gpu and (kind == "compute" or made_for[0] == gpu[0]):
            return None
    said = "is built for %s, and this GPU, a %s, is sm_%d%d"
    return said % (", ".join(have), torch.cuda.get_device_name(0), gpu[0], gpu[1])


def torch_facts(device):
    import torch

    facts = {
        "version": torch.__version__,
        "git_version": getattr(torch.version, "git_version", None),
        "cuda": getattr(torch.version, "cuda", None),
        "hip": getattr(torch.version, "hip", None),
        "file": torch.__file__,
    }
    if device == "cuda":
        facts["unfit"] = unfit(torch)
        if facts["unfit"]:
            return facts
    one = torch.ones(4, device=device)
    if float((one + one).sum().item()) != 8.0:
        raise RuntimeError("4 x (1 + 1) is not 8 on device " + device)
    if device == "cuda":
        facts["gpu"] = torch.cuda.get_device_name(0)
        facts["capability"] = "%d.%d" % torch.cuda.get_device_capability(0)
        facts["arch_list"] = torch.cuda.get_arch_list()
        try:
            facts["cudnn"] = torch.backends.cudnn.version()
        except (
            RuntimeError
        ) as error:  # older libraries than this torch asks for: worth telling, harmless for most repros
            facts["cudnn"] = "not usable: " + str(error).splitlines()[0]
        if torch.distributed.is_available() and hasattr(torch.cuda, "nccl"):
            try:
                facts["nccl"] = ".".join(str(part) for part in torch.cuda.nccl.version())
            except (RuntimeError, AttributeError, TypeError) as error:
                facts["nccl"] = "not usable: " + str(error).splitlines()[0]
    return facts


def probe(package, device, held):
    distribution = importlib.metadata.distribution(package)
    modules = modules_of(distribution)
    files = {}
    for module in modules:
        spec = importlib.util.find_spec(module)
        origin = spec.origin if spec is not None else None
        if origin is None and spec is not None and spec.submodule_search_locations:
            origin = list(spec.submodule_search_locations)[0]
        files[module] = origin
    facts = {
        "version": distribution.version,
        "location": str(distribution.locate_file("")),
        "modules": files,
        "is_empty": is_empty(distribution),
        "requires": unmet(distribution),
        "packages": packages(),
        "python": platform.python_version(),
        "prefix": sys.prefix,
        "purelib": sysconfig.get_path("purelib"),
        "machine": platform.machine(),
    }
    if canonical(package) == "torch":
        facts["torch"] = torch_facts(device)
    elif "torch" in facts["packages"] and device != "cpu":
        facts["torch"] = torch_facts(device)
    facts["unfit"] = facts.get("torch", {}).pop("unfit", None)
    facts["wishes"] = wishes({canonical(name) for name in held})
    return facts


if __name__ == "__main__":
    found = probe(sys.argv[1], sys.argv[2], sys.argv[3:])
    sys.stdout.flush()
    print("\n" + json.dumps(found))
    sys.stdout.flush()
    # Some builds crash while they shut down; that says nothing about what was just proven.
    os._exit(0)
