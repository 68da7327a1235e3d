"""Tools for testing: comparing arrays, checking symbols against values and finite differences,
checking random generators, data sets, and the environment of a test.

`from mxnet.test_utils import *` is how MXNet's tests begin, and they use without importing them the
modules named first below: those imports are part of the interface.
"""
import json
import logging
import os
import struct
import sys
import time

import numpy as np
import numpy.random as rnd
import numpy.testing as npt

import symbind as mx

from ..context import Context, current_context
from ..ndarray import array
from ..runtime import Features
from ..symbol import Symbol
from ..util import getenv, setenv, use_np
from ._arrays import (assign_each, assign_each2, create_2d_tensor, create_sparse_array,
                      create_sparse_array_zd, create_vector, get_identity_mat,
                      get_identity_mat_batch, rand_coord_2d, rand_ndarray, rand_shape_2d,
                      rand_shape_3d, rand_shape_nd, rand_sparse_ndarray, random_arrays,
                      random_sample, random_uniform_arrays, shuffle_csr_column_indices)
from ._compare import (almost_equal, assert_allclose, assert_almost_equal,
                       assert_almost_equal_ignore_nan, assert_almost_equal_with_err,
                       assert_exception, checkShapes, collapse_sum_like, compare_ndarray_tuple,
                       default_atols, default_dtype, default_numeric_eps, default_rtols,
                       effective_dtype, get_atol, get_etol, get_rtol, get_tolerance, get_tols,
                       locationError, np_reduce, same, same_array)
from ._data import (DummyIter, download, download_model, get_bz2_data, get_cifar10,
                    get_im2rec_path, get_mnist, get_mnist_iterator, get_mnist_pkl, get_mnist_ubyte,
                    get_zip_data)
from ._process import (default_context, discard_stderr, environment, is_aarch64_run, is_cd_run,
                       list_gpus, retry, set_default_context)
from ._statistics import (chi_square_check, compare_optimizer, gen_buckets_probs_with_ppf,
                          mean_check, var_check, verify_generator)
from ._symbolic import (check_consistency, check_numeric_gradient, check_speed,
                        check_symbolic_backward, check_symbolic_forward, numeric_grad,
                        same_symbol_structure, simple_forward)
