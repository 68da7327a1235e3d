# Written by tools/stubgen; do not edit.


def Group(symbols, create_fn=None):
    """Several symbols as one with all their outputs."""
def Variable(name, attr=None, shape=None, lr_mult=None, wd_mult=None, dtype=None, init=None,
             stype=None, profiler_scope=None, **kwargs):
    """A variable: an argument of the graph."""
def arange(start, stop=None, step=1.0, repeat=1, infer_range=False, name=None, dtype=None):
    """Numbers from `start` up to `stop`, each `repeat` times."""
def eye(N, M=0, k=0, dtype=None, **kwargs):
    """Ones on the k-th diagonal."""
def fromfile(fname):
    """Reads a graph from MXNet's JSON, of any age."""
def fromjson(json_str):
    """A graph from MXNet's JSON, of any age."""
def full(shape, val, dtype=None, **kwargs):
    """One value everywhere."""
def histogram(a, bins=10, range=None, **kwargs):
    """(counts, edges)."""
def hypot(left, right):
    """hypot of symbols and numbers."""
def linspace(start, stop, num, endpoint=True, name=None, dtype=None):
    """`num` numbers at equal distances."""
def load(fname):
    """Reads a graph from MXNet's JSON, of any age."""
def load_json(json_str):
    """A graph from MXNet's JSON, of any age."""
def maximum(left, right):
    """maximum of symbols and numbers."""
def minimum(left, right):
    """minimum of symbols and numbers."""
def ones(shape, dtype=None, **kwargs):
    """Ones."""
def pow(base, exp):
    """One to the power of the other, of symbols and numbers."""
def power(base, exp):
    """One to the power of the other, of symbols and numbers."""
def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Parts along an axis: so many equal ones, or cut at the given places."""
def var(name, attr=None, shape=None, lr_mult=None, wd_mult=None, dtype=None, init=None, stype=None,
        profiler_scope=None, **kwargs):
    """A variable: an argument of the graph."""
def zeros(shape, dtype=None, **kwargs):
    """Zeros."""
