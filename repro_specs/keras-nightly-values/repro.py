"""Four small questions to Keras, each answered by hand."""

import sys

import keras
import numpy as np


class Listener:
    """A callback by its methods alone, which does not inherit from Keras' class."""

    def __getattr__(self, name: str) -> object:
        return lambda *_: None


def squared_error() -> tuple[object, object]:
    return keras.losses.MeanSquaredError()(np.array([[1.0, 2.0]]), np.array([[1.0, 4.0]])), 2.0


def tversky() -> tuple[object, object]:
    """One true positive, one false positive, no false negative: 1 - 1 / (1 + alpha), as alpha weighs false positives."""
    loss = keras.losses.Tversky(alpha=0.2, beta=0.8)
    return loss(np.array([[1.0, 0.0]]), np.array([[1.0, 1.0]])), 1 - 1 / 1.2


def normalize() -> tuple[object, object]:
    return keras.utils.normalize(np.array([[3.0, 0.0, 12.0], [4.0, 5.0, 0.0]]), axis=0), [[0.6, 0, 1], [0.8, 1, 0]]


def normalize_square() -> tuple[object, object]:
    """With as many rows as columns the wrong axis fits."""
    return keras.utils.normalize(np.array([[3.0, 0.0], [4.0, 10.0]]), axis=0), [[0.6, 0], [0.8, 1]]


def callback() -> tuple[object, object]:
    return len(keras.callbacks.CallbackList([Listener()]).callbacks), 1


def main(case: str) -> None:
    found, expected = globals()[case.replace("-", "_")]()
    print(f"keras {keras.__version__}: {case} gives {np.asarray(found).tolist()}")
    if not np.allclose(np.asarray(found, dtype="float64"), expected, atol=1e-4):
        sys.exit(f"wrong {case}: {np.asarray(found).tolist()}, expected {expected}")


if __name__ == "__main__":
    main(sys.argv[1])
