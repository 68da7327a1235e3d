"""Random shapes, numbers and attributes."""
import numpy as np


class Draw:
    """A seeded source: equal seeds give equal cases."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def integer(self, low, high):
        """An integer from low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def flag(self):
        return bool(self.rng.integers(2))

    def one_of(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def shape(self, low=1, high=4, size=5):
        """Between `low` and `high` axes of at most `size`."""
        return tuple(self.integer(1, size) for _ in range(self.integer(low, high)))

    def uniform(self, shape, low=-2.0, high=2.0):
        return self.rng.uniform(low, high, size=shape)

    def number(self, low, high):
        """A number for an attribute: most are kept in float32, so it has no more digits."""
        return float(np.float32(self.rng.uniform(low, high)))

    def apart(self, shape):
        """Numbers no two of which are near one another, in random order."""
        count = int(np.prod(shape))
        return (self.rng.permutation(count) * 0.5 - count / 4 + 0.1).reshape(shape)

    def integers(self, shape, low, high):
        """Integers from low to high as float64."""
        return self.rng.integers(low, high + 1, size=shape).astype(np.float64)

    def axis(self, axes):
        """An axis of so many, counted from either end."""
        return self.integer(-axes, axes - 1)

    def axes(self, axes):
        """A few different axes, in any order and counted from either end."""
        chosen = self.rng.permutation(axes)[:self.integer(1, axes)]
        return tuple(int(a) - axes * self.flag() for a in chosen)
