"""What this build of the library can do, by MXNet's names: `Features().is_enabled('CUDA')`."""
import collections

from . import _core


class Feature:
    """A capability the library was built with or without."""

    def __init__(self, name, enabled):
        self.name = name
        self.enabled = enabled

    def __repr__(self):
        return "{} {}".format("✔" if self.enabled else "✖", self.name)


def feature_list():
    """All features the library knows of, as a list of Feature."""
    return [Feature(name, enabled) for name, enabled in _core.features().items()]


class Features(collections.OrderedDict):
    """The features by name. There is one object of this class."""

    instance = None

    def __new__(cls):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
            collections.OrderedDict.__init__(
                cls.instance, ((feature.name, feature) for feature in feature_list()))
        return cls.instance

    def __init__(self):
        """Leaves the one object as it is."""

    def __repr__(self):
        return str(list(self.values()))

    def is_enabled(self, feature_name):
        """Whether the library has the feature; RuntimeError for a name it does not know."""
        feature_name = feature_name.upper()
        if feature_name not in self:
            raise RuntimeError("Feature '{}' is unknown, known features are: {}".format(
                feature_name, list(self.keys())))
        return self[feature_name].enabled
