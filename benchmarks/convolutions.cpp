// Times every kernel of Convolution for the shapes of well-known networks, with its share of the
// largest possible speed (kernels/peak.h).
//   bench_convolutions [--net NAME] [--batch N] [--threads N] [--file FILE] [--kernel NAME]
//                      [--cpu-time] [--cold]
// Directions: forward, forward with kept weights, data gradient, weight gradient. A kernel that
// refuses a shape prints its reason. --cold: kept weights come from memory, as in a large network;
// runs take turns with several copies of them.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/cpu_isa.h"
#include "base/parallel.h"
#include "kernels/convolution_kernels.h"
#include "kernels/peak.h"
#include "ndarray/storage.h"

namespace {

using namespace symbind;

struct Layer {
  std::string net;
  int count = 1;
  ConvolutionSizes sizes;
};

struct Options {
  std::string net, kernel;
  std::string file = std::string(SYMBIND_SOURCE_DIR) + "/benchmarks/inputs/convolutions.txt";
  std::int64_t batch = 1;
  int threads = 1;
  bool cpu_time = false, cold = false;
};

std::vector<Layer> read_layers(const Options& o) {
  std::ifstream file(o.file);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", o.file.c_str());
    std::exit(2);
  }
  std::vector<Layer> layers;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    Layer layer;
    ConvolutionSizes& s = layer.sizes;
    std::int64_t kernel = 0, stride = 0, pad = 0;
    std::istringstream text(line);
    text >> layer.net >> layer.count >> s.in_channels >> s.out_channels >> s.in[1] >> s.in[2] >>
        kernel >> stride >> pad >> s.groups;
    if (!text || stride < 1) {
      std::fprintf(stderr, "not a layer: %s\n", line.c_str());
      std::exit(2);
    }
    if (!o.net.empty() && layer.net != o.net) continue;
    s.batch = o.batch;
    for (const std::size_t axis : {std::size_t{1}, std::size_t{2}}) {
      s.kernel[axis] = kernel;
      s.stride[axis] = stride;
      s.pad[axis] = pad;
      s.out[axis] = (s.in[axis] + 2 * pad - kernel) / stride + 1;
    }
    layers.push_back(layer);
  }
  return layers;
}

