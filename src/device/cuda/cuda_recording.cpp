#include "device/cuda/cuda_recording.h"

#include "device/cuda/cuda_error.h"

namespace symbind {
namespace {

class CudaRecording : public Recording {
 public:
  CudaRecording(int device, cudaStream_t stream, cudaGraph_t graph)
      : device_(device), stream_(stream) {
    check_cuda(cudaGraphInstantiate(&graph_, graph, 0), "cudaGraphInstantiate");
  }
  ~CudaRecording() override { cudaGraphExecDestroy(graph_); }

  void replay() override {
    check_cuda(cudaSetDevice(device_), "cudaSetDevice");
    check_cuda(cudaGraphLaunch(graph_, stream_), "cudaGraphLaunch");
  }

 private:
  int device_;
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

struct OwnStream {
  cudaStream_t stream = nullptr;
  OwnStream() {
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
  }
  ~OwnStream() { cudaStreamDestroy(stream); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
};

struct OwnGraph {
  cudaGraph_t graph = nullptr;
  OwnGraph() = default;
  ~OwnGraph() {
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
  OwnGraph(const OwnGraph&) = delete;
  OwnGraph& operator=(const OwnGraph&) = delete;
};

}  // namespace

std::unique_ptr<Recording> record_cuda(int device, cudaStream_t stream,
                                       const std::function<void(void* stream)>& work) {
  const OwnStream own;
  OwnGraph recorded;
  check_cuda(cudaStreamBeginCapture(own.stream, cudaStreamCaptureModeThreadLocal),
             "cudaStreamBeginCapture");
  try {
    work(own.stream);
  } catch (...) {
    cudaStreamEndCapture(own.stream, &recorded.graph);
    cudaGetLastError();
    throw;
  }
  check_cuda(cudaStreamEndCapture(own.stream, &recorded.graph), "cudaStreamEndCapture");
  return std::make_unique<CudaRecording>(device, stream, recorded.graph);
}

}  // namespace symbind
