"""Names and attributes of symbols as MXNet 1.9.1 makes them up; what it printed is written here."""
import operator

import pytest

import symbind as mx


def test_a_prefix_does_not_rename_variables():
    with mx.name.Prefix("p_"):
        x = mx.sym.Variable("x")
        fc = mx.sym.FullyConnected(x, num_hidden=2)
        named = mx.sym.FullyConnected(x, num_hidden=2, name="fc")
        assert (x.name, mx.sym.var("y", shape=(2,)).name) == ("x", "y")
        assert mx.sym.zeros((2,)).name == "p__zeros0" and (x + 1).name == "p__plusscalar0"
        assert mx.sym.Group([x, x + 1]).list_outputs() == ["x", "p__plusscalar1_output"]
    assert fc.list_arguments() == ["x", "p_fullyconnected0_weight", "p_fullyconnected0_bias"]
    assert named.list_arguments() == ["x", "p_fc_weight", "p_fc_bias"]


@pytest.mark.parametrize("function, names", [
    ("add", "_plusscalar0 _plusscalar0 _plus0"),
    ("sub", "_minusscalar0 _rminusscalar0 _minus0"),
    ("mul", "_mulscalar0 _mulscalar0 _mul0"),
    ("truediv", "_divscalar0 _rdivscalar0 _div0"),
    ("mod", "_modscalar0 _rmodscalar0 _mod0"),
    ("pow", "_powerscalar0 _rpower_scalar0 _power0"),
    ("eq", "_equal_scalar0 _equal_scalar0 _equal0"),
    ("ne", "_not_equal_scalar0 _not_equal_scalar0 _not_equal0"),
    ("gt", "_greater_scalar0 _lesser_scalar0 _greater0"),
    ("ge", "_greater_equal_scalar0 _lesser_equal_scalar0 _greater_equal0"),
    ("lt", "_lesser_scalar0 _greater_scalar0 _lesser0"),
    ("le", "_lesser_equal_scalar0 _greater_equal_scalar0 _lesser_equal0"),
    ("maximum", "_maximumscalar0 _maximumscalar0 _maximum0"),
    ("minimum", "_minimumscalar0 _minimumscalar0 _minimum0"),
    ("hypot", "_hypotscalar0 _hypotscalar0 _hypot0"),
    ("power", "_powerscalar0 _rpowerscalar0 _power0"),
])
def test_operators_have_mxnets_names(function, names):
    x, y = mx.sym.Variable("x"), mx.sym.Variable("y")
    call = getattr(operator, function, None) or getattr(mx.sym, function)
    made = []
    for a, b in ((x, 2), (2, x), (x, y)):
        with mx.name.NameManager():
            made.append(call(a, b).name)
    assert " ".join(made) == names


def test_automatic_and_given_variables_carry_mxnets_attributes():
    x, g = mx.sym.Variable("x"), mx.sym.Variable("g")
    up = mx.sym.UpSampling(x, scale=2, sample_type="bilinear", num_filter=3, name="up")
    assert up.attr_dict()["up_weight"] == {
        "__init__": '["bilinear", {}]', "num_args": "1", "num_filter": "3",
        "sample_type": "bilinear", "scale": "2"}
    part = mx.sym.Concat(x, num_args=3, name="c")
    assert part.list_arguments() == ["x", "c_arg1", "c_arg2"]
    assert part.attr_dict()["c_arg2"] == {"num_args": "3"}
    prelu = mx.sym.LeakyReLU(x, g, act_type="prelu")
    assert prelu.attr_dict()["g"] == {"__init__": '["Constant", {"value": 0.25}]'}


def test_only_softmax_has_lengths():
    for name in ("log_softmax", "softmin"):
        for module, x in ((mx.nd, mx.nd.ones((2, 3))), (mx.sym, mx.sym.Variable("x"))):
            with pytest.raises(mx.MXNetError, match="Only softmax supports lengths"):
                getattr(module, name)(x, use_length=True)
