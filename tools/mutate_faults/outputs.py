"""Faults of unread outputs and empty arrays."""

CHOOSE = "src/passes/choose_kernels.cpp"
IMPERATIVE = "src/executor/imperative.cpp"
BATCH_NORM = "src/ops/nn/batch_norm.cpp"
EMPTY = "src/graph/empty_kernel.cpp"

ROWS = [
    # ---- unread outputs
    ("an unread output of a graph has no memory", CHOOSE,
     "t.home = skipped ? Home::kNowhere : Home::kScratch;", "t.home = Home::kNowhere;",
     "ops:UnreadOutputs.*:Ops.BatchNorm"),
    ("an unread output of a call has no memory", IMPERATIVE,
     "    made->place_scratch(request.wanted);\n", "", "ops:UnreadOutputs.invoke*"),
    ("scratch memory of a call overlaps its workspace", IMPERATIVE,
     "scratch.emplace_back(o, aligned(workspace_bytes));", "scratch.emplace_back(o, 0);",
     "ops:UnreadOutputs.invoke*"),
    ("scratch memory is not planned", "src/passes/plan_memory.cpp",
     "if (!t.in_arena() || block_of_", "if (t.home != Home::kArena || block_of_",
     "ops:UnreadOutputs.*"),
    ("BatchNorm says that it skips its first output", BATCH_NORM,
     "      .skips_unread(1)\n", "      .skips_unread()\n", "ops:UnreadOutputs.*:Ops.BatchNorm"),
    ("an RNN's unread sequence has no place in float16", "src/ops/rnn/rnn.cpp",
     "    r.wanted.front() = true;\n", "", "ops:UnreadOutputs.rnn*"),
    # ---- arrays without elements
    ("a node without elements runs", EMPTY,
     "std::ranges::all_of(out, is_empty) ? &kernel : nullptr;",
     "std::ranges::all_of(out, is_empty) && false ? &kernel : nullptr;",
     "ops:EmptyArrays.*:Ops.*"),
    ("a node with an output without elements is skipped whole", EMPTY,
     "std::ranges::all_of(out, is_empty)", "std::ranges::any_of(out, is_empty)",
     "ops:EmptyArrays.*"),
    ("norms of no samples look for sums that are not there", "src/ops/nn/layer_norm.cpp",
     "if (by_row) return gradient_by_row", "if (sums) return gradient_by_row",
     "ops:EmptyArrays.norms*"),
    ("Pad repeats the edge of nothing", "src/ops/shape/pad.cpp",
     'check(a.mode != "edge" || in[d] > 0,', 'check(a.mode != "edge" || in[d] >= 0,',
     "ops:EmptyArrays.pad*"),
    ("pick takes from nothing", "src/ops/index/pick.cpp",
     "check(extent > 0, ErrorKind::kIndex,", "check(extent >= 0, ErrorKind::kIndex,",
     "ops:EmptyArrays.pick*"),
    ("the last of no steps", "src/ops/shape/sequence.cpp",
     "check(q.in[0].shape[a.axis] > 0,", "check(q.in[0].shape[a.axis] >= 0,",
     "ops:EmptyArrays.sequence*"),
    ("the blank of no classes", "src/ops/loss/ctc_loss.cpp",
     "check(x[2] > 0, ErrorKind::kShape,", "check(x[2] >= 0, ErrorKind::kShape,",
     "ops:EmptyArrays.ctc*"),
    ("a mean over no pixels is not written", "src/ops/nn/resize.cpp",
     "if (plan.rows.in * plan.columns.in == 0)", "if (plan.rows.in * plan.columns.in < 0)",
     "ops:EmptyArrays.adaptive*"),
    ("a class is drawn from none", "src/ops/random/multinomial.cpp",
     "check(classes > 0, ErrorKind::kShape,", "check(classes >= 0, ErrorKind::kShape,",
     "ops:EmptyArrays.multinomial*"),
    ("prelu counts channels that are not there", "src/ops/nn/leaky_relu.cpp",
     "channel = by_channel ? k % g.channels : 0;", "channel = k % g.channels;",
     "ops:EmptyArrays.prelu*"),
]
