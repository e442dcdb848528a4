from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from bisect_tool.errors import SettingError
from bisect_tool.settings import Settings, read_settings

SETTINGS = (
    "ahead", "bandwidth", "cache", "executor", "github_api", "index", "jobs", "keep_days", "lease", "logs", "max_cache",
    "max_downloads", "nightly_index", "ray_address", "repo", "reviews", "sandbox", "sandbox_shows", "server", "store", "thin",
    "token", "trial_cpu", "trial_disk", "trial_file_size", "trial_memory", "trial_processes", "verify", "wait_for_gpu",
    "watch_days", "watch_every", "wheelhouse",
)  # fmt: skip


def settings_file(home: Path, text: str) -> Path:
    path = home / ".config" / "bisect" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def read(home: Path, environ: dict[str, str] | None = None, **flags: object) -> Settings:
    """The settings of a tool that is installed, not run from a checkout."""
    return read_settings(flags, environ or {}, home, package=home / "site-packages" / "bisect_tool")


def refusal(home: Path, environ: dict[str, str] | None = None, **flags: object) -> SettingError:
    with pytest.raises(SettingError) as caught:
        read(home, environ, **flags)
    return caught.value


def test_the_defaults(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert dataclasses.asdict(found) == {
        "ahead": 2,
        "bandwidth": None,
        "cache": tmp_path / ".cache" / "bisect",
        "executor": "local",
        "github_api": None,
        "index": None,
        "jobs": None,
        "keep_days": 90,
        "lease": 180,
        "logs": None,
        "max_cache": None,
        "max_downloads": None,
        "nightly_index": None,
        "ray_address": "auto",
        "repo": None,
        "reviews": 0.02,
        "sandbox": "off",
        "sandbox_shows": None,
        "server": None,
        "store": None,
        "thin": "auto",
        "token": None,
        "trial_cpu": None,
        "trial_disk": None,
        "trial_file_size": None,
        "trial_memory": None,
        "trial_processes": None,
        "verify": 2,
        "wait_for_gpu": 0,
        "watch_days": 180,
        "watch_every": 1800,
        "wheelhouse": None,
        "sources": dict.fromkeys(SETTINGS, "default"),
    }


def test_flag_over_environment_over_file_over_default(tmp_path: Path) -> None:
    file = settings_file(tmp_path, 'verify = 5\nindex = "https://file.example.org"\nmax-cache = "1GB"\n')
    environ = {"BISECT_VERIFY": "4", "BISECT_INDEX": "https://environ.example.org"}
    found = read(tmp_path, environ, verify="3", index=None)
    assert (found.verify, found.sources["verify"]) == (3, "--verify")
    assert (found.index, found.sources["index"]) == ("https://environ.example.org", "BISECT_INDEX")
    assert (found.max_cache, found.sources["max_cache"]) == (10**9, str(file))
    assert (found.wheelhouse, found.sources["wheelhouse"]) == (None, "default")


def test_a_flag_of_zero_was_given(tmp_path: Path) -> None:
    found = read(tmp_path, {"BISECT_VERIFY": "4"}, verify="0")
    assert (found.verify, found.sources["verify"]) == (0, "--verify")


def test_an_empty_variable_was_not_set(tmp_path: Path) -> None:
    assert read(tmp_path, {"BISECT_VERIFY": "", "BISECT_CACHE": ""}).sources["verify"] == "default"


@pytest.mark.parametrize(
    ("value", "size"), [("40GB", 40 * 10**9), ("512MiB", 512 * 1024**2), ("1000000", 1_000_000), ("0", 0)]
)
def test_sizes(tmp_path: Path, value: str, size: int) -> None:
    assert read(tmp_path, max_cache=value).max_cache == size


def test_the_file_may_say_a_size_as_a_number(tmp_path: Path) -> None:
    settings_file(tmp_path, "max-cache = 1000\n")
    assert read(tmp_path).max_cache == 1000


def test_the_home_folder_in_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read(tmp_path, cache="~/builds").cache == tmp_path / "builds"


def test_a_path_is_relative_to_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert read(tmp_path, wheelhouse="wheels").wheelhouse == tmp_path / "wheels"


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("verify", "21", "the setting verify cannot be used: 21 is not between 0 and 20"),
        ("verify", "-1", "the setting verify cannot be used: -1 is not between 0 and 20"),
        ("sandbox", "yes", "the setting sandbox cannot be used: 'yes' is neither off, auto nor on"),
        (
            "sandbox_shows",
            "/opt:here",
            "the setting sandbox-shows cannot be used: 'here' is no absolute path, or all there is",
        ),
        ("trial_processes", "0", "the setting trial-processes cannot be used: 0 is not between 1 and 1000000000"),
        ("thin", "on", "the setting thin cannot be used: 'on' is neither auto nor off"),
        ("verify", "two", "the setting verify cannot be used: not a whole number: 'two'"),
        (
            "max_cache",
            "big",
            "the setting max-cache cannot be used: not a size: 'big'; write it like 40GB, 512MiB or 1000000",
        ),
        (
            "max_cache",
            "-5",
            "the setting max-cache cannot be used: not a size: '-5'; write it like 40GB, 512MiB or 1000000",
        ),
    ],
)
def test_a_bad_value_names_its_source(tmp_path: Path, name: str, value: str, what: str) -> None:
    flag = refusal(tmp_path, None, **{name: value})
    assert (flag.what, flag.where) == (what, f"--{name.replace('_', '-')}")
    variable = refusal(tmp_path, {f"BISECT_{name.upper()}": value})
    assert (variable.what, variable.where) == (what, f"BISECT_{name.upper()}")
    file = settings_file(tmp_path, f"{name.replace('_', '-')} = '{value}'\n")
    assert (refusal(tmp_path).what, refusal(tmp_path).where) == (what, str(file))


