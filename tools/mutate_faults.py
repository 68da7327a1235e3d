"""The faults of tools/mutate: a file, a text in it, what stands there instead, the tests to run.

Tests are words `folder:filter`: a gtest filter of the program tests_<folder>, tried in order.
"""
import collections

Fault = collections.namedtuple("Fault", "name file old new tests")

BATCH_NORM = "src/ops/nn/batch_norm.cpp"
BATCH_NORM_ONEDNN = "src/kernels/onednn/batch_norm.cpp"
EXECUTOR = "src/executor/executor.cpp"
PLAN_MEMORY = "src/passes/plan_memory.cpp"
POOLING = "src/ops/nn/pooling.cpp"
UPDATE_LOOP = "src/ops/optimizer/update_loop.h"
SOFTMAX = "src/ops/loss/softmax_output.cpp"

FAULTS = [Fault(*row) for row in [
    # ---- gradients
    ("a sign flipped in tanh's gradient", "src/kernels/elementwise_unary.cpp",
     "std::tanh(x), dy*(T(1) - y * y))", "std::tanh(x), dy*(T(1) + y * y))",
     "ops:Ops.tanh:Ops.Activation"),
    ("a sign flipped in BatchNorm's gradient", BATCH_NORM,
     "d -= (sum + (static_cast<double>(x[i])", "d += (sum + (static_cast<double>(x[i])",
     "ops:Ops.BatchNorm"),
    ("FullyConnected's bias gradient misses the last row", "src/ops/nn/fully_connected.cpp",
     "i < s.rows; ++i) sum +=", "i + 1 < s.rows; ++i) sum +=", "ops:Ops.FullyConnected"),
    ("grad_req add writes", "src/passes/pipeline.cpp",
     "== GradReq::kAdd) {", "== GradReq::kAdd && false) {",
     "golden_replay:GoldenOps.FullyConnected"),
    ("gradients of a shared weight not summed", "src/passes/gradient.cpp",
     "if (parts.size() < 2) {", "if (parts.size() < 9) {", "golden_replay:GoldenNets.resnet20*"),
    ("max pooling's gradient counted twice", POOLING,
     "if (where[o * step] == i) total += d;", "if (where[o * step] == i) total += 2 * d;",
     "ops:Ops.Pooling"),
    ("rows of softmax leak behind their length", "src/ops/nn/softmax.cpp",
     "dx[i * stride] = T(0);", "dx[i * stride] = static_cast<T>(sum);",
     "golden_replay:GoldenOps.softmax"),
    ("prelu's slopes of samples taken for channels", "src/ops/nn/leaky_relu.cpp",
     "(axis == 1 ? at.channel : at.batch) = stride;", "(axis == 0 ? at.channel : at.batch) = stride;",
     "golden_replay:GoldenOps.LeakyReLU"),
    ("GroupNorm's gradient without the mean", "src/ops/nn/layer_norm.cpp",
     "(w(i) - a - unit(i) * b)", "(w(i) - unit(i) * b)", "ops:Ops.GroupNorm"),

    # ---- updates
    ("momentum's sign", UPDATE_LOOP, "s[0] = momentum * s[0]", "s[0] = -momentum * s[0]",
     "ops:Ops.sgd_mom_update"),
    ("a second step forgets its state", UPDATE_LOOP,
     "state[k][i] = static_cast<W>(s[k]);", "out[i] = static_cast<O>(s[k]);",
     "golden_replay:GoldenOps.sgd_mom_update"),
    ("weight decay's sign", UPDATE_LOOP, "(C(1) - lr * wd) * w", "(C(1) + lr * wd) * w",
     "ops:Ops.sgd_update"),
    ("clip_gradient ignored", UPDATE_LOOP,
     "return bound >= C(0) ? std::clamp(x, -bound, bound) : x;", "return x;",
     "ops:Ops.sgd*"),
    ("ftrl_update does not clip", "src/ops/optimizer/update.cpp",
     "C h = cut(rescale * g, clip), squares", "C h = rescale * g, squares", "ops:Ops.ftrl_update"),
    ("LAMB's norm of a weight has no lower bound", "src/ops/optimizer/lamb_update.cpp",
     "if (lower >= 0) r1 = std::max(r1, lower);", "", "ops:Ops._multi_lamb_update"),
    ("the learning rate of a fused step cannot change", "src/executor/step.cpp",
     "  held = value;\n", "",
     "executor:Step.*"),

    # ---- samplers
    ("a small gamma shape is not boosted", "src/ops/random/distributions.h",
     "shape < 1 ? std::pow(s.positive(), 1 / shape) : 1", "1.0", "ops:Ops._random_gamma"),
    ("Poisson's rejection rejects too little", "src/ops/random/distributions.h",
     "if (us >= 0.07 && v <= most) return k;", "if (us >= 0.07) return k;",
     "ops:Ops._random_poisson"),
    ("a class of probability 0 is drawn", "src/ops/random/multinomial.cpp",
     "std::upper_bound(sums, sums + classes, level)", "sums + std::llrint(level * classes)",
     "ops:Ops._sample_multinomial"),
    ("a density's gradient keeps the last sample only", "src/ops/random/pdf.cpp",
     "sums[0] += scale * d.first;", "sums[0] = scale * d.first;", "ops:Ops._random_pdf_gamma"),

    # ---- BatchNorm
    ("fix_gamma ignored", BATCH_NORM,
     "(a.fix_gamma ? 1.0 : static_cast<double>(args.in<P>(1)[c])) * inverse",
     "static_cast<double>(args.in<P>(1)[c]) * inverse", "ops:Ops.BatchNorm"),
    ("fix_gamma has a gradient", BATCH_NORM_ONEDNN,
     "if (s.fix_gamma && args.wants(1)) std::fill_n(args.out<float>(1), n, 0.f);", "",
     "ops:Ops.BatchNorm golden_replay:GoldenOps.BatchNorm"),
    ("moving variance unbiased", BATCH_NORM,
     "static_cast<P>(1 / (inverse * inverse) - a.eps);",
     "static_cast<P>((1 / (inverse * inverse) - a.eps) * double(g.per_channel()) / "
     "double(g.per_channel() - 1));", "ops:Ops.BatchNorm golden_replay:GoldenOps.BatchNorm"),
    ("moving mean's momentum turned around", BATCH_NORM_ONEDNN,
     "moving_mean[c] * keep + args.in<float>(3)[c] * (1 - keep)",
     "moving_mean[c] * (1 - keep) + args.in<float>(3)[c] * keep",
     "golden_replay:GoldenOps.BatchNorm"),
    ("eps dropped", BATCH_NORM, "1 / std::sqrt(variance + a.eps)", "1 / std::sqrt(variance)",
     "ops:Ops.BatchNorm"),
    ("eps dropped in what oneDNN's forward saves", BATCH_NORM_ONEDNN,
     "static_cast<double>(variance[c]) + s.eps", "static_cast<double>(variance[c])",
     "ops:Ops.BatchNorm golden_replay:GoldenOps.BatchNorm"),

    # ---- other layers and losses
    ("count_include_pad ignored", POOLING, "a.count_include_pad.value_or(true)", "true",
     "ops:Ops.Pooling"),
    ("pooling convention full is valid", POOLING,
     'a.pooling_convention == "full" ? stride - 1 : 0', "0", "ops:Ops.Pooling"),
    ("stride taken for dilation", "src/ops/nn/convolution_attrs.h",
     "s.dilate[to] = a.dilate_of(i);", "s.dilate[to] = a.stride_of(i);", "ops:Ops.Convolution"),
    ("the wrong group of channels", "src/kernels/blas/convolution.cpp",
     "return {(n * s.in_channels + g * s.group_in())", "return {(n * s.in_channels + 0 * g)",
     "ops:Ops.Convolution"),
    ("a transposed product", "src/kernels/blas/gemm.cpp",
     "return transpose ? CblasTrans : CblasNoTrans;", "return CblasNoTrans;",
     "ops:Ops.FullyConnected"),
    ("Dropout does not scale", "src/ops/nn/dropout.cpp", "? 1 / keep : 0;", "? 1 : 0;",
     "ops:Ops.Dropout"),
    ("Dropout's gradient draws a mask of its own", "src/ops/nn/dropout.cpp",
     "apply(index, n, args.in<T>(0), args.in<T>(1), args.out<T>(0));",
     "apply(index, n, args.in<T>(0), args.in<T>(0), args.out<T>(0));",
     "ops:Ops.Dropout"),
    ("SoftmaxOutput normalises over positions no more", SOFTMAX,
     "if (a.multi_output) scale /= static_cast<double>(g.positions);", "",
     "ops:Ops.SoftmaxOutput golden_replay:GoldenOps.SoftmaxOutput"),
    ("SoftmaxOutput counts ignored labels as valid", SOFTMAX, "n -= at(i) == ignore;", "",
     "ops:Ops.SoftmaxOutput golden_replay:GoldenOps.SoftmaxOutput"),
    ("ignore_label not ignored", SOFTMAX, "use_ignore && label == labels.ignore;", "false;",
     "ops:Ops.SoftmaxOutput golden_replay:GoldenOps.SoftmaxOutput"),

    # ---- shapes and copies
    ("Reshape's -4 swaps its factors", "src/ndarray/reshape_codes.cpp",
     "if (a == -1) a = whole / b;", "if (a == -1) a = whole / b;\n    std::swap(a, b);",
     "ops:Ops.Reshape"),
    ("Concat's offset", "src/ops/shape/concat.cpp", "at += bytes[p];", "at += bytes[0];",
     "ops:Ops.Concat"),
    ("a copy leaves out its tail", "src/ops/math/copy.cpp", "parallel_for(bytes, 1 << 18,",
     "parallel_for(bytes / 16 * 16, 1 << 18,", "ops:Ops._copy"),
    ("a strided copy leaves out its last element", "src/ndarray/strided.cpp",
     "for (std::int64_t i = 0; i < n; ++i) dst[i * to]",
     "for (std::int64_t i = 0; i + 1 < n; ++i) dst[i * to]", "ndarray:Indexing.*"),
    ("transpose's gradient in the same order", "src/ops/shape/transpose.cpp",
     'attrs["axes"] = tuple_text(inverse);', 'attrs["axes"] = tuple_text(a.axes);',
     "ops:Ops.transpose"),

    # ---- graph and passes
    ("post_order walks arguments backwards", "src/graph/node.cpp",
     "top.node->inputs[top.next++].node",
     "top.node->inputs[top.node->inputs.size() - ++top.next].node", "executor:Contract.*"),
    ("random operators merged", "src/passes/cse.cpp", "node->op->is_random || ", "",
     "executor:CommonExpressions.*"),
    ("equal operators of other attributes merged", "src/passes/cse.cpp",
     'key += fmt::format("|{}={}", name, value);', 'key += fmt::format("|{}", name);',
     "executor:CommonExpressions.*"),
    ("group2ctx ignored", "src/passes/place_device.cpp",
     "return it == group2ctx.end() ? fallback : it->second;", "return fallback;",
     "properties:TwoDevices.*"),
    ("a product fused away that another reads", "src/passes/fuse.cpp",
     "!only_reader(uses, original) ||", "",
     "passes:Fuse.*"),
    ("shapes flow forwards only", "src/graph/inference.cpp",
     'set_shape(a, shape(b), "the shapes must be equal");', "", "ops:Ops.relu:Ops.elemwise_add"),
    ("FullyConnected's shape backwards", "src/ops/nn/fully_connected.cpp",
     'io.set_shape(data, back, "rows of the output, features of the weight");', "",
     "passes:InferShape.*"),
    ("dtypes are float64 by default", "src/passes/infer_dtype.cpp", "dtype = DType::kFloat32;",
     "dtype = DType::kFloat64;", "executor:Contract.*"),
    ("a reorder left out", "src/passes/layout.cpp",
     "if (same_bytes(have.desc.shape, have.desc.layout, layout)) return tensor;",
     "return tensor;", "properties:Plans.* golden_replay:GoldenNets.resnet20_float32"),
    ("in place though the input lives on", PLAN_MEMORY,
     "if (b.last == static_cast<int>(s) &&\n"
     "          last_use_[static_cast<std::size_t>(in)] == static_cast<int>(s) && ", "if (",
     "ops:Ops.relu properties:Plans.*"),
    ("last use one step early", PLAN_MEMORY,
     "last_use_[static_cast<std::size_t>(t)] = static_cast<int>(s);",
     "last_use_[static_cast<std::size_t>(t)] = static_cast<int>(s) - 1;",
     "properties:Plans.* golden_replay:GoldenNets.lenet"),

    # ---- executor and random numbers
    ("an error not kept on the outputs", EXECUTOR,
     "for (Storage* storage : written_by(plan_->steps[i])) storage->set_error(pending);", ";",
     "executor:Step.*"),
    ("warnings not once", EXECUTOR, "warned_forward_ = true;", "warned_forward_ = false;",
     "executor:Contract.S33"),
    ("a second draw is the first", "src/executor/random_state.cpp", "it->second.draws++",
     "it->second.draws", "properties:ThreadsRandom.*"),

    # ---- files
    ("JSON without its version", "src/graph/symbol_json.cpp",
     'out_ += fmt::format(", \\n  \\"attrs\\": {{\\"mxnet_version\\": [\\"int\\", {}]}}\\n}}", '
     "kJsonVersion);", 'out_ += "\\n}";', "graph:SymbolJson.*"),
    ("the rank's width in .params", "src/ndarray/params_write.cpp",
     "out.put(static_cast<std::int32_t>(rank));", "out.put(static_cast<std::int64_t>(rank));",
     "ndarray:Params.*"),
    ("the atomic rename skipped", "src/base/files.cpp",
     "if (::rename(temporary.path.c_str(), target.c_str()) != 0)",
     "if (::access(temporary.path.c_str(), F_OK) != 0)", "base:Files.*:BadInputFiles.*"),
    ("a failed write leaves its temporary file", "src/base/files.cpp",
     "if (!renamed) ::unlink(path.c_str());", ";", "base:Files.*:BadInputFiles.*"),

    # ---- products and orders
    ("dot's gradient of a transposed left operand", "src/ops/math/dot.cpp",
     "if (ta) return {tb, true, k, m, n, tb ? k : n, n, m};",
     "if (ta) return {tb, false, k, m, n, tb ? k : n, n, m};", "ops:Ops.dot:Ops.batch_dot"),
    ("topk does not keep the order of equal values", "src/ops/index/topk.cpp",
     "if (b < a) return !rising;\n    return i < j;", "if (b < a) return !rising;\n    return j < i;",
     "ops:Ops.topk"),
    ("negative indices of gather_nd do not count from the end", "src/ops/index/gather_nd.cpp",
     "value < 0 ? value + extents[k] : value;", "value < 0 ? value + extents[0] : value;",
     "ops:Ops.gather_nd"),

    # ---- numbers (last: half.h is read by most files)
    ("halves cut instead of rounded", "src/base/half.h",
     "return kept + ((rest > middle || (rest == middle && (kept & 1u))) ? 1u : 0u);",
     "return kept + (rest > middle && false ? 1u : 0u);", "base:SixteenBits*"),
]]
