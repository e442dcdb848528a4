"""What a report says around its code: Python, variables of a command line, packages beside the one that is searched."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bisect_tool.spec.drafting.cases import says_it_works
from bisect_tool.spec.drafting.finding import Found, default, found, guessed
from bisect_tool.spec.drafting.report import LONGEST_LINE
from bisect_tool.spec.drafting.sessions import without_prompt
from bisect_tool.spec.meaning import OURS

# How modules are imported → how their distributions are called, where that differs.
DISTRIBUTIONS = {
    "PIL": "pillow", "cv2": "opencv-python-headless", "sklearn": "scikit-learn", "skimage": "scikit-image",
    "yaml": "PyYAML", "bs4": "beautifulsoup4", "dateutil": "python-dateutil", "attr": "attrs",
    "google": "protobuf", "OpenSSL": "pyopenssl", "flash_attn": "flash-attn",
    "torch_geometric": "torch-geometric", "liger_kernel": "liger-kernel", "triton": "triton",
    "markdown": "Markdown", "jwt": "PyJWT", "Crypto": "pycryptodome", "pytorch_lightning": "pytorch-lightning",
}  # fmt: skip
# Distributions that need no second look before they are installed for a report.
WELL_KNOWN = frozenset({
    "numpy", "scipy", "pandas", "torch", "torchvision", "torchaudio", "torchao", "torchtune", "transformers",
    "diffusers", "accelerate", "datasets", "einops", "tqdm", "pillow", "matplotlib", "requests", "packaging",
    "psutil", "pyyaml", "scikit-learn", "scikit-image", "sympy", "networkx", "pytest", "hypothesis",
    "expecttest", "parameterized", "safetensors", "sentencepiece", "tokenizers", "timm", "triton", "jax",
    "tensorflow", "opencv-python-headless", "pytorch-lightning", "lightning", "torch-geometric", "xformers",
    "flash-attn", "click", "protobuf", "onnx", "onnxruntime", "h5py", "pyarrow", "polars", "numba", "cython",
    "tabulate", "rich", "attrs", "pydantic", "six", "cffi", "pybind11", "ninja",
})  # fmt: skip
# Imports that mean a file of the reporter's own, whatever an index has under that name.
OWN_FILES = frozenset({
    "utils", "util", "helper", "helpers", "common", "config", "configs", "model", "models", "data", "dataset",
    "train", "trainer", "main", "test", "tests", "layers", "modules", "networks", "losses", "my_module",
    "mymodule", "repro", "src", "lib", "script", "custom_ops", "ops",
})  # fmt: skip
# What installing a package brings along: its own requirements.
BROUGHT = {
    "torch": {"torch", "functorch", "torchgen", "triton", "sympy", "networkx", "jinja2", "fsspec", "filelock",
    "typing_extensions", "mpmath", "setuptools", "nvidia"},
    "pandas": {"pandas", "numpy", "dateutil", "pytz", "tzdata", "six"},
    "liger-kernel": {"liger_kernel", "torch", "triton"},
    "scipy": {"scipy", "numpy"},
    "sympy": {"sympy", "mpmath"},
    "scikit-learn": {"sklearn", "numpy", "scipy", "joblib", "threadpoolctl"},
}  # fmt: skip
# What a package needs to run and does not ask for: one of these, the first where the code imports none.
ONE_OF = {"keras": ("tensorflow", "torch", "jax")}
# Repositories whose reports are about one package.
REPOSITORIES = {
    "pytorch/pytorch": "torch", "triton-lang/triton": "triton", "linkedin/liger-kernel": "liger-kernel",
    "pallets/click": "click", "sympy/sympy": "sympy",
    "networkx/networkx": "networkx", "numpy/numpy": "numpy", "scipy/scipy": "scipy", "pandas-dev/pandas": "pandas",
    "keras-team/keras": "keras",
    "scikit-learn/scikit-learn": "scikit-learn", "huggingface/transformers": "transformers",
    "pytorch/vision": "torchvision", "pytorch/audio": "torchaudio",
    "trentm/python-markdown2": "markdown2", "pygments/pygments": "pygments", "matplotlib/matplotlib": "matplotlib",
}  # fmt: skip
# Switches that only make programs say more: they do not change what fails.
_ADVICE = re.compile(
    r"^(?:TORCH_LOGS\w*|TORCHDYNAMO_VERBOSE|TORCH_SHOW_CPP_STACKTRACES|TORCH_TRACE|TORCH_COMPILE_DEBUG|CUDA_VISIBLE_DEVICES|"
    r"\w*(?:TOKEN|KEY|SECRET|PASSWORD)\w*|LD_\w+)$"
)
_COMMAND = re.compile(
    r"^(?:\$|%|>|#)?\s*(?P<variables>(?:[A-Z][A-Z0-9_]{2,60}=(?:\"[^\"]{0,200}\"|'[^']{0,200}'|"
    r"[^\s\"']{0,200})\s+)*)python[\d.]*\s+(?:-\w+\s+)*(?P<script>[\w./-]+\.py)\b(?P<arguments>[^#\n]*)(?:#\s*(?P<comment>.*))?$"
)
_EXPORT = re.compile(
    r"^(?:\$\s*)?export\s+(?P<name>[A-Z][A-Z0-9_]{2,60})=(?P<value>\"[^\"]{0,200}\"|'[^']{0,200}'|[^\s;&|]{0,200})\s*$"
)
_ASSIGNED = re.compile(r"([A-Z][A-Z0-9_]{2,60})=(\"[^\"]*\"|'[^']*'|\S*)")
_PYTHON = re.compile(
    r"^\W{0,6}(?:c?python)(?:[ _]version)?(?:\s*\(e\.g\.[^)]*\))?\W{0,6}\s*(?:is\s+)?"
    r"v?(?P<version>3\.\d{1,2})(?:\.\d+)?(?![\w.]*\.py)",
    re.IGNORECASE,
)
_PYTHON_SAID = re.compile(
    r"(?:\b(?:on|with|using|under|for)|[,;.])\s+python\s+(?P<version>3\.\d{1,2})\b", re.IGNORECASE
)


# As the interpreter says it of itself: `3.9.18 (main, Sep`, `sys.version_info(major=3, minor=8`, `python : 3.6.2.final.0`.
_PYTHON_ITSELF = re.compile(
    r"^\s*(?P<itself>3\.\d{1,2})\.\d+(?:rc\d)?\+? (?:\(|\|)|sys\.version_info\(major=3, minor=(?P<minor>\d{1,2})\b"
    r"|^python\s*:\s*(?P<listed>3\.\d{1,2})\.\d"
)


def find_package(modules: Sequence[str], repository: str | None, text: str) -> Found[str]:
    """The distribution whose builds are searched, or torch."""
    if repository and (known := REPOSITORIES.get(repository.lower())):
        return found(known, "package-repository", f"the repository {repository} is that of {known}")
    named = [module for module in modules if _names_version(module, text)]
    if "torch" in modules and ("torch" in named or not named):
        return found("torch", "package-import", "the code imports torch")
    if named:
        name = distribution(named[0])
        return found(name, "package-import", f"the code imports {named[0]}, and the text names versions of it")
    if modules:
        return guessed(distribution(modules[0]), "package-import", f"the code imports {modules[0]} first")
    return default("torch", "package-import", "the code imports nothing else")


def _names_version(module: str, text: str) -> bool:
    names = r"(?:py)?torch" if module == "torch" else re.escape(module)
    pattern = rf"\b{names}\b\W{{0,6}}(?:version\W{{0,4}})?v?\d+\.\d"
    return re.search(pattern, text[:100_000], re.IGNORECASE) is not None


def find_source(package: str, repository: str | None) -> Found[str | None]:
    """The repository whose commits belong to the builds; torch needs none, the tool knows it."""
    if package == "torch":
        return default(None, "source-known", "the tool knows it")
    if repository and REPOSITORIES.get(repository.lower(), package) == package:
        return guessed(repository, "source-known", "the repository of the issue")
    known = next((name for name, of in REPOSITORIES.items() if of == package), None)
    if known:
        return guessed(known, "source-known", f"the repository that {package} is known for")
    return default(None, "source-known", "not known")


def distribution(module: str) -> str:
    """What to install for an import."""
    return DISTRIBUTIONS.get(module, module.replace("_", "-"))


def find_hold(modules: Sequence[str], package: str) -> Found[tuple[str, ...]]:
    """torch beside builds of triton: it pins triton, so that it must be held against its pin."""
    if package in {"triton", "pytorch-triton"} and "torch" in modules:
        return guessed(("torch",), "hold-torch", "torch pins triton, so it is held; pin the version that you have")
    return default((), "hold-torch", "nothing pins the package")


def own_files(modules: Sequence[str]) -> tuple[str, ...]:
    """The imports that are files of the reporter's own, which the report does not have."""
    return tuple(module for module in modules if module in OWN_FILES)


