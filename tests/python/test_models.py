"""mx.models: the networks, as C++ builds them, under Python's names and scopes."""
import inspect
import json
import pathlib

import pytest

import symbind as mx

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "models"


def shown(name, shape):
    return f"{name}={'x'.join(map(str, shape))}"


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.json")), ids=lambda file: file.stem)
def test_arguments_are_mxnets(file):
    recorded = json.loads(file.read_text())
    for case in recorded["cases"]:
        with mx.name.NameManager():
            net = mx.models.create(recorded["network"], **case["options"])
        shapes, outputs, _ = net.infer_shape(**{n: tuple(s) for n, s in case["shapes"].items()})
        arguments = case["arguments"]  # of a very long list only the length and a hash
        assert arguments.startswith(f"{len(shapes)} entries, ") or arguments == " ".join(
            shown(name, shape) for name, shape in zip(net.list_arguments(), shapes))
        assert shown("softmax_output", outputs[0]) == case["outputs"]


def test_functions_have_signatures():
    assert str(inspect.signature(mx.models.resnet)) == (
        "(num_classes=1000, num_layers=50, image_shape=(3, 224, 224), conv_workspace=256, "
        "dtype='float32')")
    assert "num_layers : int, optional, default=50" in mx.models.resnet.__doc__
    assert mx.models.vgg(10, 16).list_arguments() == mx.models.create(
        "vgg", num_layers=16).list_arguments()
    for name in mx.models.names():
        assert isinstance(getattr(mx.models, name.replace("-", "_")), type(mx.models.create))


def test_options_as_python_writes_them():
    small = mx.models.create("resnet", num_layers=20, image_shape=(3, 28, 28), num_classes=10)
    text = mx.models.create("resnet", num_layers="20", image_shape="3,28,28", num_classes="10")
    assert small.list_arguments() == text.list_arguments()
    assert small.infer_shape(data=(4, 3, 28, 28))[1] == [(4, 10)]
    assert "bn1_1_gamma" in mx.models.vgg(batch_norm=True).list_arguments()


def test_scopes_hold():
    with mx.name.Prefix("a_"), mx.AttrScope(ctx_group="dev1"):
        net = mx.models.lenet()
    assert net.list_arguments()[1] == "a_convolution0_weight"
    assert net.attr_dict()["a_softmax"]["ctx_group"] == "dev1"
    with mx.name.NameManager():
        first, second = mx.models.lenet(), mx.models.lenet()
        after = mx.sym.Convolution(mx.sym.Variable("x"), kernel=(1, 1), num_filter=1)
    assert first.list_arguments()[1] == "convolution0_weight"
    assert second.list_arguments()[1] == "convolution2_weight"
    assert after.name == "convolution4"  # counted together with everybody's


def test_mistakes():
    with pytest.raises(ValueError, match="did you mean 'resnet'"):
        mx.models.create("resnet50")
    with pytest.raises(ValueError, match="did you mean 'num_layers'"):
        mx.models.create("resnet", num_layer=50)
    with pytest.raises(ValueError, match="choose from 18, 34, 50, 101, 152, 200, 269"):
        mx.models.resnet(num_layers=51)
    with pytest.raises(TypeError, match="num_layer"):
        mx.models.resnet(num_layer=50)
    with pytest.raises(mx.MXNetError):
        mx.models.mlp(num_classes="ten")
