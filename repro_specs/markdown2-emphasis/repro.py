"""Names with underscores in and around bold text, with an extra that is to leave the underscores alone."""

import sys

import markdown2

CASES = {
    "plain": ("**bold** text", [], "<p><strong>bold</strong> text</p>"),
    "name-in-bold": ("**a_b_c**", ["code-friendly"], "<p><strong>a_b_c</strong></p>"),
    "names-around-bold": ("a_b **bold** c_d **bold**", ["code-friendly"], None),
    "middle-word-em": ("**one** two", ["middle-word-em"], "<p><strong>one</strong> two</p>"),
}
BOLD = "<p>a_b <strong>bold</strong> c_d <strong>bold</strong></p>"


def main(case: str) -> None:
    text, extras, expected = CASES[case]
    found = markdown2.markdown(text, extras=extras).strip()
    print(f"{text!r} gives {found!r}")
    if found != (expected or BOLD):
        sys.exit(f"not as expected: {found}")


if __name__ == "__main__":
    main(sys.argv[1])
