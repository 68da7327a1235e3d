"""Checkpoints with `.states` that travel between MXNet and Symbind: what tools/oracle/mx_checkpoints.py
does under either package, and test_checkpoint_golden.py under Symbind with MXNet's files."""
import os

import module_cases as cases

SAVED, STEPS = 5, 5  # steps before the checkpoint, steps after it


def _case(name, dump=False, schedule=False, **options):
    return dict(cases.case(name, **options), dump=dump, schedule=schedule)


SGD = dict(optimizer="sgd", learning_rate=0.2, momentum=0.9, wd=0.01)
ADAM = dict(optimizer="adam", learning_rate=0.02, wd=0.01)
HALF = dict(net="mlp_half", multi_precision=True)
CASES = [
    _case("sgd-index", **SGD),
    _case("sgd-index-on-2", devices=2, on_store=False, **SGD),
    _case("sgd-name", devices=2, **SGD),
    _case("sgd-bn-name", net="mlp_bn", devices=2, **SGD),
    _case("sgd-dump-index", dump=True, schedule=True, **SGD),
    _case("sgd-half-index", **HALF, **SGD),
    _case("sgd-half-name", devices=2, **HALF, **SGD),
    _case("adam-index", net="lenet", **ADAM),
    _case("adam-name", devices=2, **ADAM),
    _case("adam-dump-index", dump=True, **ADAM),
    _case("adam-dump-name", dump=True, devices=2, **ADAM),
    _case("adam-half-index", **HALF, **ADAM),
    _case("adam-half-dump-name", dump=True, devices=2, **HALF, **ADAM),
]


def _arguments(mx, spec):
    params = dict(spec["optimizer_params"])
    if spec["schedule"]:
        params["lr_scheduler"] = mx.lr_scheduler.FactorScheduler(
            3, 0.5, base_lr=params["learning_rate"])
    return {"kvstore": spec["kvstore"], "optimizer": spec["optimizer"], "optimizer_params": params}


def _train(mx, mod, spec, first, count):
    for step in range(first, first + count):
        mod.forward_backward(cases.batch_of(mx, spec["net"], tuple(spec["data"]), step))
        mod.update()


def save(mx, spec, folder):
    """Trains and saves a checkpoint: `<name>-symbol.json`, `-0005.params`, `-0005.states`."""
    prefix = os.path.join(folder, spec["name"])
    with cases.updates_on_store(spec["on_store"]):
        mod, _ = cases.make_module(mx, spec)
        mod.init_optimizer(**_arguments(mx, spec))
    _train(mx, mod, spec, 0, SAVED)
    mx.nd.waitall()
    mod.save_checkpoint(prefix, SAVED, save_optimizer_states=True)
    if spec["dump"]:
        if mod._update_on_kvstore:
            mod._kvstore.save_optimizer_states("%s-%04d.states" % (prefix, SAVED),
                                               dump_optimizer=True)
        else:
            with open("%s-%04d.states" % (prefix, SAVED), "wb") as file:
                file.write(mod._updater.get_states(dump_optimizer=True))


def _flat(state):
    if state is None:
        return []
    if isinstance(state, (tuple, list)):
        return [a for part in state for a in _flat(part)]
    return [state]


def go_on(mx, spec, folder, train=None):
    """Loads a checkpoint, trains on (by verbs, or by `train(module, optimizer)`), and returns
    parameters and states by name."""
    shape = tuple(spec["data"])
    mod = mx.mod.Module.load(os.path.join(folder, spec["name"]), SAVED, load_optimizer_states=True,
                             context=cases.contexts(mx, spec))
    mod.bind([("data", shape)], [("softmax_label", shape[:1])])
    with cases.updates_on_store(spec["on_store"]):
        if train:
            train(mod, _arguments(mx, spec))
        else:
            mod.init_optimizer(**_arguments(mx, spec))
            _train(mx, mod, spec, SAVED, STEPS)
    found = {"param/" + name: array
             for part in cases.settled_params(mx, mod) for name, array in part.items()}
    updater = mod._kvstore._updater if mod._update_on_kvstore else mod._updater
    for key, state in updater.states.items():
        key = key.decode() if isinstance(key, bytes) else key
        for i, array in enumerate(_flat(state)):
            found["state/%s/%d" % (key, i)] = array
    return found
