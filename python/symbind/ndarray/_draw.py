"""How mx.nd.random and mx.sym.random choose between numbers and arrays as parameters."""
from ..base import _Null, numeric_types


def make(function, array_class):
    """A drawing function over operators made by `function`."""

    def draw(distribution, params, given, for_numbers):
        given = {k: v for k, v in given.items() if v is not _Null and v is not None}
        are_arrays = [isinstance(p, array_class) for p in params.values()]
        if all(are_arrays):
            return function(f"_sample_{distribution}")(*params.values(), **given)
        if any(are_arrays):
            raise ValueError(
                f"Distribution parameters must all have the same type, but got both "
                f"{' and '.join(sorted({str(type(p)) for p in params.values()}))}.")
        for name, value in params.items():
            if not isinstance(value, numeric_types):
                raise ValueError(f"Distribution parameters must be either {array_class.__name__} or "
                                 f"numbers, but got {type(value)}.")
        if "out" in given:
            for_numbers = {}
        elif "shape" not in given:
            given["shape"] = 1
        return function(f"_random_{distribution}")(**params, **given, **for_numbers)

    return draw
