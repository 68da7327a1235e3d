"""MXNet's optimizers by name. Their mathematics is in C++ (src/optimizer); this module has their
constructors, which scripts rely on."""
import logging

from ..ndarray import abs as NDabs
from ._base import Optimizer, builtin
from ._updater import Updater, get_updater

__all__ = [
    'AdaDelta', 'AdaGrad', 'Adam', 'Adamax', 'DCASGD', 'FTML', 'Ftrl', 'LARS', 'LBSGD',
    'NAG', 'NDabs', 'Nadam', 'Optimizer', 'RMSProp', 'SGD', 'SGLD', 'Signum', 'LAMB',
    'Test', 'Updater', 'ccSGD', 'create', 'get_updater', 'register'
]

register = Optimizer.register
create = Optimizer.create_optimizer


def _entered(klass):
    """A class of the library: live attributes, and its name in the registry."""
    return register(builtin(klass))


@_entered
class SGD(Optimizer):
    """Gradient descent, with momentum if it is given."""
    _class_name = "SGD"
    _master_last = True
    _lazy = ("grad",)

    def __init__(self, momentum=0.0, lazy_update=True, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update


@_entered
class Signum(Optimizer):
    """Steps along the sign of the momentum, or of the gradient."""
    _class_name = "Signum"

    def __init__(self, learning_rate=0.01, momentum=0.9, wd_lh=0.0, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh


@_entered
class FTML(Optimizer):
    """Follow the moving leader."""
    _class_name = "FTML"

    def __init__(self, beta1=0.6, beta2=0.999, epsilon=1e-8, **kwargs):
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon


@_entered
class LARS(Optimizer):
    """Descent with a rate per weight, by the norms of weight and gradient."""
    _class_name = "LARS"
    _master_last = True

    def __init__(self, momentum=0.0, lazy_update=True, eta=0.001, eps=0,
                 momentum_correction=True, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.momentum_correction = momentum_correction
        self.lazy_update = lazy_update
        self.eta = eta
        self.eps = eps


@_entered
class LBSGD(Optimizer):
    """Descent for large batches: sums of gradients, a rate that warms up or LARS chooses."""
    _class_name = "LBSGD"

    def __init__(self, momentum=0.0, multi_precision=False, warmup_strategy='linear',
                 warmup_epochs=5, batch_scale=1, updates_per_epoch=32, begin_epoch=0, num_epochs=60,
                 **kwargs):
        super().__init__(**kwargs)
        logging.info('Running Large-Batch SGD Algorithm')
        logging.info('(Batch_scale=%f, warmup_epochs=%d, warmup_strategy=%s, updates_per_epoch=%d)',
                     batch_scale, warmup_epochs, warmup_strategy, updates_per_epoch)
        self.momentum = momentum
        self.multi_precision = multi_precision
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs


@_entered
class LAMB(Optimizer):
    """Adam's direction, in steps in proportion to the norm of the weight."""
    _class_name = "LAMB"

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-6,
                 lower_bound=None, upper_bound=None, bias_correction=True, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction


@_entered
class DCASGD(Optimizer):
    """Descent that makes up for gradients that come late."""
    _class_name = "DCASGD"

    def __init__(self, momentum=0.0, lamda=0.04, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lamda = lamda


@_entered
class NAG(Optimizer):
    """Nesterov's accelerated gradient."""
    _class_name = "NAG"
    _master_last = True

    def __init__(self, momentum=0.0, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum


@_entered
class SGLD(Optimizer):
    """Stochastic gradient Langevin dynamics: descent with noise of the rate's size."""
    _class_name = "SGLD"


@_entered
class ccSGD(SGD):
    """The old name of SGD."""
    _class_name = "ccSGD"

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


@_entered
class Adam(Optimizer):
    """Means of gradient and square, corrected for their start at 0."""
    _class_name = "Adam"
    _lazy = ("grad",)

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8,
                 lazy_update=True, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update


@_entered
class AdaGrad(Optimizer):
    """Steps divided by the root of all squares so far."""
    _class_name = "AdaGrad"
    _lazy = ("grad",)

    def __init__(self, eps=1e-7, **kwargs):
        super().__init__(**kwargs)
        self.float_stable_eps = eps


@_entered
class RMSProp(Optimizer):
    """Steps divided by the root of the mean square; `centered` takes the mean off it."""
    _class_name = "RMSProp"

    def __init__(self, learning_rate=0.001, gamma1=0.9, gamma2=0.9, epsilon=1e-8, centered=False,
                 clip_weights=None, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights


@_entered
class AdaDelta(Optimizer):
    """Steps by the ratio of the mean squares of former steps and of gradients."""
    _class_name = "AdaDelta"

    def __init__(self, rho=0.90, epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon


@_entered
class Ftrl(Optimizer):
    """Follow the regularised leader."""
    _class_name = "Ftrl"
    _lazy = ("grad", "weight")

    def __init__(self, lamda1=0.01, learning_rate=0.1, beta=1, **kwargs):
        super().__init__(**kwargs)
        self.lamda1 = lamda1
        self.beta = beta
        self.lr = learning_rate


@_entered
class Adamax(Optimizer):
    """Adam with the largest gradient in place of the mean square."""
    _class_name = "Adamax"

    def __init__(self, learning_rate=0.002, beta1=0.9, beta2=0.999, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2


@_entered
class Nadam(Optimizer):
    """Adam with Nesterov's momentum."""
    _class_name = "Nadam"

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8,
                 schedule_decay=0.004, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay


@_entered
class Test(Optimizer):
    """weight += rescale_grad * grad; for tests."""
    _class_name = "Test"
