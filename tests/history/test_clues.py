from __future__ import annotations

from bisect_tool.history.clues import Clues, Frame, Sought, collect_clues, frames_in
from bisect_tool.history.parts import Part

TRACEBACK = """Traceback (most recent call last):
  File "/tmp/spec/repro.py", line 5, in <module>
    torch.compile(f)(x)
  File "/env/lib/python3.11/site-packages/torch/_dynamo/eval_frame.py", line 9, in compile_wrapper
    return fn(*args, **kwargs)
  File "/env/lib/python3.11/contextlib.py", line 81, in inner
    return func(*args, **kwds)
  File "/tmp/torchinductor_me/ab/cabc.py", line 3, in call
    buf0.run()
  File "/env/lib/python3.11/site-packages/torch/_inductor/lowering.py", line 7, in scatter_fallback
    raise NotImplementedError("no scatter of bools")
NotImplementedError: no scatter of bools, see config.fallback_random and TORCHINDUCTOR_SHAPE_PADDING
"""


def test_only_places_in_installed_packages_count() -> None:
    assert frames_in(TRACEBACK) == (
        Frame("torch/_dynamo/eval_frame.py", "compile_wrapper"),
        Frame("torch/_inductor/lowering.py", "scatter_fallback"),
    )


def test_windows_paths() -> None:
    text = 'File "C:\\env\\Lib\\site-packages\\torch\\nn\\functional.py", line 1, in linear\n'
    assert frames_in(text) == (Frame("torch/nn/functional.py", "linear"),)


FATAL = """Fatal Python error: Aborted

Current thread 0x00007fa2ef681b80 (most recent call first):
  File "/e/venv/lib/python3.11/site-packages/pygments/lexer.py", line 712 in get_tokens_unprocessed
  File "/e/venv/lib/python3.11/site-packages/pygments/lexers/scripting.py", line 167 in streamer
  File "/t/repro/repro.py", line 9 in main

Extension modules: numpy.random.mt19937, numpy.random._generator (total: 2)
"""


def test_the_stack_of_a_crash_or_a_timeout_has_its_innermost_place_first() -> None:
    assert frames_in(FATAL) == (
        Frame("pygments/lexers/scripting.py", "streamer"),
        Frame("pygments/lexer.py", "get_tokens_unprocessed"),
    )


def test_the_folders_of_that_stack_are_no_words_of_the_failure() -> None:
    assert collect_clues(failure=f"{FATAL}timeout in lexing").message == {"timeout", "lexing"}


def test_the_words_are_those_of_the_failure_and_not_of_the_frames() -> None:
    clues = collect_clues(
        failure=TRACEBACK, script="y = x.index_put((i,), v)", sought=Sought.FIX, pins=["Triton"], part=Part.PYTHON
    )
    assert {"scatter", "bools"} <= clues.message
    assert "buf0" not in clues.message
    assert {"fallback_random", "padding", "torchinductor_shape_padding"} <= clues.keys
    assert {"index_put", "index", "put"} - {"put"} <= clues.repro
    assert (clues.sought, clues.pins, clues.part) == (Sought.FIX, frozenset({"triton"}), Part.PYTHON)


def test_nothing_known() -> None:
    assert collect_clues() == Clues()
