"""The metrics that C++ computes, under the names of symbind.metric.

A metric's C++ object is made at first use, so that subclasses that never call `super().__init__` work.
Attributes that scripts read and set (sum_metric, num_inst, name, axis, …) are in that object; a value
that is not a number (some subclasses keep lists) stays in the Python object.
"""
import numbers

import numpy

from . import _core
from .metric import EvalMetric, _unchanged, alias, register
from .ndarray import NDArray, array as _new_array

_SUMS = ("num_inst", "sum_metric", "global_num_inst", "global_sum_metric")
_NAMES = ("name", "output_names", "label_names")


def _live(name, to_python=None):
    """A property for the C++ object's attribute `name`."""
    own = "_own_" + name  # holds a value that C++ cannot hold

    def get(self):
        if own in self.__dict__:
            return self.__dict__[own]
        value = getattr(self._core_metric(), name)
        return to_python(value) if to_python else value

    def set_(self, value):
        if to_python and not isinstance(value, numbers.Number):
            self.__dict__[own] = value
            return
        self.__dict__.pop(own, None)
        value = list(value) if isinstance(value, tuple) else value
        setattr(self._core_metric(), name, value)
    return property(get, set_)


def _parameter(name):
    """A property for a parameter of the C++ object."""
    return property(lambda self: self._core_metric().option(name),
                    lambda self, value: self._core_metric().set_option(name, value))


def _number(value):
    """A count as an int if it is whole."""
    return int(value) if value == value and value not in (float("inf"), float("-inf")) and \
        value == int(value) else value


def _arrays(given):
    """The argument of `update` as a list of NDArrays; NumPy arrays are accepted too."""
    if given is None:
        return []
    if isinstance(given, (NDArray, numpy.ndarray)):
        given = [given]
    return [a if isinstance(a, NDArray) else _new_array(a, dtype=numpy.asarray(a).dtype)
            for a in given]


class _NativeMetric(EvalMetric):
    """A C++ metric; `_kind` is its name in C++, `_start` the initial values of its parameters."""

    _kind = None
    _start = {}

    name = _live("name")
    output_names = _live("output_names")
    label_names = _live("label_names")
    num_inst = _live("num_inst", _number)
    sum_metric = _live("sum_metric", float)
    global_num_inst = _live("global_num_inst", _number)
    global_sum_metric = _live("global_sum_metric", float)
    _has_global_stats = property(lambda self: self._core_metric().has_global_stats,
                                 lambda self, value: setattr(self._core_metric(),
                                                             "has_global_stats", bool(value)))

    def _core_metric(self):
        core = self.__dict__.get("_core_object")
        if core is None:
            core = _core.create_metric(self._kind, dict(self._start))
            self.__dict__["_core_object"] = core
        return core

    def update(self, labels, preds):
        self._core_metric().update(_arrays(labels), _arrays(preds))

    def update_dict(self, label, pred):
        if type(self).update is _NativeMetric.update and "update" not in self.__dict__:
            self._core_metric().update_dict(
                {name: a for name, a in zip(label, _arrays(label.values()))},
                {name: a for name, a in zip(pred, _arrays(pred.values()))})
        else:
            super().update_dict(label, pred)

    def reset(self):
        for name in _SUMS:
            self.__dict__.pop("_own_" + name, None)
        self._core_metric().reset()

    def reset_local(self):
        for name in _SUMS[:2]:
            self.__dict__.pop("_own_" + name, None)
        self._core_metric().reset_local()

    def _value(self, getter, sums):
        """The C++ object's value, unless a subclass keeps the sums itself."""
        if any("_own_" + name in self.__dict__ for name in sums):
            return getattr(EvalMetric, getter)(self)
        return getattr(self._core_metric(), getter)()[0]

    def get(self):
        return self._value("get", _SUMS[:2])

    def get_global(self):
        return self._value("get_global", _SUMS[2:])

    def _native(self):
        if not _unchanged(self, _OURS) or any(k.startswith("_own_") for k in self.__dict__):
            return None
        return self._core_metric()

    def __getstate__(self):
        state = {k: v for k, v in self.__dict__.items() if k != "_core_object"}
        core = self._core_metric()
        state.update({name: getattr(core, name) for name in _SUMS + _NAMES})
        state["_has_global_stats"] = core.has_global_stats
        state.update({name: core.option(name) for name in self._start})
        state["_sums_inside"] = core.state()
        return state

    def __setstate__(self, state):
        state = dict(state)
        core = self._core_metric()
        for name in self._start:
            if name in state:
                core.set_option(name, state.pop(name))
        inside = state.pop("_sums_inside", None)
        if inside:
            core.set_state(list(inside))
        if "_has_global_stats" in state:
            core.has_global_stats = bool(state.pop("_has_global_stats"))
        for name in _SUMS + _NAMES:
            if name in state:
                setattr(core, name, state.pop(name))
        self.__dict__.update(state)


