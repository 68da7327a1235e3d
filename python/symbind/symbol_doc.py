"""The shapes of a symbol's outputs by name, which scripts import from here."""

__all__ = ["SymbolDoc"]


class SymbolDoc:
    """What MXNet hangs its operators' examples on; here their texts are in the registry and docs/ops.md."""

    @staticmethod
    def get_output_shape(sym, **input_shapes):
        """The shape of each output of `sym`, by name, for these shapes of its arguments."""
        _, shapes, _ = sym.infer_shape(**input_shapes)
        return dict(zip(sym.list_outputs(), shapes))
