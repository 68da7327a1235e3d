#include "base/settings.h"

#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/check.h"
#include "base/nearest.h"
#include "symbind/log.h"
#include "symbind/settings.h"

namespace symbind::settings {
namespace {

// Why several variables of MXNet have no effect here.
constexpr const char* kNoEngine = "There is no dependency engine, hence no worker threads.";
constexpr const char* kNoTrees =
    "A local store adds gradients up in device order; there are no reduction trees.";
constexpr const char* kNoBulks =
    "A bound graph is compiled once and runs as a whole; there is no bulk execution.";
constexpr const char* kNoPools =
    "GPU memory is cached by size and planned per executor; there is no pool to choose.";
constexpr const char* kCaptured = "On CUDA a training step is one captured graph where possible.";
constexpr const char* kNoCython =
    "The extension is C++; there is neither ctypes nor Cython in between.";
constexpr const char* kBySize =
    "An operation's number of threads depends on its size; nothing is tuned at startup.";
constexpr const char* kCounters =
    "Random numbers are counter based and need no copies of generators.";
constexpr const char* kPlanned = "Workspaces are planned with the executor's memory.";
constexpr const char* kPatterns =
    "A table of patterns decides which operators are fused, the same on every device.";
constexpr const char* kAtBuild = "Libraries are checked when Symbind is built.";

constexpr Setting kTable[] = {
    {"SYMBIND_NUM_THREADS", "0", Treatment::kHonoured, "",
     "Threads of one CPU operation; 0 takes what OpenMP gives (OMP_NUM_THREADS at the start of the "
     "process, else all cores)."},
    {"SYMBIND_LOG", "", Treatment::kHonoured, "",
     "Comma list of what to log: dispatch (kernels chosen and refused)."},
    {"SYMBIND_CHECK", "0", Treatment::kHonoured, "",
     "Check values as well as shapes while running, e.g. that labels are classes that exist."},
    {"SYMBIND_NAN_GUARD", "0", Treatment::kHonoured, "",
     "fit stops at the first NaN or infinity and names the node that made it; slow, for "
     "debugging."},
    {"SYMBIND_PROGRESS", "1", Treatment::kHonoured, "",
     "fit shows its progress on stderr: a bar in a terminal, elsewhere a line per epoch unless "
     "epochs are logged."},
    {"SYMBIND_EXACT", "0", Treatment::kHonoured, "",
     "Forbid what trades digits for speed: Winograd, a BatchNorm folded into weights, reduced "
     "precision. Module and Predictor have an option of that name."},
    {"SYMBIND_COMPUTE_DTYPE", "float32", Treatment::kHonoured, "",
     "bfloat16: networks that do not train may round the inputs and outputs of their layers to it, "
     "where the CPU computes with it. Module and Predictor have an option compute_dtype."},
    {"SYMBIND_KERNELS", "", Treatment::kHonoured, "",
     "Comma list of kernels to forbid, each with a minus sign: -onednn forbids all of oneDNN's "
     "(products inside other kernels stay), -onednn_winograd that algorithm. An operator's last "
     "kernel always stays."},
    {"SYMBIND_GPU_AS_CPU", "0", Treatment::kHonoured, "",
     "A number above 0: there are that many GPUs, and gpu(i), of any number, runs on the CPU. "
     "Fixed when the first GPU is used."},
    {"SYMBIND_DATA", "", Treatment::kHonoured, "",
     "Folders of data sets, separated by colons; searched before data/ and Debian's."},
    {"SYMBIND_LIMIT_FILE_BYTES", "68719476736", Treatment::kHonoured, "",
     "Limit: bytes of one file that is read into memory."},
    {"SYMBIND_LIMIT_FILE_ARRAYS", "1000000", Treatment::kHonoured, "",
     "Limit: arrays in one .params or .states file."},
    {"SYMBIND_LIMIT_SPARSE_BYTES", "4294967296", Treatment::kHonoured, "",
     "Limit: bytes that the sparse arrays of one file may become when dense."},
    {"SYMBIND_LIMIT_NODE_INPUTS", "65536", Treatment::kHonoured, "", "Limit: inputs of one node."},
    {"SYMBIND_LIMIT_NODE_OUTPUTS", "65536", Treatment::kHonoured, "",
     "Limit: outputs of one node."},
    {"SYMBIND_LIMIT_NAME_BYTES", "65536", Treatment::kHonoured, "",
     "Limit: length of a name or key, in bytes."},
    {"SYMBIND_LIMIT_NESTING", "64", Treatment::kHonoured, "",
     "Limit: levels of nesting in JSON, in a pickle and in attributes."},
    {"SYMBIND_LIMIT_THREADS", "1024", Treatment::kHonoured, "", "Limit: threads of one operation."},
    {"SYMBIND_LIMIT_DEVICE_WAIT", "30", Treatment::kHonoured, "",
     "Limit: seconds for which SyncBatchNorm waits for the other devices."},
    {"SYMBIND_DIST_RANK", "", Treatment::kHonoured, "",
     "The number of this process within its role, in a job of DMLC_ROLE; by default the scheduler "
     "assigns one."},
    {"SYMBIND_DIST_BIND", "127.0.0.1", Treatment::kHonoured, "",
     "The address at which a process of a job listens. One that other machines reach needs a "
     "token."},
    {"SYMBIND_DIST_TOKEN", "", Treatment::kHonoured, "",
     "The secret of a job: 64 hexadecimal digits, the same for all its processes."},
    {"SYMBIND_DIST_TOKEN_FILE", "", Treatment::kHonoured, "",
     "A file of mode 600 with the secret, instead of SYMBIND_DIST_TOKEN."},
    {"SYMBIND_DIST_GENERATION", "0", Treatment::kHonoured, "",
     "How often a job was restarted; the launcher sets it."},
    {"SYMBIND_DIST_DEAD_AFTER", "3", Treatment::kHonoured, "",
     "Seconds of silence after which a process of a job counts as lost."},
    {"SYMBIND_DIST_JOIN_WAIT", "10", Treatment::kHonoured, "",
     "Seconds that the processes of a job wait for the next one to join."},
    {"SYMBIND_DIST_MIN_WORKERS", "", Treatment::kHonoured, "",
     "The launcher sets it where a job may continue with fewer workers."},
    {"SYMBIND_DIST_SERVER_IMPORT", "", Treatment::kHonoured, "",
     "A module that servers import before they serve, for custom optimizers."},
    {"SYMBIND_DIST_TLS_CERT", "", Treatment::kHonoured, "",
     "PEM file: this process's certificate for TLS with the scheduler."},
    {"SYMBIND_DIST_TLS_KEY", "", Treatment::kHonoured, "", "PEM file: the certificate's key."},
    {"SYMBIND_DIST_TLS_CA", "", Treatment::kHonoured, "",
     "PEM file: the authority that signed the certificates of all processes."},
    {"DMLC_ROLE", "", Treatment::kHonoured, "",
     "worker, server or scheduler: this process belongs to a job. A server or scheduler serves "
     "when "
     "symbind is imported, then exits."},
    {"DMLC_PS_ROOT_URI", "", Treatment::kHonoured, "", "The address of a job's scheduler."},
    {"DMLC_PS_ROOT_PORT", "", Treatment::kHonoured, "", "Its port."},
    {"DMLC_NUM_WORKER", "", Treatment::kHonoured, "", "The workers of a job."},
    {"DMLC_NUM_SERVER", "", Treatment::kHonoured, "", "The servers of a job."},
    {"MASTER_ADDR", "", Treatment::kHonoured, "",
     "The machine of rank 0, in a job that torchrun, Open MPI or Slurm starts."},
    {"MASTER_PORT", "", Treatment::kHonoured, "", "The port at which rank 0 runs the scheduler."},
    {"RANK", "", Treatment::kHonoured, "", "The rank of this worker, from torchrun."},
    {"WORLD_SIZE", "", Treatment::kHonoured, "", "The number of workers, from torchrun."},
    {"TORCHELASTIC_RUN_ID", "", Treatment::kHonoured, "",
     "Set by torchrun, which uses MASTER_PORT itself: the scheduler takes the next port."},
    {"OMPI_COMM_WORLD_RANK", "", Treatment::kHonoured, "", "The rank, from Open MPI."},
    {"OMPI_COMM_WORLD_SIZE", "", Treatment::kHonoured, "", "The number of workers, from Open MPI."},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "", Treatment::kHonoured, "",
     "Those on this machine, from Open MPI."},
    {"OMPI_MCA_ess_base_jobid", "", Treatment::kHonoured, "",
     "The job, from Open MPI: without MASTER_PORT the port follows from it."},
    {"SLURM_PROCID", "", Treatment::kHonoured, "", "The rank, from Slurm."},
    {"SLURM_NTASKS", "", Treatment::kHonoured, "", "The number of workers, from Slurm."},
    {"SLURM_NNODES", "", Treatment::kHonoured, "", "The number of machines, from Slurm."},
    {"SLURM_JOB_ID", "", Treatment::kHonoured, "",
     "The job, from Slurm: without MASTER_PORT the port follows from it."},
    {"ONEDNN_MAX_CPU_ISA", "", Treatment::kHonoured, "",
     "The newest instructions kernels may use, by oneDNN's names (SSE41, AVX2, AVX512_CORE, ...); "
     "it limits Symbind's own kernels too. Read once."},
    {"MXNET_ELIMINATE_COMMON_EXPR", "1", Treatment::kHonoured, "",
     "Compute equal subexpressions of a graph once."},
    {"MXNET_BACKWARD_DO_MIRROR", "1", Treatment::kHonoured, "",
     "Compute outputs of BatchNorm again in backward instead of keeping them: less memory. 0: keep "
     "them, for a step that is less than a hundredth faster."},
    {"MXNET_UPDATE_ON_KVSTORE", "1", Treatment::kHonoured, "",
     "0: a module with several devices updates its weights itself, not on the store."},
    {"MXNET_OPTIMIZER_AGGREGATION_SIZE", "", Treatment::kHonoured, "",
     "Weights that an Updater updates in one call; by default 4 for SGD and LARS, 45 for LAMB."},
    {"MXNET_HOME", "", Treatment::kHonoured, "",
     "Folder of downloaded files, for scripts that query it; by default ~/.mxnet."},
    {"MXNET_PROFILER_AUTOSTART", "0", Treatment::kHonoured, "",
     "1: the profiler runs from the start; its trace, profile.json, is written at the end."},
    {"MXNET_PROFILER_MODE", "0", Treatment::kHonoured, "",
     "What a profiler started by MXNET_PROFILER_AUTOSTART records: 0 operators of graphs, 1 "
     "everything."},
    {"MXNET_OMP_MAX_THREADS", "", Treatment::kMapped, "SYMBIND_NUM_THREADS",
     "Threads of one CPU operation."},
    {"MXNET_LIBRARY_PATH", "", Treatment::kIgnored, "", "The library is in the Python package."},
    {"MXNET_GPU_WORKER_NTHREADS", "2", Treatment::kIgnored, "", kNoEngine},
    {"MXNET_GPU_COPY_NTHREADS", "2", Treatment::kIgnored, "", kNoEngine},
    {"MXNET_CPU_WORKER_NTHREADS", "1", Treatment::kIgnored, "", kNoEngine},
    {"MXNET_CPU_PRIORITY_NTHREADS", "4", Treatment::kIgnored, "", kNoEngine},
    {"MXNET_CPU_NNPACK_NTHREADS", "4", Treatment::kIgnored, "", "NNPACK is not used."},
    {"MXNET_MP_WORKER_NTHREADS", "1", Treatment::kIgnored, "", kNoEngine},
    {"MXNET_MP_OPENCV_NUM_THREADS", "0", Treatment::kIgnored, "", "OpenCV is not used."},
    {"MXNET_EXEC_ENABLE_INPLACE", "true", Treatment::kIgnored, "",
     "Memory is planned once per executor, in place where an operator allows it; a monitor "
     "switches that off."},
    {"NNVM_EXEC_MATCH_RANGE", "16", Treatment::kIgnored, "",
     "Memory is planned once per executor by live intervals."},
    {"MXNET_EXEC_NUM_TEMP", "1", Treatment::kIgnored, "", kPlanned},
    {"MXNET_GPU_MEM_POOL_RESERVE", "5", Treatment::kIgnored, "", kNoPools},
    {"MXNET_GPU_MEM_POOL_TYPE", "Naive", Treatment::kIgnored, "", kNoPools},
    {"MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF", "24", Treatment::kIgnored, "", kNoPools},
    {"MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE", "2097152", Treatment::kIgnored, "", kNoPools},
    {"MXNET_ENGINE_TYPE", "", Treatment::kIgnored, "",
     "CPU work is synchronous in the calling thread, as with NaiveEngine; a GPU's runs on its "
     "stream."},
    {"MXNET_EXEC_BULK_EXEC_INFERENCE", "1", Treatment::kIgnored, "", kNoBulks},
    {"MXNET_EXEC_BULK_EXEC_TRAIN", "1", Treatment::kIgnored, "", kNoBulks},
    {"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "15", Treatment::kIgnored, "", kNoBulks},
    {"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", "", Treatment::kIgnored, "", kNoBulks},
    {"MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "", Treatment::kIgnored, "", kNoBulks},
    {"MXNET_ENABLE_CUDA_GRAPHS", "0", Treatment::kIgnored, "", kCaptured},
    {"MXNET_CUDA_GRAPHS_VERBOSE", "0", Treatment::kIgnored, "", kCaptured},
    {"MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES", "0", Treatment::kIgnored, "", kCaptured},
    {"MXNET_KVSTORE_REDUCTION_NTHREADS", "4", Treatment::kIgnored, "",
     "Sums over devices use the threads of any CPU operation."},
    {"MXNET_KVSTORE_BIGARRAY_BOUND", "1000000", Treatment::kHonoured, "",
     "dist_async divides arrays with more elements over all servers."},
    {"MXNET_KVSTORE_USETREE", "0", Treatment::kIgnored, "", kNoTrees},
    {"MXNET_KVSTORE_LOGTREE", "0", Treatment::kIgnored, "", kNoTrees},
    {"MXNET_KVSTORE_TREE_ARRAY_BOUND", "10000000", Treatment::kIgnored, "", kNoTrees},
    {"MXNET_KVSTORE_TREE_BACKTRACK", "0", Treatment::kIgnored, "", kNoTrees},
    {"MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", "0.7", Treatment::kIgnored, "", kNoTrees},
    {"MXNET_ENABLE_GPU_P2P", "1", Treatment::kIgnored, "",
     "Whether GPUs copy to one another directly is left to the driver."},
    {"MXNET_KVSTORE_SLICE_THRESHOLD", "40000", Treatment::kIgnored, "",
     "Each worker owns an equal share of every array; there is no threshold."},
    {"MXNET_ENABLE_CYTHON", "1", Treatment::kIgnored, "", kNoCython},
    {"MXNET_ENFORCE_CYTHON", "0", Treatment::kIgnored, "", kNoCython},
    {"DMLC_LOG_STACK_TRACE_DEPTH", "0", Treatment::kIgnored, "",
     "Errors name the node and its inputs; they carry no stack of C++ calls."},
    {"MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "1", Treatment::kIgnored, "",
     "Storage is dense; there is no fallback."},
    {"MXNET_GPU_WORKER_NSTREAMS", "1", Treatment::kIgnored, "", "A GPU has one stream."},
    {"MXNET_CUDNN_AUTOTUNE_DEFAULT", "1", Treatment::kIgnored, "",
     "Kernels are chosen by fixed rules, so that runs repeat bit for bit; nothing is "
     "measured."},
    {"MXNET_CUDA_ALLOW_TENSOR_CORE", "1", Treatment::kIgnored, "",
     "SYMBIND_EXACT=1 forbids reduced precision."},
    {"MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "0", Treatment::kIgnored, "",
     "float32 is never computed in float16; SYMBIND_EXACT=1 forbids reduced precision "
     "altogether."},
    {"MXNET_CUDA_LIB_CHECKING", "1", Treatment::kIgnored, "", kAtBuild},
    {"MXNET_CUDNN_LIB_CHECKING", "1", Treatment::kIgnored, "", kAtBuild},
    {"MXNET_GLUON_REPO", "", Treatment::kIgnored, "", "Nothing is downloaded."},
    {"MXNET_MKLDNN_ENABLED", "1", Treatment::kIgnored, "",
     "SYMBIND_KERNELS=-onednn forbids oneDNN."},
    {"MXNET_MKLDNN_CACHE_NUM", "-1", Treatment::kIgnored, "",
     "The cache of prepared kernels is bounded."},
    {"MXNET_ENFORCE_DETERMINISM", "0", Treatment::kIgnored, "",
     "Runs are deterministic in any case."},
    {"MXNET_MKLDNN_FORCE_FC_AB_FORMAT", "0", Treatment::kIgnored, "",
     "Bound weights are always in plain layout; packed copies are cached."},
    {"MXNET_CPU_PARALLEL_SIZE", "200000", Treatment::kIgnored, "", kBySize},
    {"MXNET_CPU_TEMP_COPY", "4", Treatment::kIgnored, "", kPlanned},
    {"MXNET_GPU_TEMP_COPY", "1", Treatment::kIgnored, "", kPlanned},
    {"MXNET_CPU_PARALLEL_RAND_COPY", "1", Treatment::kIgnored, "", kCounters},
    {"MXNET_GPU_PARALLEL_RAND_COPY", "4", Treatment::kIgnored, "", kCounters},
    {"MXNET_GPU_CUDNN_DROPOUT_STATE_COPY", "4", Treatment::kIgnored, "", kCounters},
    {"MXNET_SUBGRAPH_BACKEND", "", Treatment::kIgnored, "",
     "Fusion needs no backend name; other backends are not supported."},
    {"MXNET_SAFE_ACCUMULATION", "0", Treatment::kIgnored, "",
     "16-bit numbers are always summed in float32."},
    {"MXNET_USE_FUSION", "1", Treatment::kIgnored, "", kPatterns},
    {"MXNET_FUSION_VERBOSE", "0", Treatment::kIgnored, "", kPatterns},
    {"MXNET_USE_MKLDNN_RNN", "1", Treatment::kIgnored, "",
     "RNN has no oneDNN kernel; SYMBIND_KERNELS=-native runs its plain reference."},
    {"MXNET_FC_TRUE_FP16", "0", Treatment::kIgnored, "",
     "16-bit products are always summed in float32."},
    {"MXNET_USE_OPERATOR_TUNING", "1", Treatment::kIgnored, "", kBySize},
    {"MXNET_ENABLE_OPERATOR_TUNING", "1", Treatment::kIgnored, "", kBySize},
    {"MXNET_USE_NUM_CORES_OPERATOR_TUNING", "", Treatment::kIgnored, "", kBySize},
};

constexpr std::size_t kCount = std::size(kTable);
using Values = std::array<std::optional<std::string>, kCount>;  // by row of the table

struct Snapshot {
  Values values;
  std::uint64_t stamp;
};

// The hot path loads one pointer. A snapshot is never freed, because a thread may be reading it;
// values that were current before reuse their old snapshot and stamp, so a program that switches a
// variable back and forth does not use more and more memory.
struct State {
  std::atomic<const Snapshot*> current{nullptr};
  std::atomic<EnvironmentGuard> guard{nullptr};
  std::mutex changes;  // of what follows
  Values environment;
  std::map<std::size_t, std::string> overrides;
  std::vector<std::unique_ptr<const Snapshot>> snapshots;
};

State& state() {
  static State* const the_state = new State;
  return *the_state;
}

/// Makes the environment and the overrides the current snapshot. Called under the lock.
void publish(State& s) {
  Values values = s.environment;
  for (const auto& [row, value] : s.overrides) values[row] = value;
  const Snapshot* current = s.current.load(std::memory_order_relaxed);
  if (current != nullptr && current->values == values) return;
  for (const auto& known : s.snapshots)
    if (known->values == values) return s.current.store(known.get(), std::memory_order_release);
  s.snapshots.emplace_back(new Snapshot{std::move(values), s.snapshots.size()});
  s.current.store(s.snapshots.back().get(), std::memory_order_release);
}

void read_environment() {
  Values values;
  for (std::size_t row = 0; row < kCount; ++row)
    if (const char* value = std::getenv(kTable[row].name)) values[row] = value;
  State& s = state();
  const std::lock_guard lock(s.changes);
  s.environment = std::move(values);
  publish(s);
}

const Snapshot& snapshot() {
  const Snapshot* current = state().current.load(std::memory_order_acquire);
  if (current != nullptr) return *current;
  refresh();
  return *state().current.load(std::memory_order_acquire);
}

const Setting& find(std::string_view name) {
  for (const Setting& setting : kTable)
    if (name == setting.name) return setting;
  std::vector<std::string> names;
  for (const Setting& setting : kTable) names.emplace_back(setting.name);
  fail(ErrorKind::kName, "there is no setting '{}'; {}", name, nearest_hint(name, names));
}

const std::optional<std::string>& given(const Setting& setting) {
  return snapshot().values[static_cast<std::size_t>(&setting - kTable)];
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::span<const Setting> table() { return kTable; }

std::string text(std::string_view name) {
  const Setting& setting = find(name);
  if (const auto& value = given(setting)) return *value;
  for (const Setting& other : kTable) {
    if (other.treatment != Treatment::kMapped || name != other.maps_to) continue;
    if (const auto& value = given(other)) return *value;
  }
  return setting.default_value;
}

bool flag(std::string_view name) {
  const std::string value = text(name);
  const std::string_view word = trimmed(value);
  if (word == "1" || word == "true" || word == "True" || word == "on" || word == "yes") return true;
  if (word.empty() || word == "0" || word == "false" || word == "False" || word == "off" ||
      word == "no")
    return false;
  fail(ErrorKind::kValue, "setting {} is '{}'; it takes 0 or 1", name, value);
}

std::int64_t number(std::string_view name, std::int64_t least, std::int64_t most) {
  const std::string value = text(name);
  const std::string_view word = trimmed(value);
  std::int64_t result = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), result);
  check(error == std::errc() && end == word.data() + word.size(),
        "setting {} is '{}'; it takes a whole number", name, value);
  check(result >= least && result <= most, "setting {} is '{}'; it takes {} to {}", name, value,
        least, most);
  return result;
}

bool has_item(std::string_view name, std::string_view item) {
  const std::string value = text(name);
  std::string_view rest = value;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    if (trimmed(rest.substr(0, comma)) == item) return true;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return false;
}

std::uint64_t stamp() { return snapshot().stamp; }

void refresh() {
  if (const EnvironmentGuard guard = state().guard.load(std::memory_order_acquire))
    guard(read_environment);
  else
    read_environment();
}

void note_ignored() {
  static std::mutex guard;
  static std::set<std::string_view> noted;
  for (const Setting& setting : kTable) {
    if (setting.treatment != Treatment::kIgnored || !given(setting)) continue;
    {
      std::lock_guard lock(guard);
      if (!noted.insert(setting.name).second) continue;
    }
    log_info(fmt::format("{} is ignored: {}", setting.name, setting.help));
  }
}

override_for_test::override_for_test(std::string_view name, std::string_view value)
    : row_(static_cast<std::size_t>(&find(name) - kTable)) {
  snapshot();  // so that there is a snapshot to return to
  State& s = state();
  const std::lock_guard lock(s.changes);
  if (const auto it = s.overrides.find(row_); it != s.overrides.end()) before_ = it->second;
  s.overrides.insert_or_assign(row_, std::string(value));
  publish(s);
}

override_for_test::~override_for_test() {
  State& s = state();
  const std::lock_guard lock(s.changes);
  if (before_)
    s.overrides[row_] = *before_;
  else
    s.overrides.erase(row_);
  publish(s);
}

}  // namespace symbind::settings

namespace symbind {

void refresh_settings() { settings::refresh(); }

std::string setting(std::string_view name) { return settings::text(name); }

void set_environment_guard(EnvironmentGuard guard) {
  settings::state().guard.store(guard, std::memory_order_release);
}

}  // namespace symbind