def _made_of(kind, **start):
    """Completes a class: the metric's name in C++ and the initial values of its parameters."""
    def complete(cls):
        cls._kind, cls._start = kind, start
        for name in start:
            setattr(cls, name, _parameter(name))
        cls.__module__ = "symbind.metric"  # the module name for users and in pickles
        return register(cls)
    return complete


@alias("acc")
@_made_of("accuracy", axis=1)
class Accuracy(_NativeMetric):
    """The share of instances whose largest output along `axis` is at the label's index."""

    def __init__(self, axis=1, name="accuracy", output_names=None, label_names=None):
        super().__init__(name, axis=axis, output_names=output_names, label_names=label_names,
                         has_global_stats=True)
        self.axis = axis


@alias("top_k_accuracy", "top_k_acc")
@_made_of("top_k_accuracy", top_k=2)
class TopKAccuracy(_NativeMetric):
    """The share of instances whose label is among the `top_k` largest outputs."""

    def __init__(self, top_k=1, name="top_k_accuracy", output_names=None, label_names=None):
        super().__init__(name, top_k=top_k, output_names=output_names, label_names=label_names,
                         has_global_stats=True)
        self.top_k = top_k
        self.name = name + "_%d" % self.top_k


class _Counts:
    """The four counts of a two-class metric and derived values, read from the C++ object."""

    def __init__(self, core):
        self._state = core.state

    def _counts(self, use_global):
        return dict(zip(("true_positives", "false_positives", "false_negatives", "true_negatives"),
                        self._state()[4 * use_global:4 * use_global + 4]))

    def _ratio(self, other, use_global):
        counts = self._counts(use_global)
        total = counts["true_positives"] + counts[other]
        return counts["true_positives"] / total if total > 0 else 0.0

    def _fscore(self, use_global):
        precision = self._ratio("false_positives", use_global)
        recall = self._ratio("false_negatives", use_global)
        return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0

    def __getattr__(self, name):
        use_global = name.startswith("global_")
        plain = name[7:] if use_global else name
        if plain == "precision":
            return self._ratio("false_positives", use_global)
        if plain == "recall":
            return self._ratio("false_negatives", use_global)
        if plain == "fscore":
            return self._fscore(use_global)
        counts = self._counts(use_global) if not plain.startswith("__") else {}
        if plain == "total_examples":
            return int(sum(counts.values()))
        if plain in counts:
            return int(counts[plain])
        raise AttributeError(name)


@_made_of("f1", average="macro")
class F1(_NativeMetric):
    """The F1 score of two classes; "macro" averages over batches, "micro" over instances."""

    def __init__(self, name="f1", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names=output_names, label_names=label_names,
                         has_global_stats=True)
        self.average = average

    metrics = property(lambda self: _Counts(self._core_metric()), doc="The counts, precision, …")


@_made_of("mcc", average="macro")
class MCC(_NativeMetric):
    """The Matthews correlation of two classes."""

    def __init__(self, name="mcc", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names=output_names, label_names=label_names,
                         has_global_stats=True)
        self.average = average

    _average = property(lambda self: self.average)
    _metrics = property(lambda self: _Counts(self._core_metric()))


@_made_of("perplexity", ignore_label=None, axis=-1)
class Perplexity(_NativeMetric):
    """exp of the mean negative log probability of the labels."""

    def __init__(self, ignore_label, axis=-1, name="perplexity", output_names=None,
                 label_names=None):
        super().__init__(name, ignore_label=ignore_label, output_names=output_names,
                         label_names=label_names, has_global_stats=True)
        self.ignore_label, self.axis = ignore_label, axis


