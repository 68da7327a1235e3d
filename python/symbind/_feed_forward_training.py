"""The training of a FeedForward: its epochs, with a Module made for one fit."""
import time

from . import error
from .model import BatchEndParam, _multiple_callbacks


def _names(shapes):
    return [x[0] for x in shapes]


class Training:
    """One fit: the trained module and the options of its batches."""

    def __init__(self, trained, data, eval_metric, kvstore, logger, work_load_list, monitor):
        self.trained = trained
        self.data = data
        self.eval_metric = eval_metric
        self.logger = logger
        self.monitor = monitor
        self._bucket_names = {}  # data and label names of each bucket, known from its batches
        self.logger.info('Start training with %s', str(trained.ctx))
        self.module = self._module(work_load_list)
        self.module.bind(data.provide_data, data.provide_label or None)
        if monitor is not None:
            self.module.install_monitor(monitor)
        self.module.init_params(None, trained.arg_params, trained.aux_params)
        self.module.init_optimizer(kvstore, trained.optimizer, trained.kwargs)
        data.reset()

    def _module(self, work_load_list):
        from .module import BucketingModule, Module

        options = {"logger": self.logger, "context": self.trained.ctx,
                   "work_load_list": work_load_list}
        data, sym_gen = self.data, self.trained.sym_gen
        names = (_names(data.provide_data), _names(data.provide_label))
        if sym_gen is None:
            return Module(self.trained.symbol, *names, **options)
        self._bucket_names[data.default_bucket_key] = names
        return BucketingModule(lambda key: (sym_gen(key), *self._bucket_names[key]),
                               data.default_bucket_key, **options)

    def _note_bucket(self, batch):
        if self.trained.sym_gen is not None and batch.bucket_key not in self._bucket_names:
            self._bucket_names[batch.bucket_key] = (_names(batch.provide_data),
                                                    _names(batch.provide_label))

    def epoch(self, epoch, batch_end_callback):
        """Trains an epoch: until the data end, or until epoch_size batches."""
        tic = time.time()
        epoch_size, train_data, eval_metric = self.trained.epoch_size, self.data, self.eval_metric
        eval_metric.reset()
        step = self.module._stepper(eval_metric) if self.monitor is None else self._watched_step
        nbatch = 0
        empty_passes = 0  # one is normal: the previous epoch may have ended with the data
        while nbatch < (epoch_size or 1):
            before = nbatch
            for data_batch in train_data:
                self._note_bucket(data_batch)
                step(data_batch)
                nbatch += 1
                if batch_end_callback is not None:
                    _multiple_callbacks(batch_end_callback, BatchEndParam(
                        epoch=epoch, nbatch=nbatch, eval_metric=eval_metric, locals=locals()))
                if epoch_size is not None and nbatch >= epoch_size:
                    break
            else:
                self.logger.info('Epoch[%d] Resetting Data Iterator', epoch)
                train_data.reset()
            empty_passes += nbatch == before
            if empty_passes > 1:
                raise error.ValueError("the training data have no batch in epoch {}: the iterator "
                                       "is empty".format(epoch))
        self.logger.info('Epoch[%d] Time cost=%.3f', epoch, time.time() - tic)

    def _watched_step(self, data_batch):
        self.monitor.tic()
        self.module.forward_backward(data_batch)
        self.module.update()
        self.monitor.toc_print()
        self.module.update_metric(self.eval_metric, data_batch.label)

    def take_params(self):
        """Copies the module's parameters to the model's arrays."""
        for trained, own in zip(self.module.get_params(),
                                (self.trained.arg_params, self.trained.aux_params)):
            for name, array in own.items():
                trained[name].copyto(array)

    def evaluate(self, epoch, eval_data, batch_end_callback, end_callback):
        """Updates the metric with the outputs for eval_data."""
        eval_metric = self.eval_metric
        eval_metric.reset()
        eval_data.reset()
        total_num_batch = 0
        for i, eval_batch in enumerate(eval_data):
            self._note_bucket(eval_batch)
            self.module.forward(eval_batch, is_train=False)
            self.module.update_metric(eval_metric, eval_batch.label)
            if batch_end_callback is not None:
                _multiple_callbacks(batch_end_callback, BatchEndParam(
                    epoch=epoch, nbatch=i, eval_metric=eval_metric, locals=locals()))
            total_num_batch += 1
        if end_callback is not None:
            _multiple_callbacks(end_callback, BatchEndParam(
                epoch=epoch, nbatch=total_num_batch, eval_metric=eval_metric, locals=locals()))
        eval_data.reset()
