"""mx.rnn: cells, stacks and iterators against MXNet's (recorded by tools/oracle/record_rnn.py)."""
import warnings

import numpy as np
import pytest

import symbind as mx
from cases import recorded
from rnn_cases import CASES, HIDDEN, INPUT, ITERATORS, STEPS, batches, seen

RECORDED = recorded("rnn")
pytestmark = pytest.mark.filterwarnings("ignore:NTC layout")


def close(got, wanted, what):
    assert len(got) == len(wanted), what
    for a, b in zip(got, wanted):
        scale = max(np.abs(b).max(), 1e-3) if b else 1
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-5 * scale, err_msg=what)


@pytest.mark.parametrize("name", CASES)
def test_cells_are_mxnets(name):
    got, wanted = seen(mx, name), RECORDED[name]
    assert set(got) == set(wanted)
    for exact in ("arguments", "outputs", "params", "states", "graph"):
        assert got[exact] == wanted[exact], exact
    close(got["values"], wanted["values"], "values")
    close(got.get("gradients", []), wanted.get("gradients", []), "gradients")
    unpacked, parts = got.get("unpacked", []), wanted.get("unpacked", [])
    assert [name for name, _ in unpacked] == [name for name, _ in parts]
    close([a for _, a in unpacked], [b for _, b in parts], "unpacked")


def run(symbol, args, heads):
    executor = symbol.bind(mx.cpu(), args, {n: mx.nd.zeros(a.shape) for n, a in args.items()})
    outputs = executor.forward(is_train=True)
    executor.backward(heads)
    return outputs[0].asnumpy(), executor.grad_dict


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("mode", ["rnn_relu", "rnn_tanh", "lstm", "gru"])
def test_fused_is_unfused(mode, bidirectional):
    fused = mx.rnn.FusedRNNCell(4, num_layers=3, mode=mode, bidirectional=bidirectional,
                                prefix="f_")
    plain = fused.unfuse()
    data = mx.sym.Variable("data")
    one, _ = fused.unroll(STEPS, data, merge_outputs=True)
    other, _ = plain.unroll(STEPS, data, merge_outputs=True)
    draw = np.random.RandomState(7)
    shapes = dict(zip(one.list_arguments(), one.infer_shape(data=(2, STEPS, INPUT))[0]))
    args = {n: mx.nd.array(draw.uniform(-1, 1, s)) for n, s in shapes.items()}
    heads = mx.nd.array(draw.uniform(-1, 1, one.infer_shape(data=(2, STEPS, INPUT))[1][0]))
    y, grads = run(one, args, heads)
    unpacked = fused.unpack_weights(args)
    z, plain_grads = run(other, plain.pack_weights(unpacked), heads)
    np.testing.assert_allclose(y, z, rtol=0, atol=1e-5)
    parts, plain_parts = fused.unpack_weights(grads), plain.unpack_weights(plain_grads)
    assert sorted(parts) == sorted(plain_parts)
    for name in parts:
        np.testing.assert_allclose(parts[name].asnumpy(), plain_parts[name].asnumpy(), rtol=0,
                                   atol=1e-5, err_msg=name)
    again = fused.pack_weights(unpacked)["f_parameters"]
    assert (again.asnumpy() == args["f_parameters"].asnumpy()).all()


def test_states_can_be_fed():
    cell = mx.rnn.LSTMCell(HIDDEN)
    states = cell.begin_state(func=mx.sym.Variable)
    assert [s.name for s in states] == ["lstm_begin_state_0", "lstm_begin_state_1"]
    output, states = cell(mx.sym.Variable("data"), states)
    assert output.list_arguments()[0] == "data" and "lstm_begin_state_1" in output.list_arguments()
    assert cell._counter == 0 and cell._init_counter == 1
    cell.reset()
    assert cell._counter == cell._init_counter == -1


def test_who_owns_the_params():
    cell = mx.rnn.RNNCell(HIDDEN)
    assert not cell._own_params  # it asked itself for them
    mine = mx.rnn.RNNParams("mine_")
    assert not mx.rnn.BaseRNNCell(params=mine)._own_params and mx.rnn.BaseRNNCell()._own_params
    assert mx.rnn.RNNCell(HIDDEN, params=mine)._iW.name == "mine_i2h_weight"


def test_a_modified_cell_is_called_through_its_modifier():
    base = mx.rnn.GRUCell(INPUT)
    cell = mx.rnn.ResidualCell(base)
    with pytest.raises(AssertionError, match="modifier"):
        base.begin_state()
    assert [s.name for s in cell.begin_state()] == ["gru_begin_state_0"]
    around = mx.rnn.ZoneoutCell(cell)
    assert [s.name for s in around.begin_state(mx.sym.ones)] == ["gru_begin_state_1"]
    with pytest.raises(AssertionError):
        base.begin_state()