@pytest.mark.parametrize(
    "line", ["index = 5", "cache = [1]", "wheelhouse = true", "verify = 1.5", "max-cache = -1", "max-cache = false"]
)
def test_a_value_of_the_wrong_kind_in_the_file(tmp_path: Path, line: str) -> None:
    file = settings_file(tmp_path, line)
    error = refusal(tmp_path)
    assert error.what.startswith(f"the setting {line.split(maxsplit=1)[0]} cannot be used: ")
    assert error.where == str(file)


def test_an_empty_path_is_not_the_working_folder(tmp_path: Path) -> None:
    assert refusal(tmp_path, cache="").where == "--cache"


def test_a_user_that_does_not_exist(tmp_path: Path) -> None:
    assert refusal(tmp_path, cache="~no-such-user/x").where == "--cache"


@pytest.mark.parametrize(
    ("key", "meant"), [("max_cashe", "; did you mean 'max-cache'?"), ("verfy", "; did you mean 'verify'?"), ("x", "")]
)
def test_an_unknown_key_in_the_file(tmp_path: Path, key: str, meant: str) -> None:
    file = settings_file(tmp_path, f"{key} = 1\n")
    error = refusal(tmp_path)
    assert error.what == f"the settings file has an unknown key '{key.replace('_', '-')}'{meant}"
    assert error.where == str(file)
    assert error.advice == f"keys are {', '.join(SETTINGS).replace('_', '-')}"


@pytest.mark.parametrize(
    ("setting", "given", "value"),
    [
        ("ahead", "off", 0),
        ("ahead", "5", 5),
        ("jobs", "auto", None),
        ("jobs", "8", 8),
        ("max_downloads", "20GB", 20 * 10**9),
    ],
)
def test_the_settings_of_speed(tmp_path: Path, setting: str, given: str, value: int | None) -> None:
    assert getattr(read(tmp_path, {f"BISECT_{setting.upper()}": given}), setting) == value


@pytest.mark.parametrize(
    ("setting", "given"),
    [("ahead", "some"), ("jobs", "0"), ("jobs", "two"), ("max_downloads", "x"), ("wait_for_gpu", "-1")],
)
def test_a_setting_of_speed_that_makes_no_sense(tmp_path: Path, setting: str, given: str) -> None:
    variable = f"BISECT_{setting.upper()}"
    assert refusal(tmp_path, {variable: given}).where == variable


@pytest.mark.parametrize(
    ("setting", "given", "value"),
    [("watch_every", "off", 0), ("watch_every", "60", 60), ("reviews", "5%", 0.05), ("reviews", "0", 0.0)],
)
def test_the_settings_of_watches(tmp_path: Path, setting: str, given: str, value: float) -> None:
    assert getattr(read(tmp_path, {f"BISECT_{setting.upper()}": given}), setting) == value


