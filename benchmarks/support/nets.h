#pragma once
// The networks of the benchmarks, as symbols.

#include <symbind/symbol.h>

namespace symbind::bench {

/// 784-128-64-10 with ReLU and SoftmaxOutput.
Symbol mlp();
/// conv20-tanh-pool, conv50-tanh-pool, fc500-tanh, fc10, SoftmaxOutput.
Symbol lenet();
/// ResNet-50 v1.5: the stride of a block is in its 3×3 convolution.
Symbol resnet50();
/// Embedding of 10,000 words, two fused LSTM layers of 200, and the word after the last one.
Symbol lstm_language_model();
/// x + x + … of `length` adds.
Symbol add_chain(int length);

}  // namespace symbind::bench