def _plain(kind, doc):
    """A metric class with nothing but a name."""
    class Made(_NativeMetric):
        def __init__(self, name=kind, output_names=None, label_names=None):
            EvalMetric.__init__(self, name, output_names=output_names, label_names=label_names,
                                has_global_stats=True)
    Made.__doc__ = doc
    return Made


def _named(name, base, kind):
    base.__name__ = base.__qualname__ = name
    return _made_of(kind)(base)


MAE = _named("MAE", _plain("mae", "Mean absolute error, averaged over batches."), "mae")
MSE = _named("MSE", _plain("mse", "Mean squared error, averaged over batches."), "mse")
RMSE = _named("RMSE", _plain("rmse", "Root mean squared error, averaged over batches."), "rmse")


@alias("ce")
@_made_of("crossentropy", eps=1e-12)
class CrossEntropy(_NativeMetric):
    """The mean of -log(p[label] + eps)."""

    def __init__(self, eps=1e-12, name="cross-entropy", output_names=None, label_names=None):
        super().__init__(name, eps=eps, output_names=output_names, label_names=label_names,
                         has_global_stats=True)
        self.eps = eps


@alias("nll_loss")
@_made_of("nll_loss", eps=1e-12)
class NegativeLogLikelihood(_NativeMetric):
    """The same number as CrossEntropy under another name."""

    def __init__(self, eps=1e-12, name="nll-loss", output_names=None, label_names=None):
        super().__init__(name, eps=eps, output_names=output_names, label_names=label_names,
                         has_global_stats=True)
        self.eps = eps


@alias("pearsonr")
@_made_of("pearsonr", average="macro")
class PearsonCorrelation(_NativeMetric):
    """The Pearson correlation of outputs and labels."""

    def __init__(self, name="pearsonr", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names=output_names, label_names=label_names,
                         has_global_stats=True)
        self.average = average


@_made_of("pcc")
class PCC(_NativeMetric):
    """The multi-class form of MCC, from a confusion matrix that grows as classes appear."""

    def __init__(self, name="pcc", output_names=None, label_names=None, has_global_stats=True):
        super().__init__(name=name, output_names=output_names, label_names=label_names,
                         has_global_stats=has_global_stats)

    def _matrices(self):
        state = numpy.array(self._core_metric().state())
        k = int(round((state.size / 2) ** 0.5))
        return state.reshape(2, k, k)

    k = property(lambda self: self._matrices().shape[1])
    lcm = property(lambda self: self._matrices()[0], doc="Counts by output and label, local.")
    gcm = property(lambda self: self._matrices()[1], doc="The same since reset.")
    sum_metric = property(lambda self: self.get()[1] * self.num_inst)
    global_sum_metric = property(lambda self: self.get_global()[1] * self.global_num_inst)


@alias("confusion_matrix")
@_made_of("confusion_matrix")
class ConfusionMatrix(_NativeMetric):
    """The accuracy; `matrix` counts the predicted classes of each true class."""

    def __init__(self, name="confusion-matrix", output_names=None, label_names=None):
        super().__init__(name, output_names=output_names, label_names=label_names,
                         has_global_stats=True)

    matrix = property(lambda self: self._core_metric().confusion_counts().asnumpy().astype(int),
                      doc="How often each class (row) was predicted as each class (column) since reset.")


AUC = _named("AUC", _plain("auc", "The area under the ROC curve of two classes, exact: a tie counts "
                           "half. Outputs are scores of class 1, or probabilities of both."), "auc")
Loss = _named("Loss", _plain("loss", "The mean of the outputs; labels are ignored."), "loss")


@_made_of("torch")
class Torch(Loss):
    """Loss under the name of Torch criterions."""

    def __init__(self, name="torch", output_names=None, label_names=None):
        super().__init__(name, output_names=output_names, label_names=label_names)


@_made_of("caffe")
class Caffe(Loss):
    """Loss under the name of Caffe criterions."""

    def __init__(self, name="caffe", output_names=None, label_names=None):
        super().__init__(name, output_names=output_names, label_names=label_names)


_OURS = {AUC, F1, MAE, MCC, MSE, PCC, RMSE, Accuracy, Caffe, ConfusionMatrix, CrossEntropy, Loss,
         NegativeLogLikelihood, PearsonCorrelation, Perplexity, TopKAccuracy, Torch}
