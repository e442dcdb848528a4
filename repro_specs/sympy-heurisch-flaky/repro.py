"""An integral whose way depends on the order of sets, and with it on PYTHONHASHSEED, which nobody sets here."""

import sys

import sympy


def main(case: str) -> None:
    a, b, x = sympy.symbols("a b x")
    integrand = 1 / (b * sympy.cos(x) + a * sympy.sin(x)) if case == "symbols" else 1 / (1 + sympy.cos(x))
    print(f"sympy {sympy.__version__}: {str(sympy.integrate(integrand, x))[:60]}")


if __name__ == "__main__":
    main(sys.argv[1])