def find_requires(modules: Sequence[str], package: str, line: int | None) -> Found[tuple[str, ...]]:
    """The packages beside the one that is searched, as far as that does not bring them along."""
    brought = BROUGHT.get(package, set()) | {package, package.replace("-", "_"), *find_hold(modules, package).value}
    names = [distribution(module) for module in modules if module not in brought and module not in OWN_FILES]
    needed = tuple(name for name in names if name != package)
    if (one_of := ONE_OF.get(package)) and not set(one_of) & set(modules):
        return guessed((*needed, one_of[0]), "requires-one-of", f"{package} needs {' or '.join(one_of)}", line)
    if unknown := [name for name in needed if name.lower() not in WELL_KNOWN]:
        why = (
            f"the code imports them; see that `{unknown[0]}` is the package that is meant, because it will be installed"
        )
        return guessed(needed, "requires-imports", why, line)
    if needed:
        return found(needed, "requires-imports", "the code imports them", line)
    return default((), "requires-imports", "the code imports nothing else")


def find_python(lines: Sequence[tuple[int, str]]) -> Found[str | None]:
    """The version of Python that the report names; line 0 is the title."""
    for pattern in (_PYTHON, _PYTHON_ITSELF, _PYTHON_SAID):
        for number, line in lines:
            match = pattern.search(line[:LONGEST_LINE])
            if match:
                said = match.groupdict()
                version = f"3.{said['minor']}" if said.get("minor") else next(text for text in said.values() if text)
                return found(version, "python", f"the report says Python {version}", number)
    return default(None, "python", "not named: the tool's own")


