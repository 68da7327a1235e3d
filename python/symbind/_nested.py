"""Flattens and restores nested lists, which the loop functions take and return."""


def flatten(value, kind, what):
    """The values of type `kind` in nested lists, and the form: None for a value, else a list of forms."""
    if isinstance(value, kind):
        return [value], None
    assert isinstance(value, (list, tuple)), "{} must be (nested) list of {}, but got {} of type {}".format(
        what, kind.__name__, value, type(value))
    parts = [flatten(each, kind, what) for each in value]
    return [one for flat, _ in parts for one in flat], [form for _, form in parts]


def regroup(flat, form):
    """The values in their original nested form."""
    values = iter(flat)

    def build(form):
        return next(values) if form is None else [build(each) for each in form]
    return build(form)
