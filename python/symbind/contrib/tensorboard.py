"""mx.contrib.tensorboard: writes metrics as TensorBoard event files, with a built-in writer."""
from .. import _core
from ..ndarray import NDArray, array

__all__ = ["LogMetricsCallback", "SummaryWriter"]


class SummaryWriter:
    """Writes an event file in the folder `logdir`; every call is on disk when it returns."""

    def __init__(self, logdir):
        self._file = _core.EventFile(str(logdir))

    @property
    def path(self):
        """The file."""
        return self._file.path

    def add_scalar(self, tag, value, global_step=0):
        """A number, or a dict of name to number, each under `tag/name`."""
        if isinstance(value, dict):
            for name, number in value.items():
                self.add_scalar("{}/{}".format(tag, name), number, global_step)
            return
        value = value.asscalar() if isinstance(value, NDArray) else value
        self._file.add_scalar(tag, float(value), int(global_step or 0))

    def add_histogram(self, tag, values, global_step=0):
        """The distribution of an array's numbers."""
        values = values if isinstance(values, NDArray) else array(values)
        self._file.add_histogram(tag, values, int(global_step or 0))

    def flush(self):
        """Nothing waits to be written."""

    def close(self):
        """Nothing waits to be written."""


class LogMetricsCallback:
    """For batch_end_callback or eval_end_callback: the metric's values in the folder `logging_dir`,
    with the epoch as the step; names begin with `prefix` and a dash."""

    leaves_batches = True

    def __init__(self, logging_dir, prefix=None):
        self.prefix = prefix
        self.summary_writer = SummaryWriter(logging_dir)

    def __call__(self, param):
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            if self.prefix is not None:
                name = "%s-%s" % (self.prefix, name)
            self.summary_writer.add_scalar(name, value, global_step=param.epoch)
