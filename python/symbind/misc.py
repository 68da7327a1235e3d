"""Learning rates by number of updates, under the names they had before `lr_scheduler`.

Very old MXNet scripts pass these to an optimizer. They count differently from the classes of the same name
in `lr_scheduler`: the rate is the base rate times `factor` to the number of whole steps, so it falls at update
`step` and not at the next one, and skipped updates do not delay it.
"""
import logging

__all__ = ["LearningRateScheduler", "FactorScheduler"]


class LearningRateScheduler:
    """A learning rate by number of updates. A subclass defines `__call__(iteration)`."""

    def __init__(self):
        self.base_lr = 0.01

    def __call__(self, iteration):
        raise NotImplementedError("must override this")


class FactorScheduler(LearningRateScheduler):
    """Multiplies the rate by `factor` every `step` updates, and says so in the log."""

    def __init__(self, step, factor=0.1):
        super().__init__()
        if step < 1:
            raise ValueError("Schedule step must be greater or equal than 1 round")
        if factor >= 1.0:
            raise ValueError("Factor must be less than 1 to make lr reduce")
        self.step = step
        self.factor = factor
        self.old_lr = self.base_lr
        self.init = False

    def __call__(self, iteration):
        if not self.init:  # the optimizer has set base_lr by now
            self.init = True
            self.old_lr = self.base_lr
        rate = self.base_lr * self.factor ** int(iteration / self.step)
        if rate != self.old_lr:
            self.old_lr = rate
            logging.info("At Iteration [%d]: Swith to new learning rate %.5f", iteration, rate)
        return rate
