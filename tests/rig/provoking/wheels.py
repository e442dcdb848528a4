"""Situations in which a wheel or the requirements are at fault."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.rig import index_faults as faults
from tests.rig.provoking.stage import TOY, Ran, Stage, situation
from tests.rig.uv_message import Blame
from tests.rig.wheel_maker import WheelFault, make_sdist, make_wheel


@situation(Blame.NOBODY, "everything is well")
def success(stage: Stage) -> Ran:
    stage.toy()
    return stage.install("toy==1.0")


@situation(Blame.NOBODY, "the version is yanked, and asked for by its number")
def yanked(stage: Stage) -> Ran:
    stage.toy(yanked="wrong gradients")
    return stage.install("toy==1.0")


@situation(Blame.BUILD, "every version is yanked, and none is asked for by its number")
def only_yanked(stage: Stage) -> Ran:
    stage.toy(yanked="wrong gradients")
    return stage.install("toy")


@situation(Blame.BUILD, "the file on the server is only half a wheel")
def broken_wheel_truncated(stage: Stage) -> Ran:
    stage.toy(broken=[WheelFault.TRUNCATED])
    return stage.install("toy==1.0")


@situation(Blame.BUILD, "the file on the server is no zip file")
def broken_wheel_not_a_zip(stage: Stage) -> Ran:
    stage.toy(broken=[WheelFault.NOT_A_ZIP])
    return stage.install("toy==1.0")


@situation(Blame.BUILD, "METADATA names another version than the file name")
def metadata_other_version(stage: Stage) -> Ran:
    stage.toy(broken=[WheelFault.OTHER_VERSION_INSIDE])
    return stage.install("toy==1.0")


@situation(Blame.BUILD, "METADATA names another version, and the wheel is given as a file")
def metadata_other_version_file(stage: Stage) -> Ran:
    return stage.install(str(stage.toy(broken=[WheelFault.OTHER_VERSION_INSIDE])))


@situation(Blame.BUILD, "METADATA has neither name nor version")
def metadata_broken(stage: Stage) -> Ran:
    stage.toy(broken=[WheelFault.BROKEN_METADATA])
    return stage.install("toy==1.0")


@situation(Blame.NOBODY, "RECORD has wrong hashes, which uv does not look at")
def record_wrong(stage: Stage) -> Ran:
    stage.toy(broken=[WheelFault.WRONG_RECORD])
    return stage.install("toy==1.0")


@situation(Blame.BUILD, "the only wheel is for another platform")
def other_platform(stage: Stage) -> Ran:
    stage.toy(tag="cp311-cp311-win_amd64")
    return stage.install("toy==1.0")


@situation(Blame.BUILD, "the only wheel is for another Python")
def other_python_tag(stage: Stage) -> Ran:
    stage.toy(tag="cp39-cp39-manylinux_2_28_x86_64")
    return stage.install("toy==1.0")


@situation(Blame.BUILD, "the wheel as a file is for another platform")
def other_platform_file(stage: Stage) -> Ran:
    return stage.install(str(stage.toy(tag="cp311-cp311-win_amd64")))


@situation(Blame.BUILD, "Requires-Python does not fit")
def requires_python(stage: Stage) -> Ran:
    stage.toy(requires_python=">=3.99")
    return stage.install("toy==1.0")


@situation(Blame.BUILD, "there is only a source distribution, and building is not allowed")
def only_sdist(stage: Stage) -> Ran:
    make_sdist(stage.wheels, "toy", "1.0")
    return stage.install("toy==1.0", options=["--only-binary", ":all:"])


@situation(Blame.BUILD, "there is only a source distribution that cannot be built")
def sdist_does_not_build(stage: Stage) -> Ran:
    make_sdist(stage.wheels, "toy", "1.0")
    return stage.install("toy==1.0")


@situation(Blame.BUILD, "the index has other versions, not this one")
def no_such_version(stage: Stage) -> Ran:
    stage.toy()
    return stage.install("toy==9.0")


@situation(Blame.BUILD, "the file of the wheel does not exist")
def file_missing(stage: Stage) -> Ran:
    return stage.install(str(stage.wheels / "toy-1.0-py3-none-any.whl"))


@situation(Blame.BUILD, "the package needs another one that the index does not have")
def dependency_unknown(stage: Stage) -> Ran:
    stage.toy(requires=["no-such-package"])
    return stage.install("toy==1.0")


@situation(Blame.BUILD, "the package needs a version that the index does not have")
def dependency_version_unknown(stage: Stage) -> Ran:
    make_wheel(stage.wheels, "helper", "1.0", modules={"helper.py": ""})
    stage.toy(requires=["helper==2.0"])
    return stage.install("toy==1.0")


@situation(Blame.REQUIREMENTS, "the package and the spec's requirements contradict each other")
def requirements_conflict(stage: Stage) -> Ran:
    for version in ("1.0", "2.0"):
        make_wheel(stage.wheels, "helper", version, modules={"helper.py": ""})
    stage.toy(requires=["helper<2"])
    return stage.install("toy==1.0", "helper==2.0")


@situation(Blame.REQUIREMENTS, "a requirement of the spec is unknown to the index")
def requirement_unknown(stage: Stage) -> Ran:
    stage.toy()
    return stage.install("toy==1.0", "no-such-package")


@situation(Blame.REQUIREMENTS, "a requirement of the spec is misspelled")
def requirement_malformed(stage: Stage) -> Ran:
    return stage.install("toy==")


@situation(Blame.REQUIREMENTS, "a requirement is only there as a pre-release")
def requirement_only_prerelease(stage: Stage) -> Ran:
    stage.toy("1.0rc1")
    return stage.install("toy>=0.5,<1.0")


@situation(Blame.REQUIREMENTS, "--exclude-newer lies before every upload of a requirement")
def exclude_newer_too_early(stage: Stage) -> Ran:
    stage.toy(uploaded=datetime(2026, 3, 1, tzinfo=UTC))
    return stage.install("toy==1.0", options=["--exclude-newer", "2026-02-01T00:00:00Z"])


@situation(Blame.REQUIREMENTS, "--exclude-newer, and the index has no upload times")
def exclude_newer_without_times(stage: Stage) -> Ran:
    stage.toy()
    stage.index.plant("toy", faults.without_upload_times())
    return stage.install("toy==1.0", options=["--exclude-newer", "2026-02-01T00:00:00Z"])


@situation(Blame.BUILD, "two packages of one environment own the same file")
def same_file_twice(stage: Stage) -> Ran:
    make_wheel(stage.wheels, "twin", "1.0", modules=TOY)
    stage.toy(requires=["twin"])
    return stage.install("toy==1.0")


@situation(Blame.BUILD, "--require-hashes with a hash that does not fit")
def required_hash_differs(stage: Stage) -> Ran:
    stage.toy()
    listed = stage.root / "requirements.txt"
    listed.write_text(f"toy==1.0 --hash=sha256:{'0' * 64}\n")
    return stage.install("--require-hashes", "-r", str(listed))


@situation(Blame.BUILD, "a direct address with a hash that does not fit")
def address_hash_differs(stage: Stage) -> Ran:
    address = stage.index.file_url(stage.toy().name)
    return stage.install(f"toy @ {address}#sha256={'0' * 64}")


@situation(Blame.NETWORK, "a direct address that answers 404")
def address_404(stage: Stage) -> Ran:
    return stage.install(f"toy @ {stage.index.file_url('toy-1.0-py3-none-any.whl')}")
