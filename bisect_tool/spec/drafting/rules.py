"""Every rule by which a draft is made: its name, what it looks at, what it makes. `docs/init-rules.md` comes from this."""

from __future__ import annotations

RULES: dict[str, tuple[str, str]] = {
    "code-choice": (
        "Code between fences, after prompts, indented, in what was typed into a shell, or bare among the sentences, that "
        "Python's parser takes.",
        "The repro is the piece with the most points: it imports the package (4), calls `torch.compile` (3), has the code of "
        "the title (3), stands under words such as `Minimal reproducer` (3), uses words of the title (2), stands right under "
        "words that say that it fails (2; that it works: less 2), asserts something (1); less 6 under words such as "
        "`Workaround`, `Expected` or `Versions`, or when it only prints versions. Among equals the first.",
    ),
    "code-imports": (
        "Names that everybody knows and nothing in the code defines: `torch`, `nn`, `F`, `np`, `os` …, `device`; in reports "
        "on sympy its functions and single letters, too.",
        "Their imports are put on top.",
    ),
    "code-joined": ("Names that an earlier piece of code defines.", "The earlier piece is put in front."),
    "code-mended": (
        "Quotes and dashes that a word processor has changed.",
        "They become plain ones, if Python takes it then.",
    ),
    "code-spoken": (
        "No code of the failure, but one sentence (the title first) names one operation of torch, the rank of its input, and "
        "that it fails compiled.",
        "A script of some lines that calls it, eager and compiled. The report may be wrong in every way, so this is a guess to "
        "be tried.",
    ),
    "kind": (
        "Words of the title, then of the first sentences: silently, wrong, crash, hang, leak, slower, warning; else a quoted "
        "exception.",
        "What may be added to the script, and what is left to you.",
    ),
    "package-repository": ("The repository of the issue.", "The package that it is known for."),
    "package-import": (
        "What the code imports, and which of these the text names versions of.",
        "torch when it is imported; another one when versions of that one are named and none of torch.",
    ),
    "channel-release": ("Which builds are named.", "`release`: few builds, which stay; nightlies are the second step."),
    "channel-nightly": ("A nightly that works and one that fails, or words such as `only on nightly`.", "`nightly`."),
    "from-good": ("The newest build that is said to work and is older than all that fail.", "`from`."),
    "from-named": (
        "Two builds that are only named, and words such as `regression` or `no longer`.",
        "`from`: the older one.",
    ),
    "from-two-before": (
        "A build that fails, and none that works.",
        "`from`: two minor releases before it; in the first two of a major version a year before the day of the report, "
        "if that is known.",
    ),
    "from-days-before": ("A nightly that fails, and only nightlies do.", "`from`: 60 days before it."),
    "from-a-year-before": (
        "Only the day of a nightly, or the day on which an issue was filed.",
        "`from`: a year before.",
    ),
    "from-walk-back": ("Nothing.", "`from` is left out: the search walks back from the newest build."),
    "from-bad": (
        "A release that fails and a newer one that works, and none before that works.",
        "`from`: the one that fails.",
    ),
    "to-bad": ("The newest build that is said to fail.", "`to`: both ends of the range are said to differ then."),
    "to-named": ("Builds that are only named.", "`to`: the newest of them."),
    "to-good": (
        "A release that fails and a newer one that works, and none before that works.",
        "`to`: the one that works.",
    ),
    "to-two-after": ("A nightly that fails.", "`to`: two minor releases after it."),
    "to-newest": ("No build that fails.", "`to` is left out: up to the newest release."),
    "device-cpu": ("No `cuda` in the code.", "`[cpu]`."),
    "device-gpu-only": (
        "The failure or the code is one of GPUs alone: Triton, CUDA graphs, NCCL, associative_scan, events and streams …",
        "`[cuda]`, and the code stays as it is.",
    ),
    "device-own-choice": ("`torch.cuda.is_available()` decides.", "`[cuda, cpu]`, and the code stays as it is."),
    "device-either": (
        "`cuda` is only the name of the place of the tensors.",
        "`[cuda, cpu]`: the name becomes `DEVICE` (`BISECT_DEVICE` where the code has that word), which is `$BISECT_DEVICE`; "
        "`torch.cuda.synchronize()` waits for GPUs only.",
    ),
    "python": (
        "`Python version: 3.12.3`, `on Python 3.10`, `3.9.18 (main, …`, `sys.version_info(major=3, minor=8`.",
        "`python`, without the third number.",
    ),
    "requires-imports": (
        "Imports that neither Python nor the package bring along.",
        "`requires`, by the name of the distribution; one that is not well known is a guess. `utils` and its like are files "
        "that are missing.",
    ),
    "requires-one-of": ("keras, and no import of a backend.", "`requires: [tensorflow]`."),
    "hold-torch": ("torch imported beside builds of triton.", "`hold: [torch]`, because torch pins triton."),
    "timeout-hang": (
        "A report of a hang, and a script that compiles nothing.",
        "`timeout: 60`, because each trial of a build that hangs takes that long.",
    ),
    "source-known": (
        "The repository of the issue, or the one that the package is known for.",
        "`source`, for the commits.",
    ),
    "env-command": (
        "`NAME=value python script.py` and `export NAME=value`.",
        "`env`; switches that only print more, places of caches and secrets are left out.",
    ),
    "case-one": ("No `torch.compile`, no options.", "One case: the script."),
    "case-option": (
        "An option `--backend`, `--mode`, `--variant` or `--case` of the script with `choices`.",
        "A case for each choice.",
    ),
    "case-command": (
        "Command lines that run the script with arguments.",
        "A case for each; `# works` makes a control.",
    ),
    "case-compiled": ("`torch.compile`.", "The case `inductor`: the code as it is."),
    "case-eager": (
        "`torch.compile`, nothing that looks at the compiler itself, and no word that eager fails, too.",
        "The control `eager`: `torch.compile` does nothing.",
    ),
    "case-aot-eager": (
        "What is said of aot_eager; else an exception, a traceback or a title that blames Inductor.",
        "The control `aot_eager`; a test when it is said to fail.",
    ),
    "case-static": (
        "`dynamic=True`, and that static sizes work (in words, or because the code compiles without it first).",
        "The control `static`.",
    ),
    "case-below": (
        "`>= 8193`, `3 or more`, `> 64` in the text, and this number once in the code.",
        "The control `below-8193`, with one less.",
    ),
    "case-shape": (
        "A script made of words for a scalar, and that a dimension makes it work.",
        "The control `one-dim`.",
    ),
    "expected-message": (
        "The last exception of the first traceback; else one in a sentence; else one in a comment of the code; else its type "
        "alone. A warning only in a report of warnings; for a crash, a hang, or too much memory only if it speaks of that.",
        "`failures`: the words of the cause without its wrappers; numbers, addresses, paths and little words may be anything.",
    ),
    "expected-signal": (
        "A crash, and the first words such as `Segmentation fault` or `Aborted`.",
        "`failures`: the signal.",
    ),
    "expected-check": ("A check that was added.", "`failures`: `wrong-values`."),
    "check-difference": (
        "Wrong results, and a script that prints `(a - b).abs().max()` without an assertion.",
        "`torch.testing.assert_close(b, a)` after it, with the tolerances of the type.",
    ),
    "check-comparison": (
        "Wrong results, and a script that prints `torch.allclose(a, b)` or `torch.equal(a, b)`.",
        "`assert` on the same.",
    ),
    "check-pair": (
        "Wrong results, and one function that is called plain and compiled in one block.",
        "Results must agree; after `backward()`, the gradients of the arguments.",
    ),
    "raise-warning": (
        "A report of a warning that it quotes.",
        "A filter on top that makes an exception of this warning, and of no other.",
    ),
    "raise-again": (
        "An exception, and a handler that catches everything and only prints it.",
        "`raise` at its end, so that the script ends with the exception.",
    ),
}
