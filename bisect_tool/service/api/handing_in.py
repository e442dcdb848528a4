"""A question as it arrives: JSON with the files in it, or a form with files or an archive."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from fastapi import Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from bisect_tool.errors import SpecError
from bisect_tool.service.api.models import MOST_FILES, NewQuestion
from bisect_tool.service.problems import Refused
from bisect_tool.service.question import MOST_SPEC_BYTES, USUAL_PRIORITY, Submission
from bisect_tool.service.unpacking import MOST_ARCHIVE, unpack

FORM = "multipart/form-data"
JSON = "application/json"
_SPEC = "spec.yaml"
_ADVICE = "correct what is listed, then submit it again"


@dataclass(frozen=True, slots=True)
class HandedIn:
    """A submission with what goes along with it."""

    submission: Submission
    priority: int = USUAL_PRIORITY
    source: str | None = None


async def read_question(request: Request) -> HandedIn:
    """The question of a request.

    Raises `Refused`: 400 for a body that cannot be read, 415 for another kind, 422 for mistakes.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == JSON:
        body = await request.body()
        return await run_in_threadpool(_of_json, body)
    if kind == FORM:
        async with request.form(max_files=MOST_FILES + 2, max_fields=MOST_FILES, max_part_size=MOST_SPEC_BYTES) as form:
            return await _of_form(form)
    raise Refused(415, f"a question cannot be handed in as {kind[:100] or 'nothing'}", f"send {JSON} or {FORM}")


def _of_json(body: bytes) -> HandedIn:
    try:
        given = NewQuestion.model_validate_json(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        raise _mistaken([f"{'.'.join(map(str, one['loc'])) or 'body'}: {one['msg']}" for one in found]) from None
    files, mistakes = [], []
    for number, file in enumerate(given.files):
        try:
            files.append((file.path, _content(file.text, file.base64)))
        except ValueError as error:
            mistakes.append(f"files.{number}: {error}")
    if mistakes:
        raise _mistaken(mistakes)
    return HandedIn(Submission(given.spec, tuple(files)), given.priority, given.source)


def _content(text: str | None, encoded: str | None) -> bytes:
    """Raises `ValueError`."""
    if text is not None and encoded is None:
        return text.encode()
    if encoded is not None and text is None:
        try:
            return base64.b64decode(encoded, validate=True)
        except binascii.Error as error:
            raise ValueError(f"not base64: {error}") from None
    raise ValueError("one of `text` and `base64` is needed")


async def _of_form(form: FormData) -> HandedIn:
    """The fields: `spec` (text or file), `files` (their names are the paths), `archive`, `priority`, `source`."""
    unknown = sorted(set(form) - {"spec", "files", "archive", "priority", "source"})
    if unknown:
        raise _mistaken([f"{name[:100]!r}: no such field" for name in unknown])
    files = [(file.filename or "", await file.read()) for file in form.getlist("files") if isinstance(file, UploadFile)]
    if isinstance(archive := form.get("archive"), UploadFile):
        return await _of_archive(form, await archive.read(MOST_ARCHIVE + 1), len(files))
    spec = form.get("spec")
    if isinstance(spec, UploadFile):
        text = _text(await spec.read(MOST_SPEC_BYTES + 1))
    elif spec is not None:
        text = spec
    else:
        text = _text(dict(files).get(_SPEC))
        files = [(path, content) for path, content in files if path != _SPEC]
    return HandedIn(Submission(text, tuple(files)), _priority(form.get("priority")), _source(form.get("source")))


async def _of_archive(form: FormData, content: bytes, files: int) -> HandedIn:
    if files or "spec" in form:
        raise _mistaken(["archive: it holds the spec and all files, so that there are no others beside it"])
    submission = await run_in_threadpool(unpack, content)
    return HandedIn(submission, _priority(form.get("priority")), _source(form.get("source")))


def _text(content: bytes | None) -> str:
    if content is None:
        raise _mistaken(["spec: needed, as a field or as `spec.yaml` among the files"])
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise SpecError("the spec is not text in UTF-8", advice=_ADVICE) from None


def _priority(given: object) -> int:
    if given is None:
        return USUAL_PRIORITY
    text = str(given)
    if not (text.isascii() and text.isdecimal() and int(text[:9]) <= 100 and len(text) < 9):
        raise _mistaken(["priority: a whole number from 0 to 100 is expected"])
    return int(text)


def _source(given: object) -> str | None:
    if given is None:
        return None
    if not isinstance(given, str) or len(given) > 500:
        raise _mistaken(["source: a text of at most 500 characters is expected"])
    return given


def _mistaken(mistakes: list[str]) -> Refused:
    count = f"{len(mistakes)} {'mistake' if len(mistakes) == 1 else 'mistakes'}"
    return Refused(422, f"the question has {count}", _ADVICE, mistakes=mistakes)
