"""The scripts of MXNet's example/ that are run, one row each: the script, its data, and where its metric is printed.

A script of the release runs unchanged, in a separate folder with only `files` and the output of `data`. Its own
flags make it short ({seed} in them stands for the seed of the run). Without such flags it is stopped once its metric has been printed `stop_after` times, as by
Ctrl-C. The table is about 1.9.1; some folders of its example/ hold Gluon notebooks only, and for their kind the last
release whose scripts build symbols is used (1.3.1).
"""
import dataclasses

KINDS = ("module", "image-classification", "rnn/bucketing", "numpy-ops", "multi-task", "autoencoder", "svm_mnist",
         "cnn_text_classification", "recommenders", "ctc", "gan-like", "adversary")

NUMBER = r"([-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf))"


def validation(name):
    """Module's log line of a validation score."""
    return r"Validation-" + name + "=" + NUMBER


def training(name):
    return r"Epoch\[\d+\] Train-" + name + "=" + NUMBER


@dataclasses.dataclass(frozen=True)
class Script:
    """One row. `data` maps functions of data.py to their arguments; `metric` is a pattern whose last match counts."""
    kind: str
    script: str
    metric: str
    imports: tuple = ()
    arguments: tuple = ()
    data: dict = dataclasses.field(default_factory=dict)
    variant: str = ""           # tells two runs of one script apart
    release: str = "1.9.1"
    stop_after: int = 0         # matches of `metric` after which the script is stopped; 0 lets it end by itself
    exact: bool = False         # the metric is text that must be the same
    gpu: int = 0                # how many GPUs it insists on
    absent: tuple = ()          # functions that other packages have removed since and the script imports
    needs: tuple = ()           # packages besides NumPy
    environment: dict = dataclasses.field(default_factory=dict)
    folder: str = ""            # where it runs, below example/; the script's own folder by default

    @property
    def name(self):
        return self.script + (" " + self.variant if self.variant else "")

    @property
    def files(self):
        """The script and the modules that it imports from its folder, below example/."""
        home = self.script.rsplit("/", 1)[0]
        return (self.script,) + tuple(home + "/" + name for name in self.imports)

    @property
    def place(self):
        return self.folder or self.script.rsplit("/", 1)[0]


IMAGE_CLASSIFICATION = ("common/__init__.py", "common/find_mxnet.py", "common/fit.py", "common/util.py",
                        "common/data.py", "symbols/__init__.py")
FASTER = ("--disp-batches", "1000")

