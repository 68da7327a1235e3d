"""Loggers with MXNet's one-line format: letter and time, process, place, message; in colour on a
terminal or any other stream, plain in a file."""
import logging
import sys
import warnings
from logging import CRITICAL, DEBUG, ERROR, INFO, NOTSET, WARNING

from . import _core

_LABELS = {CRITICAL: 'C', ERROR: 'E', WARNING: 'W', INFO: 'I', DEBUG: 'D'}
_RED, _GREEN, _BLUE, _PLAIN = '\x1b[31m', '\x1b[32m', '\x1b[34m', '\x1b[0m'


class _Formatter(logging.Formatter):
    def __init__(self):
        super().__init__(datefmt='%m%d %H:%M:%S')

    def format(self, record):
        level = record.levelno
        colour = _RED if level >= WARNING else _GREEN if level >= INFO else _BLUE
        self._style._fmt = (
            colour + _LABELS.get(level, 'U') +
            '%(asctime)s %(process)d %(pathname)s:%(funcName)s:%(lineno)d]' + _PLAIN +
            ' %(message)s')
        return super().format(record)


def get_logger(name=None, filename=None, filemode=None, level=WARNING):
    """The logger `name`, set up at the first call: to the error output, or to the file `filename`
    opened with `filemode` ('a'). Without a name, the root logger, unchanged."""
    logger = logging.getLogger(name)
    if name is not None and not getattr(logger, '_init_done', False):
        logger._init_done = True
        if filename:
            handler = logging.FileHandler(filename, filemode or 'a')
        else:
            handler = logging.StreamHandler()
            handler.setFormatter(_Formatter())
        logger.addHandler(handler)
        logger.setLevel(level)
    return logger


def getLogger(name=None, filename=None, filemode=None, level=WARNING):
    """The old name of get_logger."""
    warnings.warn("getLogger is deprecated, Use get_logger instead.", DeprecationWarning,
                  stacklevel=2)
    return get_logger(name, filename, filemode, level)


def _receive(level, text):
    """Logs a message of the C++ library to the root logger, as MXNet does; messages that SYMBIND_LOG
    enables are shown at any level. It calls the logger's method, because logging.log would set up the
    root logger, and a later logging.basicConfig of the script would have no effect."""
    if text.startswith("dispatch ") and not logging.getLogger().isEnabledFor(level):
        print(text, file=sys.stderr)
    else:
        logging.getLogger().log(level, text)


_core.set_log_sink(_receive)
