from __future__ import annotations

from pathlib import Path

from bisect_tool.environments.isolation import isolated_environment

OWN = {
    "CUDA_CACHE_PATH", "HOME", "NUMBA_CACHE_DIR", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR",
    "TRITON_CACHE_DIR", "TRITON_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
}  # fmt: skip
FIXED = {
    "BISECT_DEVICE", "PATH", "PYTHONFAULTHANDLER", "PYTHONIOENCODING", "PYTHONNOUSERSITE", "PYTHONUNBUFFERED", "VIRTUAL_ENV",
}  # fmt: skip
SECRETS = [
    "GITHUB_TOKEN",
    "HF_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "UV_INDEX_URL",
    "UV_INDEX_PASSWORD",
    "PIP_INDEX_URL",
    "NETRC",
    "SSH_AUTH_SOCK",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "NVIDIA",
    "DATABASE_URL",
    "PGPASSWORD",
    "LANG_TOKEN",
    "MY_LANG",
    "XTERM",
]
LEAKS = [
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONBREAKPOINT",
    "PYTHONWARNINGS",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "CONDA_PREFIX",
    "TORCH_LOGS",
    "TORCHDYNAMO_DISABLE",
    "PYTORCH_CUDA_ALLOC_CONF",
    "TORCH_HOME",
    "CUDA_LAUNCH_BLOCKING",
    "BISECT_CACHE",
    "BISECT_CHECKS",
    "BISECT_INDEX",
    "PWD",
    "OLDPWD",
]
PASSED = [
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TERM",
    "USER",
    "LOGNAME",
    "SHELL",
    "CC",
    "CXX",
    "CUDA_HOME",
    "CUDA_PATH",
    "ROCM_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "NVIDIA_VISIBLE_DEVICES",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NVPL_NUM_THREADS",
]


def isolated(folder: Path, environ: dict[str, str], device: str = "cuda", **extra: str) -> dict[str, str]:
    return isolated_environment(
        environ, scratch=folder / "scratch", programs=folder / "venv" / "bin", device=device, extra=extra
    )


def test_exactly_these_variables(tmp_path: Path) -> None:
    environ = {name: f"the user's {name}" for name in [*SECRETS, *LEAKS, *PASSED, *OWN, *FIXED]}
    seen = isolated(tmp_path, environ)
    assert set(seen) == OWN | FIXED | set(PASSED)
    assert {name: seen[name] for name in PASSED} == {name: f"the user's {name}" for name in PASSED}
    assert not [name for name in OWN | FIXED - {"PATH"} if "the user's" in seen[name]]


def test_every_cache_is_a_folder_of_its_own(tmp_path: Path) -> None:
    seen = isolated(tmp_path, {})
    folders = {Path(seen[name]) for name in OWN}
    assert len(folders) == len(OWN)
    assert all(folder.is_dir() and folder.parent == tmp_path / "scratch" for folder in folders)


def test_the_programs_of_the_environment_come_first(tmp_path: Path) -> None:
    seen = isolated(tmp_path, {"PATH": "/opt/bin:/bin"})
    assert seen["PATH"] == f"{tmp_path}/venv/bin:/opt/bin:/bin"
    assert seen["VIRTUAL_ENV"] == f"{tmp_path}/venv"
    assert isolated(tmp_path, {})["PATH"] == f"{tmp_path}/venv/bin:/usr/local/bin:/usr/bin:/bin"


def test_on_the_processor_no_gpu_is_seen(tmp_path: Path) -> None:
    environ = {"CUDA_VISIBLE_DEVICES": "3"}
    assert isolated(tmp_path, environ, "cpu")["CUDA_VISIBLE_DEVICES"] == ""
    assert isolated(tmp_path, environ)["CUDA_VISIBLE_DEVICES"] == "3"


def test_what_the_spec_sets_comes_last(tmp_path: Path) -> None:
    seen = isolated(tmp_path, {"LANG": "C"}, "cpu", LANG="de_DE", HOME="elsewhere", TORCH_LOGS="+dynamo")
    assert (seen["LANG"], seen["HOME"], seen["TORCH_LOGS"]) == ("de_DE", "elsewhere", "+dynamo")
