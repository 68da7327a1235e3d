"""Metrics: values that training and evaluation report about outputs and labels.

`EvalMetric` is plain Python, for users to derive from; a subclass need not call `super().__init__`.
The built-in metrics (`_metrics.py`) compute in C++: their sums, names and parameters are properties
that read and write the C++ object.
"""
from collections import OrderedDict

import numpy

from . import error, registry
from .ndarray import NDArray

__all__ = ["EvalMetric", "CompositeEvalMetric", "create", "register", "alias", "np",
           "check_label_shapes", "Accuracy", "TopKAccuracy", "F1", "MCC", "Perplexity", "MAE", "MSE",
           "RMSE", "CrossEntropy", "NegativeLogLikelihood", "PearsonCorrelation", "PCC",
           "ConfusionMatrix", "AUC", "Loss", "Torch", "Caffe", "CustomMetric"]

_VERBS = frozenset(("update", "update_dict", "reset", "reset_local", "get", "get_global",
                    "get_name_value", "get_global_name_value"))


def check_label_shapes(labels, preds, wrap=False, shape=False):
    """Raises ValueError unless labels and predictions are equally many, or with `shape` equally
    shaped; with `wrap` single arrays become lists."""
    label_shape, pred_shape = (
        (labels.shape, preds.shape) if shape else (len(labels), len(preds)))
    if label_shape != pred_shape:
        raise error.ValueError("Shape of labels {} does not match shape of predictions {}".format(
            label_shape, pred_shape))
    if wrap:
        labels = [labels] if isinstance(labels, NDArray) else labels
        preds = [preds] if isinstance(preds, NDArray) else preds
    return labels, preds


def _listed(value):
    return value if isinstance(value, list) else [value]


class _Double(float):
    """A float whose sum with a NumPy scalar is a double.

    In NumPy 2 the sum of a plain float and a float32 is a float32, so a sum over an epoch would stop
    growing at 2^24; in older NumPy versions it was a double.
    """

    __slots__ = ()

    def __add__(self, other):
        return float.__add__(self, other.item() if isinstance(other, numpy.generic) else other)


class _Sum:
    """An attribute of metrics that is 0.0 until it is set, and read as a _Double where it is a float."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, metric, owner=None):
        value = 0.0 if metric is None else metric.__dict__.get(self.name, 0.0)
        return _Double(value) if type(value) is float else value

    def __set__(self, metric, value):
        metric.__dict__[self.name] = float(value) if isinstance(value, _Double) else value


class EvalMetric:
    """Base of all metrics: a name, the outputs and labels it uses, and two pairs of sums."""

    # Defaults for subclasses that never call __init__.
    name = "metric"
    output_names = None
    label_names = None
    num_inst = 0
    sum_metric = _Sum()
    global_num_inst = 0
    global_sum_metric = _Sum()
    _has_global_stats = False
    _kwargs = {}

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self):
        return "EvalMetric: {}".format(dict(self.get_name_value()))

    def get_config(self):
        """The arguments from which `create(**config)` makes an equal metric."""
        config = dict(self._kwargs)
        config.update({"metric": self.__class__.__name__, "name": self.name,
                       "output_names": self.output_names, "label_names": self.label_names})
        return config

    def update_dict(self, label, pred):
        """`update` with the arrays that output_names and label_names pick."""
        pred = ([pred[name] for name in self.output_names] if self.output_names is not None
                else list(pred.values()))
        label = ([label[name] for name in self.label_names] if self.label_names is not None
                 else list(label.values()))
        self.update(label, pred)

    def update(self, labels, preds):
        """Adds a batch."""
        raise NotImplementedError()

    def reset(self):
        """Forgets everything."""
        self.num_inst = 0
        self.sum_metric = 0.0
        self.global_num_inst = 0
        self.global_sum_metric = 0.0

    def reset_local(self):
        """Resets the local sums; the global ones stay."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def get(self):
        """(name, value) since reset_local; NaN when there was no instance."""
        if self.num_inst == 0:
            return (self.name, float("nan"))
        return (self.name, self.sum_metric / self.num_inst)

    def get_global(self):
        """(name, value) since reset."""
        if not self._has_global_stats:
            return self.get()
        if self.global_num_inst == 0:
            return (self.name, float("nan"))
        return (self.name, self.global_sum_metric / self.global_num_inst)

    def get_name_value(self):
        """A list of (name, value)."""
        name, value = self.get()
        return list(zip(_listed(name), _listed(value)))

    def get_global_name_value(self):
        """A list of (name, value) of the global sums."""
        if not self._has_global_stats:
            return self.get_name_value()
        name, value = self.get_global()
        return list(zip(_listed(name), _listed(value)))

    def _native(self):
        """The C++ metric that does exactly what this object does, or None."""
        return None


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
_create = registry.get_create_func(EvalMetric, "metric")