SCRIPTS = (
    Script("module", "module/mnist_mlp.py", r"^accuracy=" + NUMBER, ("utils/__init__.py", "utils/get_data.py"),
           data={"mnist": {"train": 80000}}),
    Script("module", "module/sequential_module.py", validation("accuracy"), ("utils/__init__.py", "utils/get_data.py"),
           data={"mnist": {"train": 80000}}, gpu=4),
    Script("module", "module/python_loss.py", validation("accuracy"), data={"mnist": {"train": 30000}}, gpu=2,
           environment={"NUMBA_DISABLE_JIT": "1"}, needs=("numba",)),

    Script("image-classification", "image-classification/train_mnist.py", validation("accuracy"),
           IMAGE_CLASSIFICATION + ("symbols/mlp.py",),
           ("--num-epochs", "2", "--num-examples", "6000"), {"mnist": {"packed": True}}, needs=("requests",)),
    Script("image-classification", "image-classification/train_mnist.py", validation("accuracy"),
           IMAGE_CLASSIFICATION + ("symbols/lenet.py",),
           ("--network", "lenet", "--num-epochs", "2", "--num-examples", "2000"),
           {"mnist": {"packed": True, "train": 2000}}, variant="lenet", needs=("requests",)),
    Script("image-classification", "image-classification/train_cifar10.py", training("accuracy"),
           IMAGE_CLASSIFICATION + ("symbols/resnet.py",),
           ("--benchmark", "1", "--num-layers", "8", "--batch-size", "32", "--num-examples", "320", "--num-epochs", "5",
            "--lr", "0.05", "--disp-batches", "5"), {"empty": {"names": ["data/cifar10_train.rec", "data/cifar10_val.rec"]}},
           needs=("requests",)),
    Script("image-classification", "image-classification/train_imagenet.py", training("accuracy"),
           IMAGE_CLASSIFICATION + ("symbols/mobilenet.py",),
           ("--benchmark", "1", "--network", "mobilenet", "--image-shape", "3,224,224", "--num-classes", "10",
            "--batch-size", "4", "--num-examples", "24", "--num-epochs", "4", "--lr", "0.05", "--disp-batches", "5"),
           needs=("requests",)),

    Script("image-classification", "image-classification/fine-tune.py", training("accuracy"),
           IMAGE_CLASSIFICATION + ("common/modelzoo.py", "symbols/resnet.py"),
           ("--benchmark", "1", "--pretrained-model", "imagenet1k-resnet-18", "--image-shape", "3,32,32",
            "--num-classes", "10", "--batch-size", "16", "--num-examples", "96", "--num-epochs", "2", "--disp-batches", "5"),
           {"pretrained": {}}, needs=("requests",)),

    Script("rnn/bucketing", "rnn/bucketing/lstm_bucketing.py", validation("perplexity"),
           arguments=("--num-hidden", "32", "--num-embed", "16", "--num-layers", "1", "--num-epochs", "24", "--lr", "0.05",
                      "--mom", "0.9", "--disp-batches", "1000"),
           data={"sentences": {"count": 2400, "vocabulary": 40, "longest": 20}}),
    Script("rnn/bucketing", "rnn/bucketing/cudnn_rnn_bucketing.py", validation("perplexity"),
           arguments=("--num-hidden", "32", "--num-embed", "16", "--num-layers", "1", "--num-epochs", "8", "--optimizer",
                      "adam", "--lr", "0.01"),
           data={"sentences": {"count": 2400, "vocabulary": 40, "longest": 20}}),
    Script("rnn/bucketing", "rnn/word_lm/train.py", r"Test loss:\t[\d.]+, Perplexity: " + NUMBER,
           ("data.py", "model.py", "module.py"),
           ("--emsize", "32", "--nhid", "32", "--epochs", "24", "--dropout", "0", "--bptt", "20", "--seed",
            "{seed}"),
           {"sentences": {"count": 2400, "vocabulary": 40, "longest": 20}}, gpu=1),

    Script("numpy-ops", "numpy-ops/custom_softmax.py", validation("accuracy"), data={"mnist": {"train": 10000}},
           stop_after=5),
    Script("numpy-ops", "numpy-ops/weighted_logistic_regression.py",
           r"Weighted Logistic Regression gradients:\s+\[\[\s*" + NUMBER),

    Script("multi-task", "multi-task/example_multi_task.py", validation("multi-accuracy-task1"),
           data={"mnist": {"train": 3000}}, release="1.3.1", gpu=1, stop_after=5),

    Script("autoencoder", "autoencoder/variational_autoencoder/VAE_example.ipynb", training("loss"), ("VAE.py",),
           data={"mnist": {"train": 60000, "test": 10000, "at": ".", "packed": True}}, stop_after=2,
           needs=("matplotlib",)),

    Script("svm_mnist", "svm_mnist/svm_mnist.py", r"Accuracy for svm_l\d: " + NUMBER,
           data={"mnist": {"train": 60000, "test": 1000, "at": ".", "packed": True}}, stop_after=1,
           absent=("sklearn.datasets.fetch_mldata",), needs=("scikit-learn",)),

    Script("cnn_text_classification", "cnn_text_classification/text_cnn.py", validation("accuracy"), ("data_helpers.py",),
           ("--num-embed", "32", "--num-epochs", "3", "--gpus", "0"), {"polarity": {}}, needs=("word2vec",), gpu=1),

    Script("recommenders", "model-parallel/matrix_factorization/train.py", validation("mse"), ("get_data.py", "model.py"),
           ("--num-epoch", "8", "--factor-size", "16"),
           {"ratings": {"files": {"ml-10M100K/r1.train": 8000, "ml-10M100K/r1.test": 1500}},
            "empty": {"names": ["ml-10m.zip"]}}, gpu=2),
    Script("recommenders", "sparse/matrix_factorization/train.py", r"eval MSE = " + NUMBER, ("data.py", "model.py"),
           ("--num-epoch", "6", "--factor-size", "16", "--seed", "{seed}"),
           {"ratings": {"files": {"data/ml-10M100K/r1.train": 8000, "data/ml-10M100K/r1.test": 1500}}}),
    Script("recommenders", "recommenders/randomproj.py", r"^\s*\[\[\s*" + NUMBER, release="1.3.1"),

    Script("ctc", "ctc/lstm_ocr_infer.py", r"Digits: \[(\d[\d, ]*)\]",
           ("lstm.py", "ctc_metrics.py", "hyperparams.py", "ocr_iter.py"), ("sample.png", "--epoch", "0"), {"reader": {}},
           exact=True, needs=("opencv-python-headless",)),

    Script("gan-like", "vae-gan/vaegan_mxnet.py", r"epoch: 1 iter: 4 .*\] \[" + NUMBER,
           arguments=("--train", "--use_cpu", "--nef", "16", "--ndf", "16", "--ngf", "16", "--num_epoch", "2",
                      "--training_data_path", "pictures", "--show_after_every", "4"),
           data={"pictures": {"at": "pictures"}}, needs=("opencv-python-headless", "scipy"),
           environment={"MXNET_MKLDNN_ENABLED": "0"}),  # whose deconvolution refuses target_shape

    Script("adversary", "adversary/adversary_generation.ipynb", r"Val Batch Accuracy after pertubation:\s+" + NUMBER,
           data={"mnist": {"train": 3000}}, release="1.3.1", needs=("matplotlib",)),

    Script("nce-loss", "nce-loss/wordvec.py", training("nce-auc"), ("nce.py", "text8_data.py", "wordvec_net.py"),
           data={"text8": {}}, stop_after=4),
    Script("nce-loss", "nce-loss/wordvec_subwords.py", training("nce-auc"),
           ("nce.py", "text8_data.py", "wordvec_net.py"), data={"text8": {}}, stop_after=4),

    Script("stochastic-depth", "stochastic-depth/sd_mnist.py", validation("accuracy"), ("sd_module.py",),
           data={"mnist": {"train": 2000}}),
    Script("svrg", "svrg_module/api_usage_example/example_api_train.py", r"Epoch\[\d+\] Train-mse=" + NUMBER,
           arguments=("-e", "4")),
    Script("svrg", "svrg_module/api_usage_example/example_inference.py", r"Loss on Validation Set is " + NUMBER,
           arguments=("-e", "4", "-bs", "40")),
    Script("named_entity_recognition", "named_entity_recognition/src/ner.py", validation("entity f1 score"),
           ("iterators.py", "metrics.py"),
           ("--num-epochs", "6", "--lr", "0.01", "--batch-size", "16", "--word-embed", "32", "--lstm-state-size", "32", "--max-records",
            "900"), {"entities": {"name": "../data/ner_data.pkl"}}, needs=("pandas", "scikit-learn")),
    Script("restricted-boltzmann-machine", "restricted-boltzmann-machine/binary_rbm_module.py",
           r"test log-likelihood " + NUMBER, ("binary_rbm.py",),
           ("--num-epoch", "3", "--no-cuda", "--num-hidden", "64", "--k", "5", "--ais-num-batch", "4"),
           {"mnist": {"train": 2000, "test": 400, "at": ".", "packed": True}}, stop_after=3, needs=("matplotlib",)),
    Script("bayesian-methods", "bayesian-methods/bdk_demo.py", r"Student: Test ACC \d+/\d+=" + NUMBER,
           ("algos.py", "data_loader.py", "utils.py"), ("-d", "1", "-l", "2", "-t", "1000"), {"mnist_arrays": {}},
           stop_after=1, needs=("matplotlib",)),
)