@pytest.mark.parametrize("make", [
    lambda rnn: rnn.FusedRNNCell(2),
    lambda rnn: rnn.BidirectionalCell(rnn.RNNCell(2), rnn.RNNCell(2))])
def test_what_cannot_be_stepped(make):
    with pytest.raises(NotImplementedError, match="unroll"):
        make(mx.rnn)(mx.sym.Variable("data"), [])
    with pytest.raises(AssertionError, match="cannot be stepped"):
        mx.rnn.ZoneoutCell(make(mx.rnn))
    stack = mx.rnn.SequentialRNNCell()
    stack.add(make(mx.rnn))
    with pytest.raises(AssertionError, match="cannot be stepped"):
        stack(mx.sym.Variable("data"), stack.begin_state())


def test_mistakes():
    cell = mx.rnn.RNNCell(2)
    with pytest.raises(AssertionError, match="needs inputs"):
        cell.unroll(3, None)
    with pytest.raises(AssertionError, match="3 steps was given 2"):
        cell.unroll(3, [mx.sym.Variable("a"), mx.sym.Variable("b")])
    with pytest.raises(AssertionError, match="not a group"):
        cell.unroll(2, mx.sym.Group([mx.sym.Variable("a"), mx.sym.Variable("b")]))
    with pytest.raises(AssertionError, match="'ltsm' is none of"):
        mx.rnn.FusedRNNCell(2, mode="ltsm")
    with pytest.raises(AssertionError, match="Invalid parameters size"):
        mx.rnn.FusedRNNCell(2).unpack_weights({"lstm_parameters": mx.nd.zeros(71)})
    with pytest.raises(AssertionError, match="odd"):
        mx.rnn.ConvRNNCell((1, 2, 4, 4), 2, h2h_kernel=(2, 3))
    with pytest.raises(AssertionError, match="must be a number"):
        mx.rnn.DropoutCell("0.5")
    owned = mx.rnn.SequentialRNNCell(params=mx.rnn.RNNParams())
    with pytest.raises(AssertionError, match="give them to one"):
        owned.add(mx.rnn.RNNCell(2))


def test_rnn_unroll_is_deprecated():
    cell = mx.rnn.RNNCell(2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outputs, _ = mx.rnn.rnn_unroll(cell, 2, input_prefix="in_")
    assert "deprecated" in str(caught[0].message)
    assert outputs[0].list_arguments()[0] == "in_t0_data"


@pytest.mark.parametrize("name", ITERATORS)
def test_batches_are_mxnets(name, capsys):
    assert batches(mx, **ITERATORS[name]) == RECORDED["iterator: " + name]
    assert "WARNING: discarded" in capsys.readouterr().out


def test_iterator_mistakes():
    with pytest.raises(ValueError, match="Invalid layout TC"):
        mx.rnn.BucketSentenceIter([[1, 2]], 1, layout="TC")
    with pytest.raises(ValueError, match="no bucket"):
        mx.rnn.BucketSentenceIter([[1, 2]], 1, buckets=[1])
    with pytest.raises(ValueError, match="no bucket"):
        mx.rnn.BucketSentenceIter([], 1)


def test_encode_sentences():
    encode = mx.rnn.encode_sentences
    words = [["a", "b"], ["b", "c", "a"]]
    assert encode(words) == ([[0, 1], [1, 2, 0]], {"\n": -1, "a": 0, "b": 1, "c": 2})
    assert encode(words, start_label=1, invalid_label=2)[0] == [[1, 3], [3, 4, 1]]
    with pytest.raises(AssertionError, match="Unknown token c"):
        encode(words, vocab={"a": 1, "b": 2})
    coded, vocab = encode([["x", "a", "y"]], vocab={"a": 1}, unknown_token="?")
    assert coded == [[0, 1, 0]] and vocab == {"a": 1, "?": 0}  # one number for all unknown words


def test_checkpoints_hold_unpacked_weights(tmp_path):
    cell = mx.rnn.FusedRNNCell(2, mode="gru", prefix="g_")
    net, _ = cell.unroll(STEPS, mx.sym.Variable("data"), merge_outputs=True)
    shapes = dict(zip(net.list_arguments(), net.infer_shape(data=(1, STEPS, INPUT))[0]))
    params = {"g_parameters": mx.nd.random.uniform(shape=shapes["g_parameters"])}
    prefix = str(tmp_path / "net")
    mx.rnn.do_rnn_checkpoint(cell, prefix, period=2)(0, net, params, {})
    assert not list(tmp_path.iterdir())
    mx.rnn.do_rnn_checkpoint(cell, prefix, period=2)(1, net, params, {})
    assert "arg:g_l0_i2h_r_weight" in mx.nd.load(prefix + "-0002.params")
    symbol, args, aux = mx.rnn.load_rnn_checkpoint([cell], prefix, 2)
    assert symbol.tojson() == net.tojson() and aux == {} and list(args) == ["g_parameters"]
    assert (args["g_parameters"].asnumpy() == params["g_parameters"].asnumpy()).all()
