"""Slicing a batch over devices: the helpers that scripts take from MXNet's executor_manager."""
from . import ndarray as nd


def _split_input_slice(batch_size, work_load_list):
    """A slice of the batch for each device, in proportion to its work load. Sizes are rounded half
    to even; what is left over goes to the last device. ValueError when a device would get nothing.
    """
    total = sum(work_load_list)
    sizes = [round(load * batch_size / total) for load in work_load_list]
    sizes[-1] += max(0, batch_size - sum(sizes))
    slices, end = [], 0
    for size in sizes:
        begin, end = end, min(end + size, batch_size)
        if begin >= end:
            raise ValueError('Too many slices. Some splits are empty.')
        slices.append(slice(begin, end))
    return slices


def _first_repeated(names):
    return next((name for i, name in enumerate(names) if name in names[:i]), None)


def _check_arguments(symbol):
    """Raises ValueError when two arguments, or two auxiliary states, have the same name."""
    arguments, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    advice = ', please make the weight name non-duplicated(using name arguments), arguments are %s'
    name = _first_repeated(arguments)
    if name is not None:
        raise ValueError(('Find duplicated argument name "%s"' + advice) % (name, arguments))
    name = _first_repeated(states)
    if name is not None:
        raise ValueError(('Find duplicated auxiliary param name "%s"' + advice +
                          ', auxiliary params are %s') % (name, arguments, states))


def _load_general(data, targets):
    """Copies each array into its target: an NDArray, or a list of (slice, NDArray)."""
    for source, target in zip(data, targets):
        if isinstance(target, nd.NDArray):
            source.copyto(target)
            continue
        expected = target[-1][0].stop
        assert expected == source.shape[0], \
            "Batch size miss match. Expected %d, got %d" % (expected, source.shape[0])
        for rows, part in target:
            source[rows].copyto(part)


def _load_data(batch, targets):
    """Copies the data of a batch into sliced arrays."""
    _load_general(batch.data, targets)


def _load_label(batch, targets):
    """Copies the labels of a batch into sliced arrays."""
    _load_general(batch.label, targets)