def create(metric, *args, **kwargs):
    """A metric from a name, a metric, a list of them, a JSON text, a dict, or a function
    `f(label, pred)` of NumPy arrays."""
    if callable(metric):
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        composite = CompositeEvalMetric()
        for child in metric:
            composite.add(create(child, *args, **kwargs))
        return composite
    return _create(metric, *args, **kwargs)


def _unchanged(metric, ours):
    """Whether neither the object nor a class below one of `ours` overrides what a metric does."""
    for cls in type(metric).__mro__:
        if cls in ours:
            return _VERBS.isdisjoint(metric.__dict__)
        if not _VERBS.isdisjoint(cls.__dict__):
            return False
    return False


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics as one."""

    metrics = ()

    def __init__(self, metrics=None, name="composite", output_names=None, label_names=None):
        super().__init__(name, output_names=output_names, label_names=label_names,
                         has_global_stats=True)
        self.metrics = [create(metric) for metric in metrics or []]

    def add(self, metric):
        """Adds a metric, or what `create` makes one of."""
        self.metrics.append(create(metric))

    def get_metric(self, index):
        """The metric at `index`. Beyond the last, as MXNet, the error is returned, not raised."""
        try:
            return self.metrics[index]
        except IndexError:
            return error.ValueError("Metric index {} is out of range 0 and {}".format(
                index, len(self.metrics)))

    def update_dict(self, labels, preds):  # pylint: disable=arguments-renamed
        if self.label_names is not None:
            labels = OrderedDict(i for i in labels.items() if i[0] in self.label_names)
        if self.output_names is not None:
            preds = OrderedDict(i for i in preds.items() if i[0] in self.output_names)
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels, preds):
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self):
        for metric in self.metrics:
            metric.reset()

    def reset_local(self):
        for metric in self.metrics:
            metric.reset_local()

    def _collected(self, getter):
        names, values = [], []
        for metric in self.metrics:
            name, value = getattr(metric, getter)()
            names.extend([name] if isinstance(name, str) else name)
            values.extend(value if isinstance(value, (list, tuple)) else [value])
        return (names, values)

    def get(self):
        return self._collected("get")

    def get_global(self):
        return self._collected("get_global")

    def get_config(self):
        config = super().get_config()
        config["metrics"] = [metric.get_config() for metric in self.metrics]
        return config

    def _native(self):
        from . import _core

        if not _unchanged(self, (CompositeEvalMetric,)):
            return None
        children = [metric._native() for metric in self.metrics]
        if None in children:
            return None
        composite = _core.composite_metric(children)
        composite.output_names, composite.label_names = self.output_names, self.label_names
        return composite


@register
class CustomMetric(EvalMetric):
    """A metric of a function of NumPy arrays: `feval(label, pred)` gives a value or (sum, count)."""

    def __init__(self, feval, name=None, allow_extra_outputs=False, output_names=None,
                 label_names=None):
        if name is None:
            name = feval.__name__
            if "<" in name:
                name = "custom(%s)" % name
        super().__init__(name, feval=feval, allow_extra_outputs=allow_extra_outputs,
                         output_names=output_names, label_names=label_names, has_global_stats=True)
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels, preds):
        if not self._allow_extra_outputs:
            labels, preds = check_label_shapes(labels, preds, True)
        for pred, label in zip(preds, labels):
            value = self._feval(_as_numpy(label), _as_numpy(pred))
            total, count = value if isinstance(value, tuple) else (value, 1)
            self.sum_metric += total
            self.global_sum_metric += total
            self.num_inst += count
            self.global_num_inst += count

    def get_config(self):
        raise NotImplementedError("CustomMetric cannot be serialized")


def _as_numpy(array):
    return array.asnumpy() if isinstance(array, NDArray) else array


def np(numpy_feval, name=None, allow_extra_outputs=False):
    """A metric of a function of NumPy arrays; see CustomMetric."""
    def feval(label, pred):
        return numpy_feval(label, pred)
    feval.__name__ = numpy_feval.__name__
    return CustomMetric(feval, name, allow_extra_outputs)


from ._metrics import (  # noqa: E402  pylint: disable=wrong-import-position
    AUC, F1, MAE, MCC, MSE, PCC, RMSE, Accuracy, Caffe, ConfusionMatrix, CrossEntropy, Loss,
    NegativeLogLikelihood, PearsonCorrelation, Perplexity, TopKAccuracy, Torch)