double seconds(bool cpu_time) {
  timespec t{};
  clock_gettime(cpu_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// A tensor with its own memory.
struct Tensor {
  TensorDesc desc;
  std::shared_ptr<Storage> storage;
  explicit Tensor(const Shape& shape) : desc{.shape = shape} {
    storage = Storage::allocate(cpu(), desc.bytes());
    auto* values = static_cast<float*>(storage->data());
    for (std::int64_t i = 0; i < shape.size(); ++i)
      values[i] = static_cast<float>((i * 37) % 101 - 50) * 0.02f;
  }
  TensorArg arg() const { return {storage->data(), storage.get()}; }
};

/// With --cold, of the copies of weights and of the workspaces together: more than any cache. There
/// are at most kMostCopies, so small ones stay in a cache.
constexpr std::size_t kColdBytes = 256 << 20, kMostCopies = 100;

/// The shortest time of one run. Runs take turns with the inputs.
double time_of(const Prepared& run, const std::vector<std::vector<TensorArg>>& inputs,
               const std::vector<TensorArg>& out, std::size_t workspace, bool cpu_time) {
  const std::size_t step = std::max<std::size_t>((workspace + 63) / 64 * 64, 64),
                    workspaces = std::clamp(kColdBytes / step, std::size_t{1}, inputs.size());
  const auto memory = Storage::allocate(cpu(), step * workspaces);
  RunState state;
  Args args;
  args.outputs = out.data();
  args.workspace = memory->data();
  args.run = &state;
  for (const std::vector<TensorArg>& in : inputs) {
    args.inputs = in.data();
    run(args);
  }
  double best = 1e30, spent = 0;
  for (std::size_t i = 0; i < 100 && (i < 3 || spent < 0.15); ++i) {
    args.inputs = inputs[i % inputs.size()].data();
    args.workspace = static_cast<char*>(memory->data()) + i % workspaces * step;
    const double start = seconds(cpu_time);
    run(args);
    const double took = seconds(cpu_time) - start;
    best = std::min(best, took);
    spent += took;
  }
  return best;
}

void measure(const Layer& layer, const Options& o, double peak) {
  const ConvolutionSizes& s = layer.sizes;
  Tensor x(Shape{s.batch, s.in_channels, s.in[1], s.in[2]}),
      w(Shape{s.out_channels, s.group_in(), s.kernel[1], s.kernel[2]}),
      y(Shape{s.batch, s.out_channels, s.out[1], s.out[2]});
  const bool blocks_of_16 = cpu_isa() == Isa::kAvx512;
  if (s.in_channels % (blocks_of_16 ? 16 : 8) == 0)
    x.desc.layout = blocks_of_16 ? Layout::kBlocked16 : Layout::kBlocked8;
  std::vector<Tensor> copies;
  if (o.cold)
    while (copies.size() < kMostCopies && copies.size() * w.desc.bytes() < kColdBytes)
      copies.emplace_back(w.desc.shape);
  const double flops = 2 * static_cast<double>(s.batch * s.out_channels) * s.out_plane_work();
  std::printf("%s ×%d: %lld → %lld, %lld×%lld, kernel %lld, stride %lld, groups %lld, batch %lld\n",
              layer.net.c_str(), layer.count, static_cast<long long>(s.in_channels),
              static_cast<long long>(s.out_channels), static_cast<long long>(s.in[1]),
              static_cast<long long>(s.in[2]), static_cast<long long>(s.kernel[1]),
              static_cast<long long>(s.stride[1]), static_cast<long long>(s.groups),
              static_cast<long long>(s.batch));
  const auto print = [&](const char* kernel, const char* direction, const Offer& offer,
                         const Prepared& run, const std::vector<std::vector<TensorArg>>& in,
                         const std::vector<TensorArg>& out) {
    if (!offer.accepted()) {
      std::printf("  %-16s %-8s %s\n", kernel, direction, offer.refusal.c_str());
      return;
    }
    const double t =
        time_of(run, in, out, offer.workspace_bytes, o.cpu_time) / (o.cpu_time ? o.threads : 1);
    std::printf("  %-16s %-8s %9.3f ms %7.1f GF/s %4.0f %%\n", kernel, direction, 1e3 * t,
                flops / t * 1e-9, 100 * flops / t / peak);
  };
  for (const ConvolutionKernel& k : convolution_kernels()) {
    if (!o.kernel.empty() && o.kernel != k.name) continue;
    KernelRequest r;
    r.threads = o.threads;
    r.in = {x.desc, w.desc};
    r.out = {y.desc};
    r.wanted = {true};
    std::vector<std::vector<TensorArg>> in{{x.arg(), w.arg()}};
    for (const bool kept : {false, true}) {
      r.constant = {false, kept};
      if (kept)
        for (const Tensor& copy : copies) in.push_back({x.arg(), copy.arg()});
      const Offer offer = k.offer(s, {}, r);
      print(k.name, kept ? "kept" : "forward", offer,
            offer.accepted() ? k.prepare(r, offer) : Prepared(), in, {y.arg()});
    }
    r.in = {y.desc, x.desc, w.desc};
    r.out = {x.desc, w.desc};
    r.constant = {};
    for (const bool data : {true, false}) {
      r.wanted = {data, !data};
      const Offer offer = k.offer_backward(s, r);
      print(k.name, data ? "data" : "weights", offer,
            offer.accepted() ? k.prepare_backward(r, offer) : Prepared(),
            {{y.arg(), x.arg(), w.arg()}},
            {data ? x.arg() : TensorArg{}, data ? TensorArg{} : w.arg()});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--cpu-time" || name == "--cold") {
      (name == "--cold" ? o.cold : o.cpu_time) = true;
      continue;
    }
    if (i + 1 == argc) {
      std::fprintf(stderr, "%s is unknown or has no value\n", name.c_str());
      return 2;
    }
    const char* value = argv[++i];
    if (name == "--net")
      o.net = value;
    else if (name == "--kernel")
      o.kernel = value;
    else if (name == "--file")
      o.file = value;
    else if (name == "--batch")
      o.batch = std::atoll(value);
    else if (name == "--threads")
      o.threads = std::atoi(value);
    else {
      std::fprintf(stderr, "unknown option %s\n", name.c_str());
      return 2;
    }
  }
  set_num_threads(o.threads);
  const VendorThreads vendor(o.threads);
  const double peak = cpu_peak().flops;
  const char* isa[] = {"SSE4.1", "AVX2", "AVX-512"};
  std::printf("%s, %d threads, at most %.0f GF/s\n", isa[static_cast<int>(cpu_isa())], o.threads,
              peak * 1e-9);
  for (const Layer& layer : read_layers(o)) measure(layer, o, peak);
  return 0;
}
