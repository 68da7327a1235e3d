"""What benchmarks/compare measures: the rows of its tables."""
import dataclasses

from .models.sizes import BUCKETS, pyramid

ALL = ("symbind", "mxnet", "torch", "onnxruntime", "openvino")
TRAINERS = ("symbind", "mxnet", "torch")


@dataclasses.dataclass(frozen=True)
class Row:
    """One line. `parts` are (model, batch size); a step runs all of them.

    kind: step (time of a step), fit (of a batch in Module.fit), imperative (of an addition), start (from the start of a
    process to its first step), memory (largest resident size), load (a step while one process per core is busy, as a
    multiple of the step without them). `divide` turns a step's time into that of a unit, e.g. of one of 1,000 additions.
    `compare_with`: parts that Symbind runs as well, to compare its times of both. A training runs `check_steps` steps
    whose losses are compared.
    """
    group: str
    name: str
    parts: tuple
    train: bool = False
    kind: str = "step"
    dtype: str = "float32"
    engines: tuple = ALL
    divide: int = 1
    compare_with: tuple = ()
    check_steps: int = 20
    quick: bool = False


def predict(name, model, batch, **options):
    return Row("users", "%s, batch %d" % (name, batch), ((model, batch),), **options)


def train(group, name, model, batch, **options):
    return Row(group, "train %s, batch %d" % (name, batch), ((model, batch),), train=True, engines=TRAINERS, **options)


def users_models():
    for name, model, batches in (
            ("ArcFace ResNet-50", "arcface_r50", (1, 32)), ("MobileFaceNet", "mobilefacenet", (1, 32)),
            ("SSD-300 VGG-16, heads", "ssd_vgg_heads", (1, 4)), ("SSD-300 VGG-16, detection", "ssd_vgg", (1,)),
            ("EDSR x2 of 96x96", "edsr", (1, 4)), ("DeepAK8", "deepak8", (1, 32)),
            ("ParticleNet", "particlenet", (1, 32)), ("MobileNet v2", "mobilenet_v2", (1, 32)),
            ("SE-ResNet-50", "se_resnet50", (1, 32)), ("ResNet-50 v2", "resnet50_v2", (1, 32)),
            ("Inception v3", "inception_v3", (1, 32)), ("LSTM language model", "lstm_language_model", (1, 32)),
            ("Sockeye's RNN", "sockeye_rnn", (1, 32))):
        for batch in batches:
            yield predict(name, model, batch)
    pyramid_parts = tuple(("mtcnn_pnet_%dx%d" % size, 1) for size in pyramid())
    yield Row("users", "MTCNN, 640x480", pyramid_parts + (("mtcnn_rnet", 64), ("mtcnn_onet", 16)))
    yield Row("users", "unrolled LSTM, buckets %s, batch 1" % (BUCKETS,),
              tuple(("lstm_bucket_%d" % length, 1) for length in BUCKETS))


def users_training():
    buckets = tuple(("lstm_bucket_%d" % length, 32) for length in BUCKETS)
    yield Row("training", "train unrolled LSTM, buckets %s, batch 32" % (BUCKETS,), buckets, train=True,
              engines=TRAINERS, check_steps=5)  # of four batches each
    for name, model, batch in (("ArcFace ResNet-50", "arcface_training", 8), ("MobileNet v2", "mobilenet_v2", 8),
                               ("DeepAK8", "deepak8", 128), ("ParticleNet", "particlenet", 16),
                               ("Sockeye's RNN", "sockeye_rnn", 32), ("EDSR x2 of 48x48", "edsr_training", 4),
                               ("SE-ResNet-50", "se_resnet50", 8)):
        yield train("training", name, model, batch)


def known_networks():
    yield train("main", "ResNet-50", "resnet50", 8, quick=True)
    yield train("main", "ResNet-50", "resnet50", 32, check_steps=3)
    for batch in (1, 8):
        yield Row("main", "ResNet-50, batch %d" % batch, (("resnet50", batch),), quick=True)
    for batch in (1, 8):
        yield Row("main", "ResNet-50 in bfloat16, batch %d" % batch, (("resnet50", batch),), dtype="bfloat16",
                  engines=("symbind", "torch", "openvino"))
    yield Row("main", "ResNet-50 from a float16 checkpoint, batch 1", (("resnet50_fp16", 1),), dtype="float16",
              compare_with=(("resnet50", 1),))
    for batch in (1, 10, 100):
        yield train("main", "an MLP (784-128-64-10)", "mlp", batch, quick=True)
    for batch in (1, 10, 100):
        yield train("main", "the MLP by fit", "mlp", batch, kind="fit", quick=batch == 100)
    yield train("main", "LeNet", "lenet", 64, quick=True)
    yield train("main", "an LSTM language model (35 words, 2 x 200, 10,000 words)", "lstm_language_model", 32,
                quick=True)
    yield Row("main", "one of 1,000 additions of 64 floats in a graph", (("add_chain", 64),), divide=1000, quick=True,
              engines=("symbind", "mxnet", "torch", "onnxruntime"))  # OpenVINO compiles it for minutes
    yield Row("main", "an addition of 64 floats from Python", (("mlp", 1),), kind="imperative", engines=TRAINERS,
              quick=True)
    yield train("main", "from the start of a process to the first MLP step", "mlp", 100, kind="start", quick=True)
    yield train("main", "ResNet-50: memory", "resnet50", 32, kind="memory")
    yield train("main", "LeNet with one busy process per core", "lenet", 64, kind="load")


def all_rows():
    return [*known_networks(), *users_models(), *users_training()]
