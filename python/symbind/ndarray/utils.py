"""mx.nd.utils: files and creation, which MXNet scripts also import from here."""
from .creation import array, empty, load, load_frombuffer, save, zeros  # noqa: F401
