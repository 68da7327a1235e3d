"""Faults of threads' shares: of every loop over threads, each share but the first loses its last
item.

A row is a file, the tests that notice, and the heads of its loops.
"""

LOOPS = [
    ("src/kernels/convolution_reference.h", "ops:Ops.Convolution ops:Ops.Deconvolution", [
        "parallel_for(s.out_channels, grain_of(s.batch * out), [&](std::int64_t begin, std::"
        "int64_t end) {",
    ]),
    ("src/kernels/copy_block.h", "ops:Ops.Reshape:Ops.Flatten:Ops.expand_dims:Ops.Concat", [
        "parallel_for(static_cast<std::int64_t>(bytes), 1 << 18,\n"
        "               [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/copy_block.h", "ops:Ops.slice*:Ops.transpose:Ops.Crop", [
        "parallel_for(shape[axis], grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/elementwise.cpp", "ops:Ops.exp", [
        "parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {\n"
        "    if (type.load == nullptr) return loop(xs + begin * size, ys + begin * size, end - "
        "begin);",
    ]),
    ("src/kernels/elementwise.cpp", "ops:Ops.elemwise_add", [
        "parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {\n"
        "    const std::int64_t at = begin * size;",
    ]),
    ("src/kernels/elementwise.h", "ops:Ops.broadcast_add", [
        "parallel_for(w.size, grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(w.size / inner, std::max<std::int64_t>(1, grain / inner),\n"
        "               [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/gather.h", "ops:Ops.take:Ops.Embedding", [
        "parallel_for(count, std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, row * "
        "outer)),\n"
        "                 [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(outer * inner, columns, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/image_resize.cpp", "ops:Ops._cvimresize:Ops._image_resize", [
        "parallel_for(p.from.height, grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(p.to.height, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/patches.h", "ops:Ops.im2col:Ops.col2im ops:Ops.Convolution", [
        "parallel_for(rows, grain_of(positions), [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(s.group_in(), grain_of(taps * positions), [&](std::int64_t begin, std::"
        "int64_t end) {",
    ]),
    ("src/kernels/activation.cpp", "ops:Ops.Activation:Ops.clip:Ops.LeakyReLU", [
        "parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {\n"
        "    forward_range",
        "parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {\n"
        "    backward_range",
    ]),
    ("src/kernels/reduce.cpp", "ops:Ops.sum", [
        "parallel_for(walk_.outputs_ / width * tiles, std::max<std::int64_t>(1, 32768 / cost),\n"
        "                 [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/reduce.cpp", "ops:OpBorders.one_long_sum", [
        "parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/reduce.cpp", "ops:Ops.sum", [
        "parallel_for(walk_.outputs_, std::max<std::int64_t>(1, 32768 / walk_.reduced_),\n"
        "               [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/reorder.cpp", "ops:OpBorders.layouts*", [
        "parallel_for(count, grain_of(size), [=](std::int64_t begin, std::int64_t end) {",
        "parallel_for(images, grain, [=](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/rnn/backward.cpp", "ops:OpBorders.dropout* ops:Ops.RNN", [
        "parallel_for((columns + kBlock - 1) / kBlock, grain, [=](std::int64_t begin, std::"
        "int64_t end) {",
        "parallel_for(s.directions * s.batch, kFewestRows, [&](std::int64_t begin, std::"
        "int64_t end) {",
        "parallel_for(s.rows() * s.directions * s.width(), kElementGrain,\n"
        "                 [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/rnn/forward.cpp", "ops:OpBorders.dropout* ops:Ops.RNN", [
        "parallel_for(n, kElementGrain / 8, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(s.directions * s.batch, kFewestRows, [&](std::int64_t begin, std::"
        "int64_t end) {",
    ]),
    ("src/kernels/blas/gemm.cpp", "kernels:Gemm.*", [
        "parallel_for(d.groups(), d.grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kvstore/compression.cpp", "kvstore:Compression.shares*", [
        "parallel_for(words, kElementGrain / kWord, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(items, grain, [&](std::int64_t begin, std::int64_t end) {",
        "[&](std::int64_t begin, std::int64_t end) {\n                 vector::conversions()",
        "[&](std::int64_t begin, std::int64_t end) {\n                 for (std::int64_t i = begin;",
    ]),
    ("src/kvstore/reduce.cpp", "kvstore:KVStore.*", [
        "parallel_for(target.size(), kElementGrain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ndarray/convert.cpp", "ndarray:Convert.*", [
        "parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {\n"
        "        convert_range(static_cast<To*>(dst) + begin, static_cast<const From*>(src) + "
        "begin,",
        "parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {\n"
        "      std::fill(static_cast<T*>(dst) + begin, static_cast<T*>(dst) + end, element);",
    ]),
    ("src/ops/index/gather_nd.cpp",
     "ops:Ops.gather_nd:Ops.scatter_nd:Ops._backward_gather_nd:Ops._scatter_set_nd", [
        "parallel_for(places.count, std::max<std::int64_t>(1, 32768 / std::max<std::"
        "int64_t>(1, row)),\n"
        "                 [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(places.inner, std::max<std::int64_t>(1, 32768 / places.count),\n"
        "               [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/index/index_array.cpp", "ops:Ops._contrib_index_array:Ops._contrib_index_copy", [
        "parallel_for(n, 4096, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/index/one_hot.cpp", "ops:Ops.one_hot", [
        "parallel_for(n, std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, depth)),\n"
        "                   [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/index/pick.cpp", "ops:Ops.pick:Ops.batch_take", [
        "parallel_for(outer * inner, 8192, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/index/ravel.cpp", "ops:Ops._ravel_multi_index:Ops._unravel_index", [
        "parallel_for(n, 16384, [&](std::int64_t begin, std::int64_t end) {\n"
        "        for (std::int64_t i = begin; i < end; ++i) {\n"
        "          std::uint64_t place = 0;",
        "parallel_for(n, 16384, [&](std::int64_t begin, std::int64_t end) {\n"
        "        for (std::int64_t i = begin; i < end; ++i) {\n"
        "          auto place = convert_element<std::int64_t>(x[i]);",
    ]),
    ("src/ops/index/topk.cpp", "ops:OpBorders.rows*", [
        "parallel_for(threads, 1, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/index/where.cpp", "ops:Ops.where", [
        "parallel_for(conditions, std::max<std::int64_t>(1, 16384 / inner),\n"
        "                 [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/loss/ctc_loss.cpp", "ops:Ops.CTCLoss", [
        "parallel_for(plan.z.batch, grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(rows, grain, [=](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/loss/regression_output.cpp",
     "ops:Ops.LinearRegressionOutput:Ops.LogisticRegressionOutput:Ops.MAERegressionOutput", [
        "parallel_for(n, kElementGrain / 4, [=](std::int64_t begin, std::int64_t end) {",
        "parallel_for(n, kElementGrain, [=](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/loss/softmax_cross_entropy.cpp", "ops:Ops.softmax_cross_entropy", [
        "parallel_for(s.rows, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/loss/softmax_output.cpp", "ops:Ops.SoftmaxOutput:OpBorders.labels*", [
        "parallel_for(g.rows(), g.grain(), [=](std::int64_t begin, std::int64_t end) {\n"
        "        for (std::int64_t row = begin; row < end; ++row) {\n"
        "          const std::int64_t at",
        "parallel_for(g.rows(), g.grain(), [=](std::int64_t begin, std::int64_t end) {\n"
        "        for (std::int64_t row = begin; row < end; ++row) {\n"
        "          const float* y",
        "parallel_for(g.batch * tiles, grain, [=](std::int64_t begin, std::int64_t end) {",
        "parallel_for(g.rows(), g.grain(), [=](std::int64_t begin, std::int64_t end) {\n"
        "    for (std::int64_t row = begin; row < end; ++row) {",
        "parallel_for(n, kElementGrain, [=](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/loss/svm_output.cpp", "ops:Ops.SVMOutput", [
        "parallel_for(rows, grain, [=](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/math/contrib.cpp",
     "ops:Ops._contrib_div_sqrt_dim:Ops._contrib_quadratic:Ops._contrib_allclose", [
        "parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {\n"
        "        for (std::int64_t i = begin; i < end; ++i)\n"
        "          y[i] = convert_element<T>(static_cast<Wide<T>>(x[i]) / root);",
        "parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {\n"
        "        for (std::int64_t i = begin; i < end; ++i) {",
        "parallel_for(n, kGrain, [=](std::int64_t begin, std::int64_t end) {\n"
        "        for (std::int64_t i = begin; i < end; ++i)\n"
        "          dx[i] = static_cast<T>(static_cast<C>(dy[i]) * (C(2) * a * "
        "static_cast<C>(x[i]) + b));",
        "parallel_for(n, kGrain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/math/copy.cpp", "ops:Ops._copy", [
        "parallel_for(bytes, 1 << 18, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/gemm.h", "ops:Ops.dot:Ops.batch_dot", [
        "parallel_for(count, grain_of_products(s, count), [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/batch_norm_reference.h", "ops:Ops.BatchNorm:Ops._fused_BatchNorm", [
        "parallel_for(channels, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/kernels/batch_norm/plan.h", "ops:Ops.BatchNorm:Ops._fused_BatchNorm", [
        "parallel_for(groups * grid.parts(), grain_of(size), [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(panels, grain_of(size), [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/nn/convolution.cpp", "ops:Ops.Convolution:Ops._fused_Convolution", [
        "parallel_for(s.batch * s.out_channels, grain, [&](std::int64_t begin, std::int64_t "
        "end) {",
        "parallel_for(s.batch * s.in_channels, grain_of(s.in_plane_work()),\n"
        "                     [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(s.out_channels * s.group_in(), grain_of(s.tap_work()),\n"
        "                     [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/nn/deconvolution.cpp", "ops:Ops.Deconvolution", [
        "parallel_for(batch * blocks, grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(blocks * lanes, grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(s.batch * s.in_channels, grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(s.batch * s.out_channels, grain_of(s.out_plane_work()),\n"
        "                     [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(s.out_channels * s.group_in(), grain_of(s.tap_work()),\n"
        "                     [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/nn/deformable_convolution.cpp", "ops:Ops._contrib_DeformableConvolution", [
        "parallel_for(s.in_channels * s.taps(), grain, [&](std::int64_t begin, std::int64_t "
        "end) {",
        "parallel_for(s.in_channels, grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(s.deformable * s.taps(), grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/nn/dropout.cpp", "ops:Ops.Dropout", [
        "parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {",
        "return parallel_for(m, kGrain, [&](std::int64_t begin, std::int64_t end) {",
        "  parallel_for(m, kGrain, [&](std::int64_t begin, std::int64_t end) {\n"
        "    alignas",
    ]),
    ("src/ops/nn/l2_normalization.cpp", "ops:Ops.L2Normalization", [
        "parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/nn/layer_norm.cpp", "ops:Ops.LayerNorm:Ops.InstanceNorm:Ops.GroupNorm", [
        "parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {",
        "(rows.extent + kBlock - 1) / kBlock, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/nn/leaky_relu.cpp", "ops:Ops.LeakyReLU", [
        "parallel_for(n, kElementGrain, [=](std::int64_t begin, std::int64_t end) {",
        "parallel_for(n, kElementGrain / 8, [=](std::int64_t begin, std::int64_t end) {",
        "parallel_for(batch * groups(), grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(g.groups() * parts, grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/nn/lrn.cpp", "ops:Ops.LRN", [
        "parallel_for(batch * channels, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/nn/pooling.cpp", "ops:Ops.Pooling", [
        "parallel_for(s.batch * s.channels, plane_grain(s), [&](std::int64_t begin, std::"
        "int64_t end) {\n"
        "        for (std::int64_t p = begin; p < end; ++p) {\n"
        "          const Plane at = plane(s, last, p);\n"
        "          forward_plane(s, at.step, args.in<T>(0) + at.in, args.out<T>(0) + at.out,",
        "parallel_for(s.batch * s.channels, plane_grain(s), [&](std::int64_t begin, std::"
        "int64_t end) {\n"
        "        for (std::int64_t p = begin; p < end; ++p) {\n"
        "          const Plane at = plane(s, last, p);\n"
        "          backward_plane(s, at.step, args.in<T>(0) + at.out,",
    ]),
    ("src/ops/nn/resize.cpp",
     "ops:Ops._contrib_AdaptiveAvgPooling2D:Ops._contrib_BilinearResize2D", [
        "parallel_for(plan.planes, plan.grain(), [&](std::int64_t begin, std::int64_t end) {\n"
        "            for (std::int64_t p = begin; p < end; ++p) forward_plane",
        "parallel_for(plan.planes, plan.grain(), [&](std::int64_t begin, std::int64_t end) {\n"
        "        std::fill(sums + begin * size, sums + end * size, Acc(0));",
    ]),
    ("src/ops/nn/softmax.cpp", "ops:Ops.softmax:Ops.log_softmax", [
        "parallel_for(outer * runs, grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(outer * inner, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/nn/sync_batch_norm.cpp", "ops:Ops._contrib_SyncBatchNorm", [
        "parallel_for(channels, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/nn/upsampling.cpp", "ops:Ops.UpSampling", [
        "parallel_for(s.batch * s.groups * s.height, grain, [&](std::int64_t begin, std::int64_t "
        "end) {",
        "parallel_for(s.batch * s.in_channels, grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(s.batch * s.out_channels, grain_of(s.out_plane_work()),\n"
        "                     [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(s.out_channels, grain_of(s.tap_work()),\n"
        "                     [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/optimizer/multi_sum_sq.cpp", "ops:OpBorders.one_number*", [
        "parallel_for(n, 32768, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/optimizer/sum_squares.h", "ops:OpBorders.squares*", [
        "parallel_for(parts, std::max<std::int64_t>(1, 32768 / size),\n"
        "               [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/optimizer/update_loop.h", "ops:Ops.sgd_update", [
        "parallel_for(n, kUpdateGrain, [rule, arrays](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/quantization/quantize.cpp",
     "ops:Ops._contrib_quantize:Ops._contrib_dequantize:Ops._contrib_requantize", [
        "parallel_for(n, kElementGrain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/random/multinomial.cpp", "ops:Ops._sample_multinomial", [
        "parallel_for(s.draws, 1024, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(s.rows, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/random/pdf.cpp", "ops:Ops._random_pdf_*", [
        "parallel_for(n, 512, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(n, 1 + 512 / (each + 1), [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/random/random.cpp", "ops:OpBorders.samplers*", [
        "parallel_for((n + kCount - 1) / kCount, 1024, [&](std::int64_t begin, std::int64_t "
        "end) {",
        "parallel_for(n, 256, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(n, 1024, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/random/sample.cpp", "ops:Ops._sample_*", [
        "parallel_for(n, 256, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/random/shuffle.cpp", "ops:Ops._shuffle", [
        "parallel_for(rows, 1 + 65536 / static_cast<std::int64_t>(bytes + 1),\n"
        "                 [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/reduce/argmax.cpp", "ops:Ops.argmax:Ops.argmin:Ops.argmax_channel", [
        "parallel_for(outer * inner, std::max<std::int64_t>(1, 16384 / extent),\n"
        "                   [=](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/reduce/cumsum.cpp", "ops:Ops.cumsum", [
        "parallel_for(outer * inner, std::max<std::int64_t>(1, 16384 / extent),\n"
        "               [=](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/reduce/histogram.cpp", "ops:OpBorders.values*", [
        "parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/reduce/moments.cpp", "ops:Ops.moments", [
        "parallel_for(static_cast<std::int64_t>(kept.size()), std::max<std::int64_t>(1, 16384 "
        "/ work),\n"
        "                 [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/shape/concat.cpp",
     "ops:Ops.Concat:Ops._rnn_param_concat:Ops.stack:Ops.SliceChannel", [
        "parallel_for(outer, std::max<std::int64_t>(1, 65536 / std::max<std::int64_t>(1, "
        "total)),\n"
        "                 [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/shape/pad.cpp", "ops:Ops.Pad", [
        "parallel_for(planes, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, "
        "out_plane())),\n"
        "                 [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/shape/sequence.cpp", "ops:Ops.SequenceMask:Ops.SequenceLast:Ops.SequenceReverse", [
        "parallel_for(s.samples, std::max<std::int64_t>(1, 32768 / work),\n"
        "               [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/box_decode.cpp", "ops:Ops._contrib_box_decode", [
        "parallel_for(rows, 256, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/box_iou.cpp", "ops:Ops._contrib_box_iou", [
        "parallel_for(left, 16, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/box_nms.cpp", "ops:Ops._contrib_box_nms", [
        "parallel_for(batches, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/correlation.cpp", "ops:Ops.Correlation", [
        "parallel_for(batch * z.displacements, grain, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(batch * z.channels, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/multibox_detection.cpp", "ops:Ops._contrib_MultiBoxDetection", [
        "parallel_for(shape[0], grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/multibox_target.cpp", "ops:Ops._contrib_MultiBoxTarget", [
        "parallel_for(batch, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/proposal.cpp", "ops:Ops._contrib_Proposal:Ops._contrib_MultiProposal", [
        "parallel_for(images, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/psroi_pooling.cpp", "ops:Ops._contrib_PSROIPooling", [
        "parallel_for(regions * a.output_dim, 4, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(a.output_dim, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/roi_align.cpp", "ops:Ops._contrib_ROIAlign", [
        "parallel_for(out[0] * out[1], 4, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(out[1], grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/roi_pooling.cpp", "ops:Ops.ROIPooling", [
        "parallel_for(z.regions * z.channels, 4, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(channels, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/rroi_align.cpp", "ops:Ops._contrib_RROIAlign", [
        "parallel_for(out[0], grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/vision/spatial_transformer.cpp",
     "ops:Ops.SpatialTransformer:Ops.GridGenerator:Ops.BilinearSampler", [
        "parallel_for(batch * 2 * h, 16, [=](std::int64_t begin, std::int64_t end) {",
        "parallel_for(z.batch * out, 256, [&](std::int64_t begin, std::int64_t end) {",
        "parallel_for(z.batch, grain, [&](std::int64_t begin, std::int64_t end) {",
    ]),
    ("src/ops/math/add_n.cpp", "ops:Ops.add_n", [
        "const auto range = [&](std::int64_t begin, std::int64_t end) {",
    ]),
]


def shorten(loop):
    return loop.replace("end) {", "end) { if (begin > 0) --end;", 1)


ROWS = [("shares: loop %d, %s" % (number, file), file, loop, shorten(loop), tests)
        for number, (file, tests, loop) in enumerate(
            [(file, tests, loop) for file, tests, loops in LOOPS for loop in loops], 1)] + [
    ("shares: oneDNN's convolution with a sum", "src/kernels/onednn/convolution.cpp",
     "std::copy(from + b, from + e, static_cast<char*>(y) + b);",
     "std::copy(from + b, from + e - (b > 0 ? 4 : 0), static_cast<char*>(y) + b);",
     "ops:Ops._fused_Convolution"),
]
