"""mx.nd.utils: files and creation, where MXNet's scripts also look for them."""
from .creation import array, empty, load, load_frombuffer, save, zeros  # noqa: F401