@pytest.mark.parametrize(
    ("setting", "given"),
    [("watch_every", "59"), ("watch_days", "0"), ("keep_days", "13"), ("reviews", "2"), ("reviews", "some")],
)
def test_a_setting_of_watches_that_makes_no_sense(tmp_path: Path, setting: str, given: str) -> None:
    variable = f"BISECT_{setting.upper()}"
    assert refusal(tmp_path, {variable: given}).where == variable


@pytest.mark.parametrize("content", [b"verify = \n", b"title = '\xe9'\n", b"a = 1\na = 2\n"])
def test_a_file_that_is_not_toml(tmp_path: Path, content: bytes) -> None:
    file = settings_file(tmp_path, "")
    file.write_bytes(content)
    error = refusal(tmp_path)
    assert error.what.startswith("the settings file cannot be read: ")
    assert error.where == str(file)


def test_a_file_that_the_environment_names(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("verify = 7\n")
    assert read(tmp_path, {"BISECT_CONFIG": str(file)}).verify == 7


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    error = refusal(tmp_path, {"BISECT_CONFIG": str(tmp_path / "gone.toml")})
    assert error.where == str(tmp_path / "gone.toml")


def test_the_folders_of_xdg(tmp_path: Path) -> None:
    file = tmp_path / "etc" / "bisect" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text("verify = 7\n")
    found = read(tmp_path, {"XDG_CONFIG_HOME": str(tmp_path / "etc"), "XDG_CACHE_HOME": str(tmp_path / "var")})
    assert (found.verify, found.cache) == (7, tmp_path / "var" / "bisect")


def test_a_checkout_has_its_own_cache(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "cache").mkdir()
    package = tmp_path / "bisect_tool"
    user = tmp_path / ".cache" / "bisect"
    assert read_settings({}, {}, tmp_path, package=package).cache == user
    (tmp_path / "cache" / "README.md").touch()
    assert read_settings({}, {}, tmp_path, package=package).cache == tmp_path / "cache"
    assert read_settings({"cache": "/x"}, {}, tmp_path, package=package).cache == Path("/x")


@pytest.mark.parametrize("text", ["20MB", "20 MB/s", "20000000"])
def test_a_bandwidth_is_bytes_a_second(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, bandwidth=text).bandwidth == 20_000_000


def test_a_bandwidth_of_nearly_nothing_is_refused(tmp_path: Path) -> None:
    assert "too little to fetch anything" in refusal(tmp_path, bandwidth="9kB").what


def test_the_explanation(tmp_path: Path) -> None:
    found = read(tmp_path, {"BISECT_VERIFY": "3"}, cache="/x", index="https://me:secret@example.org/simple")
    assert found.explain() == [
        ("ahead", "2", "default"),
        ("bandwidth", "no bound", "default"),
        ("cache", "/x", "--cache"),
        ("executor", "local", "default"),
        ("github-api", "GitHub's own", "default"),
        ("index", "https://example.org/simple", "--index"),
        ("jobs", "one for each GPU, 1 on the CPU", "default"),
        ("keep-days", "90 days", "default"),
        ("lease", "180 s", "default"),
        ("logs", "the folder of the cache", "default"),
        ("max-cache", "no bound", "default"),
        ("max-downloads", "no bound", "default"),
        ("nightly-index", "PyTorch's own", "default"),
        ("ray-address", "auto", "default"),
        ("repo", "none", "default"),
        ("reviews", "0.02 of the answers a day", "default"),
        ("sandbox", "off", "default"),
        ("sandbox-shows", "none", "default"),
        ("server", "none", "default"),
        ("store", "the file of the cache", "default"),
        ("thin", "auto", "default"),
        ("token", "none", "default"),
        ("trial-cpu", "no bound", "default"),
        ("trial-disk", "64 GB", "default"),
        ("trial-file-size", "no bound", "default"),
        ("trial-memory", "90 % of the machine's", "default"),
        ("trial-processes", "4096", "default"),
        ("verify", "3", "BISECT_VERIFY"),
        ("wait-for-gpu", "no", "default"),
        ("watch-days", "180 days", "default"),
        ("watch-every", "1800 s", "default"),
        ("wheelhouse", "none", "default"),
    ]


@pytest.mark.parametrize("index", ["https://me:se@cret@example.org/x", "https://token@example.org/x"])
def test_the_explanation_hides_every_credential(tmp_path: Path, index: str) -> None:
    assert dict(row[:2] for row in read(tmp_path, index=index).explain())["index"] == "https://example.org/x"


@pytest.mark.parametrize("address", ["auto", "local", "10.0.0.1:6379", "head:6379", "ray://head:10001", "[::1]:6379"])
def test_the_address_of_a_ray_cluster(tmp_path: Path, address: str) -> None:
    assert read(tmp_path, {"BISECT_RAY_ADDRESS": address}).ray_address == address


@pytest.mark.parametrize("address", ["head", "http://head:6379", "head:port", "ray://"])
def test_what_is_no_address_of_a_ray_cluster(tmp_path: Path, address: str) -> None:
    assert "ray://host:port" in refusal(tmp_path, ray_address=address).what


def test_the_address_of_the_nightlies(tmp_path: Path) -> None:
    assert (
        read(tmp_path, nightly_index="https://mirror.example/nightly/").nightly_index
        == "https://mirror.example/nightly"
    )


def test_a_password_in_an_address_is_not_shown(tmp_path: Path) -> None:
    rows = dict(row[:2] for row in read(tmp_path, nightly_index="https://me:secret@mirror.example/nightly").explain())
    assert rows["nightly-index"] == "https://mirror.example/nightly"


@pytest.mark.parametrize("value", ["mirror.example/nightly", "file:///nightly", "https://"])
def test_what_is_no_address_of_nightlies(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingError, match="nightly-index"):
        read(tmp_path, nightly_index=value)


SECRET = "postgresql+psycopg://me:p@ss/w:rd@db.example:5432/bisect?sslmode=require&password=p@ss/w:rd"


def test_no_part_of_the_address_of_a_store_or_of_logs_that_may_be_secret_is_shown(tmp_path: Path) -> None:
    found = read(tmp_path, {"BISECT_STORE": SECRET, "BISECT_LOGS": "ftp://me:p@ss/w:rd@logs.example/x?key=p@ss/w:rd"})
    rows = {row[0]: row[1:] for row in found.explain()}
    assert rows["store"] == ("postgresql+psycopg://db.example:5432/bisect", "BISECT_STORE")
    assert rows["logs"] == ("ftp://logs.example/x", "BISECT_LOGS")
    assert found.store == SECRET
    assert "p@ss" not in repr(found)


@pytest.mark.parametrize("given", ["mysql://me:secret@db/x", "me:secret@db/x", "sqlite://", "/results.sqlite"])
def test_a_store_that_is_no_database_of_ours(tmp_path: Path, given: str) -> None:
    error = refusal(tmp_path, store=given)
    assert "it begins with sqlite:/// or postgresql+psycopg://" in error.what
    assert "secret" not in str(error)


def test_logs_in_a_folder_are_meant_from_here(tmp_path: Path) -> None:
    assert read(tmp_path, logs="logs").logs == str(Path.cwd() / "logs")
    assert read(tmp_path, logs="s3://bucket/logs").logs == "s3://bucket/logs"


def test_limits_of_trials_are_settings_and_may_be_off(tmp_path: Path) -> None:
    settings_file(tmp_path, 'trial-disk = "5GB"\ntrial-cpu = 600\ntrial-file-size = false\n')
    found = read(tmp_path, {"BISECT_TRIAL_MEMORY": "2GB", "BISECT_TRIAL_PROCESSES": "off"}, trial_cpu="60")
    assert (found.trial_memory, found.trial_disk, found.trial_processes) == (2 * 10**9, 5 * 10**9, 0)
    assert (found.trial_cpu, found.trial_file_size, found.sources["trial_cpu"]) == (60, 0, "--trial-cpu")


def test_what_the_sandbox_shows(tmp_path: Path) -> None:
    assert read(tmp_path, sandbox_shows="/opt/rocm:/opt/gcc").sandbox_shows == "/opt/rocm:/opt/gcc"
