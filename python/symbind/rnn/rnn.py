"""Checkpoints with the weights of cells taken apart, so that fused and unfused cells read them."""
import warnings

from .. import symbol as sym
from ..model import load_checkpoint, save_checkpoint
from ._base import BaseRNNCell

__all__ = ["rnn_unroll", "save_rnn_checkpoint", "load_rnn_checkpoint", "do_rnn_checkpoint"]


def rnn_unroll(cell, length, inputs=None, begin_state=None, input_prefix='', layout='NTC'):
    """Deprecated: `cell.unroll`. Without inputs they are variables `<input_prefix>t<k>_data`."""
    warnings.warn('rnn_unroll is deprecated. Please call cell.unroll directly.')
    if inputs is None:
        inputs = [sym.Variable(f'{input_prefix}t{step}_data') for step in range(length)]
    return cell.unroll(length, inputs=inputs, begin_state=begin_state, layout=layout)


def _as_list(cells):
    return [cells] if isinstance(cells, BaseRNNCell) else cells


def save_rnn_checkpoint(cells, prefix, epoch, symbol, arg_params, aux_params):
    """model.save_checkpoint, with the weights of one cell or a list of them unpacked."""
    for cell in _as_list(cells):
        arg_params = cell.unpack_weights(arg_params)
    save_checkpoint(prefix, epoch, symbol, arg_params, aux_params)


def load_rnn_checkpoint(cells, prefix, epoch):
    """model.load_checkpoint of what save_rnn_checkpoint wrote: symbol, arg_params, aux_params."""
    symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
    for cell in _as_list(cells):
        arg_params = cell.pack_weights(arg_params)
    return symbol, arg_params, aux_params


def do_rnn_checkpoint(cells, prefix, period=1):
    """An epoch_end_callback that saves a checkpoint every `period` epochs."""
    period = int(max(1, period))

    def _callback(iter_no, sym=None, arg=None, aux=None):
        if (iter_no + 1) % period == 0:
            save_rnn_checkpoint(cells, prefix, iter_no + 1, sym, arg, aux)
    return _callback
