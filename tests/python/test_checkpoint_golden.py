"""Checkpoints with `.states` that MXNet 1.9.1 wrote (tools/oracle/mx_checkpoints.py) are taken up
here, and five steps on the parameters and states are where MXNet's are."""
import os
import pathlib
import pickletools

import numpy as np
import pytest

import checkpoint_cases
import module_cases
import symbind as mx

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "states"


def by_name(check):
    return pytest.mark.parametrize("spec", checkpoint_cases.CASES,
                                   ids=lambda spec: spec["name"])(check)


def assert_as_mxnet(found, spec):
    wanted = mx.nd.load(str(GOLDEN / "continued" / (spec["name"] + ".params")))
    assert set(found) == set(wanted)
    # Where gradients are float16, their last bit depends on the order of sums, which depends on the
    # CPU; it reaches the float32 states of such a net too.
    half = any(array.dtype == np.float16 for array in wanted.values())
    tolerance = 1e-3 if half else 1e-5
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype, name
        mine, theirs = (a.asnumpy().astype("float64") for a in (found[name], array))
        off = float(np.abs(mine - theirs).max())
        assert off <= tolerance * np.abs(theirs).max(), name


@by_name
def test_resumes_from_mxnets_files(spec):
    assert_as_mxnet(checkpoint_cases.go_on(mx, spec, str(GOLDEN)), spec)


class Behind(mx.io.DataIter):
    """The batches after a checkpoint."""
    def __init__(self, spec):
        super().__init__(spec["data"][0])
        self.spec, self.step = spec, 0
        self.provide_data = [mx.io.DataDesc("data", tuple(spec["data"]))]
        self.provide_label = [mx.io.DataDesc("softmax_label", tuple(spec["data"][:1]))]

    def reset(self):
        self.step = 0

    def next(self):
        if self.step == checkpoint_cases.STEPS:
            raise StopIteration
        self.step += 1
        return module_cases.batch_of(mx, self.spec["net"], tuple(self.spec["data"]),
                                     checkpoint_cases.SAVED + self.step - 1)


@by_name
def test_resumes_by_fit(spec):
    def fit(mod, optimizer):
        mod.fit(Behind(spec), num_epoch=1, **optimizer)
    assert_as_mxnet(checkpoint_cases.go_on(mx, spec, str(GOLDEN), fit), spec)


@by_name
def test_states_loaded_in_the_middle_of_fit(spec, tmp_path):
    """A callback saves the states and loads them back: nothing changes, and what the updater shows
    are the states that are trained."""
    path = str(tmp_path / "own.states")

    def fit(mod, optimizer):
        def back(param):
            if param.nbatch == 1:
                mod.save_optimizer_states(path)
                mod.load_optimizer_states(path)
        mod.fit(Behind(spec), num_epoch=1, batch_end_callback=back, **optimizer)
    assert_as_mxnet(checkpoint_cases.go_on(mx, spec, str(GOLDEN), fit), spec)


@by_name
def test_resumes_from_our_files(spec, tmp_path):
    """Trained and saved here, taken up here: MXNet's end again."""
    checkpoint_cases.save(mx, spec, str(tmp_path))
    assert_as_mxnet(checkpoint_cases.go_on(mx, spec, str(tmp_path)), spec)


def names_in(path):
    """Every class and function a pickle names."""
    stack, found = [], set()
    for operation, argument, _ in pickletools.genops(path.read_bytes()):
        if operation.name == "GLOBAL":
            found.add(argument)
        elif operation.name == "STACK_GLOBAL":
            found.add(" ".join(stack[-2:]))
        elif isinstance(argument, str):
            stack.append(argument)
    return found


@by_name
def test_files_have_mxnets_form(spec, tmp_path):
    checkpoint_cases.save(mx, spec, str(tmp_path))
    name = spec["name"]
    states = name + "-0005.states"
    assert names_in(tmp_path / states) <= names_in(GOLDEN / states)
    assert sorted(os.listdir(tmp_path)) == [name + "-0005.params", states, name + "-symbol.json"]
    assert (tmp_path / (name + "-symbol.json")).read_bytes() == \
        (GOLDEN / (name + "-symbol.json")).read_bytes()
    mine, theirs = (mx.nd.load(str(folder / (name + "-0005.params")))
                    for folder in (tmp_path, GOLDEN))
    assert set(mine) == set(theirs)


@by_name
def test_parameters_written_again_are_mxnets_bytes(spec, tmp_path):
    """As GoldenCheckpointAgain of C++, so the files of the two languages are equal as well."""
    name = spec["name"]
    mod = mx.mod.Module.load(str(GOLDEN / name), checkpoint_cases.SAVED)
    mod.bind([("data", tuple(spec["data"]))], [("softmax_label", (spec["data"][0],))])
    mod.save_checkpoint(str(tmp_path / name), checkpoint_cases.SAVED)
    file = name + "-0005.params"
    assert (tmp_path / file).read_bytes() == (GOLDEN / file).read_bytes()


def test_sets_of_fit_have_mxnets_order(tmp_path):
    spec = next(spec for spec in checkpoint_cases.CASES if spec["name"] == "sgd-bn-name")
    mod = mx.mod.Module(mx.sym.load(str(GOLDEN / "sgd-bn-name-symbol.json")))
    mod.fit(Behind(spec), num_epoch=1, checkpoint=str(tmp_path / "net"))
    assert list(mx.nd.load(str(tmp_path / "net-0001.params"))) == \
        list(mx.nd.load(str(GOLDEN / "sgd-bn-name-0005.params")))
