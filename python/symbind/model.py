"""Checkpoints, and the steps of training that modules share."""
import logging
import os
from collections import namedtuple

from . import _core, error
from . import kvstore as kvs
from . import ndarray as nd
from . import symbol as sym

__all__ = ["BASE_ESTIMATOR", "BatchEndParam", "FeedForward", "FitParam", "load_checkpoint", "load_params",
           "save_checkpoint"]

#: The argument of callbacks after a batch. `locals` are the variables of the loop that calls them.
BatchEndParam = namedtuple('BatchEndParams', ['epoch', 'nbatch', 'eval_metric', 'locals'])
# For callbacks at the begin and end of fit; `error` is the exception that ends it, or None.
FitParam = namedtuple('FitParam', ['module', 'begin_epoch', 'num_epoch', 'eval_metric', 'error'])


# ----------------------------------------------------------------------- checkpoints

def _save_named(fname, arg_params, aux_params):
    named = {'arg:%s' % k: v.as_in_context(_cpu()) for k, v in (arg_params or {}).items()}
    named.update({'aux:%s' % k: v.as_in_context(_cpu()) for k, v in (aux_params or {}).items()})
    nd.save(fname, named)


def _cpu():
    from .context import cpu
    return cpu()


def save_checkpoint(prefix, epoch, symbol, arg_params, aux_params, remove_amp_cast=True):
    """Writes `prefix-symbol.json` and `prefix-%04d.params`."""
    if symbol is not None:
        symbol.save('%s-symbol.json' % prefix, remove_amp_cast=remove_amp_cast)
    param_name = '%s-%04d.params' % (prefix, epoch)
    _save_named(param_name, arg_params, aux_params)
    logging.info('Saved checkpoint to \"%s\"', param_name)


def load_params(prefix, epoch):
    """(arg_params, aux_params) of `prefix-%04d.params`; names without "arg:" or "aux:" are ignored."""
    path = '%s-%04d.params' % (prefix, epoch)
    if not os.path.exists(path):
        epochs = ", ".join(str(e) for e in _core.checkpoint_epochs(prefix))
        raise error.OSError("there is no file {}; {}".format(
            path, "existing epochs of '{}': {}".format(prefix, epochs) if epochs
            else "there is no epoch of '{}'".format(prefix)))
    loaded = nd.load(path)
    arg_params, aux_params = {}, {}
    if not loaded:
        logging.warning("Params file '%s' is empty", path)
        return (arg_params, aux_params)
    for key, value in (loaded.items() if isinstance(loaded, dict) else ()):
        kind, _, name = key.partition(':')
        if kind == 'arg':
            arg_params[name] = value
        if kind == 'aux':
            aux_params[name] = value
    return (arg_params, aux_params)


def load_checkpoint(prefix, epoch):
    """(symbol, arg_params, aux_params) of a saved checkpoint."""
    arg_params, aux_params = load_params(prefix, epoch)
    return (sym.load('%s-symbol.json' % prefix), arg_params, aux_params)


# --------------------------------------------------------------------- store, update

def _create_kvstore(kvstore, num_device, arg_params):
    """(store, whether it runs the updates) for a store, a name or None."""
    if kvstore is None:
        return (None, False)
    if not isinstance(kvstore, (str, kvs.KVStoreBase)):
        raise error.TypeError('kvstore must be KVStore, str or None')
    by_name = isinstance(kvstore, str)
    store = kvs.create(kvstore) if by_name else kvstore  # a wrong name is an error even on one device
    needed, on_store = _core.choose_store(
        kvstore if by_name else "", num_device, max((p.size for p in arg_params.values()), default=0),
        bool(store.is_capable(kvs.KVStoreBase.OPTIMIZER)))
    return (store, on_store) if needed else (None, False)


def _update_facts(store, on_store, num_device, batch_size, param_names):
    """(the scale of the gradients, parameter names by the numbers of their updates)."""
    scale = _core.gradient_scale(batch_size, store.type if store else "", lambda: store.num_workers)
    return scale, _core.update_names(param_names, 1 if on_store else num_device)


def _initialize_kvstore(kvstore, param_arrays, arg_params, param_names, update_on_kvstore):
    """Initialises the store with the parameters; if it runs the updates, the devices pull them."""
    for name, on_devices in zip(param_names, param_arrays):
        if update_on_kvstore:
            kvstore.broadcast(name, arg_params[name], out=on_devices)
        else:
            kvstore.init(name, arg_params[name])


def _update_params_on_kvstore(param_arrays, grad_arrays, kvstore, param_names):
    """Pushes gradients and pulls weights."""
    rows = [row for row in zip(param_names, grad_arrays, param_arrays) if row[1][0] is not None]
    if rows and getattr(type(kvstore), "pushpull", None) is kvs.KVStore.pushpull:
        names, grads, weights = zip(*rows)  # all sums are under way before the first one is waited for
        kvstore.pushpull(list(names), list(grads), out=list(weights))
        return
    for i, (name, grads, weights) in enumerate(rows):
        kvstore.pushpull(name, grads, out=weights, priority=-i)


def _update_params(param_arrays, grad_arrays, updater, num_device, kvstore=None,
                   param_names=None):
    """Sums gradients on the store, if there is one, and updates on each device."""
    updates = [[] for _ in range(num_device)]
    for i, (weights, grads) in enumerate(zip(param_arrays, grad_arrays)):
        if grads[0] is None:
            continue
        if kvstore:
            kvstore.pushpull(param_names[i], grads, priority=-i)
        for k, (weight, grad) in enumerate(zip(weights, grads)):
            updates[k].append((i * num_device + k, grad, weight))
    for on_device in updates:
        if on_device:
            updater(*zip(*on_device))


def _multiple_callbacks(callbacks, *args, **kwargs):
    """Calls one callback, a list of them, or none."""
    for callback in callbacks if isinstance(callbacks, list) else [callbacks]:
        if callback:
            callback(*args, **kwargs)


def __getattr__(name):
    """Imports FeedForward at first use: it imports scikit-learn, which takes long."""
    if name in ("BASE_ESTIMATOR", "FeedForward"):
        from . import _feed_forward

        globals().update(BASE_ESTIMATOR=_feed_forward.BASE_ESTIMATOR,
                         FeedForward=_feed_forward.FeedForward)
        return globals()[name]
    raise AttributeError("module {!r} has no attribute {!r}".format(__name__, name))