def find_environment(lines: Sequence[tuple[int, str]]) -> Found[Mapping[str, str]]:
    """The variables of the command lines that run a script, and of `export` lines."""
    variables: dict[str, str] = {}
    first: int | None = None
    has_command = False
    for number, line in lines:
        text = line.strip()[:LONGEST_LINE].strip("`")
        pairs = [(match["name"], match["value"]) for match in [_EXPORT.match(text)] if match]
        # Of several commands the first one that is not said to work: a working one shows how not to see the failure.
        if (
            not has_command
            and (command := _COMMAND.match(without_prompt(text)))
            and command["variables"]
            and not says_it_works(command["comment"] or "")
        ):
            has_command = True
            pairs += _ASSIGNED.findall(command["variables"])
        for name, value in pairs:
            if not _ADVICE.match(name) and not OURS.match(name):
                variables.setdefault(name, value.strip("\"'"))
                first = first or number
    if variables:
        return found(variables, "env-command", "the command line of the report sets them", first)
    return default({}, "env-command", "no command line sets any")


def command_lines(lines: Sequence[tuple[int, str]]) -> list[tuple[int, tuple[str, ...], str]]:
    """(line, arguments, comment) of each command line that runs a script with arguments."""
    commands = []
    for number, line in lines:
        match = _COMMAND.match(without_prompt(line.strip()[:LONGEST_LINE]).strip("`"))
        words = tuple(match["arguments"].split()) if match else ()
        if match and words and not any(set(word) & set("|&;<>$`") for word in words):
            commands.append((number, words, match["comment"] or ""))
    return commands
