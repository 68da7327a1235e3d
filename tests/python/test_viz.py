"""symbind.visualization writes the same text and drawing as MXNet (tests/golden/python)."""
import builtins
import warnings

import numpy as np
import pytest

import cases
import symbind as mx

NETWORKS = cases.viz_networks(mx)


@pytest.mark.parametrize("name", NETWORKS)
def test_summary_is_mxnets(name):
    assert cases.summary(mx, *NETWORKS[name]) == cases.recorded("viz")[name]["summary"]


@pytest.mark.parametrize("name", NETWORKS)
def test_drawing_is_mxnets(name):
    drawn = [[kind, attributes] for kind, attributes in cases.drawing(mx, *NETWORKS[name])]
    assert drawn == cases.recorded("viz")[name]["drawing"]


def test_columns(capsys):
    mx.viz.print_summary(NETWORKS["sum"][0], line_length=40, positions=[10, 20, 30, 40])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "_" * 40 and lines[1] == "Layer (typOutput ShaParam #   Previous L"


def test_incomplete_shapes_and_wrong_types():
    with pytest.raises(TypeError, match="symbol must be Symbol"):
        mx.viz.print_summary("net")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="Input shape is incomplete"):
            mx.viz.print_summary(NETWORKS["sum"][0], {})
    with cases.fake_graphviz(), pytest.raises(TypeError, match="symbol must be a Symbol"):
        mx.viz.plot_network("net")


def test_repeated_names_are_warned_of_once():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    net = mx.sym.FullyConnected(net, num_hidden=3, name="fc")
    with cases.fake_graphviz(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mx.viz.plot_network(net)
    assert len(caught) == 1 and caught[0].category is RuntimeWarning
    assert str(caught[0].message).endswith("Repeated names: fc_weight,fc_bias,fc")


def test_graphviz_is_optional(monkeypatch):
    def without_graphviz(name, *args, **kwargs):
        if name == "graphviz":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    real_import = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", without_graphviz)
    with pytest.raises(ImportError, match="Draw network requires graphviz library"):
        mx.viz.plot_network(NETWORKS["sum"][0])


def test_outputs_with_custom_names_are_labelled():
    both = mx.sym.topk(mx.sym.Variable("data"), k=2, ret_typ="both", name="best")
    net = mx.sym.FullyConnected(both[1], num_hidden=2, name="fc")
    edges = [edge for kind, edge in cases.drawing(mx, net, {"data": (3, 7)}) if kind == "edge"]
    labels = {(edge["tail_name"], edge["head_name"]): edge["label"] for edge in edges}
    assert labels["fc", "best"] == "2(float32)" and labels["best", "data"] == "7(float32)"


def test_viz_is_visualization():
    assert mx.viz is mx.visualization
