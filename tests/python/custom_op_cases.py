"""Operators written in Python that several tests use."""
import numpy as np

import symbind as mx


def register(name, forward=None, backward=None, prop=None, **members):
    """A CustomOp of two functions and its property; `members` go to the property."""
    class Op(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            forward(self, is_train, req, in_data, out_data, aux)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            backward(self, req, out_grad, in_data, out_data, in_grad, aux)

    base = prop or mx.operator.CustomOpProp
    made = {"create_operator": lambda self, ctx, shapes, dtypes: Op(), **members}
    return mx.operator.register(name)(type(name, (base,), made))


class SquareOp(mx.operator.CustomOp):
    """scale * x ** 2"""

    def __init__(self, scale):
        self.scale = scale

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * in_data[0] * self.scale)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * self.scale * in_data[0] * out_grad[0])


@mx.operator.register("test_square")
class SquareProp(mx.operator.CustomOpProp):
    def __init__(self, scale="1"):
        super().__init__(need_top_grad=True)
        assert isinstance(scale, str)
        self.scale = float(scale)

    def create_operator(self, ctx, shapes, dtypes):
        return SquareOp(self.scale)


X = np.array([[1., -2., 3.], [0.5, 0., -1.5]], dtype=np.float32)
HEAD = np.array([[1., 2., -1.], [0.25, 3., 2.]], dtype=np.float32)


def bound(symbol, grad_req="write", **values):
    executor = symbol.simple_bind(mx.cpu(), grad_req=grad_req,
                                  **{name: value.shape for name, value in values.items()})
    for name, value in values.items():
        executor.arg_dict[name][:] = value
    return executor
