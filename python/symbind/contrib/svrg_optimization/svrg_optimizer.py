"""The optimizer of SVRGModule: the user's optimizer for parameters, plain assignment for the full
gradients, which a store sums under separate keys."""
from ... import optimizer as opt

_BASE_PARAMS = ('rescale_grad', 'param_idx2name', 'wd', 'clip_gradient', 'learning_rate',
                'lr_scheduler', 'sym', 'begin_num_update', 'multi_precision', 'param_dict')


@opt.register
class _AssignmentOptimizer(opt.Optimizer):
    """Writes the gradient over the weight."""

    def create_state(self, index, weight):
        """There is none."""
        return None

    def update(self, index, weight, grad, state):
        """weight = grad."""
        weight[:] = grad


@opt.register
class _SVRGOptimizer(opt.Optimizer):
    """Updates parameters by `default_optimizer`, a name or an Optimizer, and assigns to keys that
    hold a full gradient: those whose name has "full" in it."""

    def __init__(self, default_optimizer, **kwargs):
        super().__init__(**self._check_params(**kwargs))
        self.default_opt = opt.create(default_optimizer, **kwargs) \
            if isinstance(default_optimizer, str) else default_optimizer
        self.aux_opt = opt.create(_AssignmentOptimizer.__name__)

    @staticmethod
    def _check_params(**kwargs):
        """Those of the parameters that every optimizer has."""
        return {key: value for key, value in kwargs.items() if key in _BASE_PARAMS}

    def _check_index(self, index):
        """The name of a key, which is a name or a number."""
        return index if index in self.idx2name.values() else self.idx2name[index]

    def _for(self, index):
        return self.aux_opt if "full" in self._check_index(index) else self.default_opt

    def create_state(self, index, weight):
        """The state of the optimizer that will update this key."""
        return self._for(index).create_state(index, weight)

    def update(self, index, weight, grad, state):
        """Updates by the optimizer of this key."""
        self._for(index).update(index, weight, grad, state)
