"""OpenVINO: compiled for latency, with the precision that the problem has."""
import openvino

from compare_lib.engines import onnx_like

MODES = {"step": ["latency"]}


def version():
    return openvino.__version__.split("-")[0]


class Job:
    def __init__(self, problem, threads):
        core = openvino.Core()
        options = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": str(threads),
                   "INFERENCE_PRECISION_HINT": "bf16" if problem["dtype"] == "bfloat16" else "f32"}
        self.requests = []
        for model, inputs in onnx_like.parts_of(problem):
            compiled = core.compile_model(core.read_model(model), "CPU", options)
            self.requests.append((compiled.create_infer_request(), inputs))

    def run(self, steps):
        for _ in range(steps):
            for request, inputs in self.requests:
                request.infer(inputs, share_inputs=True, share_outputs=True)

    def outputs(self):
        self.run(1)
        return [request.get_output_tensor(i).data.copy() for request, _ in self.requests
                for i in range(len(request.model_outputs))]


def build(problem, mode, threads):
    return Job(problem, threads)
