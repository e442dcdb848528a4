"""What is left to the user: what no rule can know, each as one sentence for a line `TO DO`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from bisect_tool.spec.drafting.evidence import Evidence
from bisect_tool.spec.drafting.expected import Kind
from bisect_tool.spec.drafting.names import compile_calls, dotted, imported, keyword
from bisect_tool.spec.drafting.report import LONGEST_LINE
from bisect_tool.spec.drafting.surroundings import own_files

NEEDS_OUTCOME = (
    "the report quotes no error, and says nothing of wrong values: see that the script ends with an error on a build that "
    "fails, else add an assertion that says what is right; until then every build passes"
)
_OF_KIND = {
    Kind.SLOW: (
        "a slow build passes: let the script report its time (`metrics:` and `$BISECT_CHECKS`, docs/metrics.md) or assert a "
        "bound"
    ),
    Kind.MEMORY: (
        "a build that takes too much memory passes: assert a bound, or use `metrics:` with `peak_memory_bytes` "
        "(docs/metrics.md)"
    ),
    Kind.WARNING: 'a warning passes: add `warnings.simplefilter("error")` at the top, or assert on what was warned',
}
_READS = {
    "load", "open", "read_csv", "read_parquet", "read_excel", "read_json", "read_pickle", "read_hdf", "imread", "loadtxt",
    "genfromtxt", "fromfile", "ImageFolder", "read_text", "read_bytes", "loadmat", "from_file", "memmap",
}  # fmt: skip
_WRITES = {
    "save", "to_csv", "to_parquet", "to_pickle", "to_json", "to_excel", "savetxt", "savez", "imwrite", "tofile", "export",
    "write_text", "write_bytes", "savefig", "dump",
}  # fmt: skip
_DOWNLOADS = {
    "from_pretrained", "load_dataset", "urlopen", "urlretrieve", "hf_hub_download", "snapshot_download", "load_url",
    "load_state_dict_from_url", "get_dataset", "fetch_openml",
}  # fmt: skip
_OTHER_DEVICES = re.compile(r"^(?:mps|xpu|hpu|npu|tpu|xla)(?::\d+)?$")
_GRAPH_BREAK = re.compile(r"\bgraph[- ]?breaks?\b", re.IGNORECASE)


def needs_assertion(tree: ast.Module) -> str:
    """For a script that prints wrong values."""
    example = (
        "torch.testing.assert_close(actual, expected)" if "torch" in imported(tree) else "assert actual == expected"
    )
    return (
        "the script prints wrong values and ends as if all were well: add an assertion that says what is right, such as "
        f"`{example}`; until then every build passes"
    )


def of_kind(kind: Kind) -> tuple[str, ...]:
    """For a kind of failure that no exit status tells."""
    return (_OF_KIND[kind],) if kind in _OF_KIND else ()


def chores(evidence: Evidence, tree: ast.Module) -> Iterator[str]:
    """For what the code needs and the report does not have."""
    for line in evidence.cut:
        yield f"{line} and was left out: correct it and put it back"
    for name in own_files(imported(tree)):
        yield f"the code imports `{name}`, a file that the report does not have: add it to the folder"
    for name in _missing_files(tree):
        yield f"the code reads `{name}`, which the report does not have: add it to the folder and to `files:`"
    for call in islice(_downloads(tree), 1):
        yield f"the code downloads (`{call}`), and each trial does it anew: put the data beside the script, see `files:`"
    for device in islice(_other_devices(tree), 1):
        yield f'the code runs on "{device}", a device that is not known here: let it use `$BISECT_DEVICE`'
    if _passes_graph_breaks(evidence, tree):
        yield "a graph break passes: add `fullgraph=True` to `torch.compile`"


def _texts(call: ast.Call) -> Iterator[str]:
    values = [*call.args[:2], *(one.value for one in call.keywords if one.arg in {"root", "path", "file", "url"})]
    yield from (one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str))


def _calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func), node


def _missing_files(tree: ast.Module) -> Iterator[str]:
    """The files that it opens by name and does not write itself."""
    written = {
        text for name, call in _calls(tree) if name in _WRITES or _opens_to_write(name, call) for text in _texts(call)
    }
    seen: set[str] = set()
    for name, call in _calls(tree):
        path = next(_texts(call), "")
        is_path = re.fullmatch(r"[\w./~\\:-]{1,200}", path) is not None and re.search(r"[./]", path) is not None
        if (
            name in _READS
            and is_path
            and path not in written | seen
            and not path.startswith(("/dev/", "/proc/", "/sys/"))
        ):
            seen.add(path)
            yield path


def _opens_to_write(name: str, call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(one.value for one in call.keywords if one.arg == "mode")]
    said = [one.value for one in modes if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return name == "open" and any(set(mode) & set("wax") for mode in said)


def _downloads(tree: ast.Module) -> Iterator[str]:
    for name, call in _calls(tree):
        shown = ast.unparse(call.func)
        pretrained = keyword(call, "pretrained")
        if name in _DOWNLOADS or shown in {"requests.get", "torch.hub.load"}:
            yield shown[:60]
        elif (isinstance(pretrained, ast.Constant) and pretrained.value is True) or keyword(
            call, "weights"
        ) is not None:
            yield f"{shown[:60]}(pretrained)"
        elif name in _READS and any(text.startswith(("http://", "https://", "s3://")) for text in _texts(call)):
            yield shown[:60]


def _other_devices(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _OTHER_DEVICES.match(node.value):
            yield node.value


def _passes_graph_breaks(evidence: Evidence, tree: ast.Module) -> bool:
    """Whether the report is about graph breaks, which are no errors unless the code asks for one."""
    if evidence.kind.value is not Kind.EXCEPTION or _asks_for_one_graph(tree):
        return False
    beginning = [line for _, line in evidence.said if line.strip()][:15]
    return any(_GRAPH_BREAK.search(line[:LONGEST_LINE]) for line in beginning) and bool(
        compile_calls(tree) or "torch.compile" in ast.unparse(tree)
    )


def _asks_for_one_graph(tree: ast.Module) -> bool:
    """Whether a call of `torch.compile` says `fullgraph=True`."""
    return any(
        isinstance(value := keyword(call, "fullgraph"), ast.Constant) and value.value for call in compile_calls(tree)
    )
