"""ONNX Runtime: the CPU provider with all graph optimizations."""
import json
import os
import statistics
import tempfile

import onnxruntime

from compare_lib.engines import onnx_like

MODES = {"step": ["default"]}
onnxruntime.set_default_logger_severity(3)


def version():
    return onnxruntime.__version__


class Job:
    def __init__(self, problem, threads):
        if problem["dtype"] == "bfloat16":
            raise NotImplementedError("has no bfloat16 convolutions on CPUs")
        self.threads = threads
        self.parts = onnx_like.parts_of(problem)
        self.sessions = [(self.session(model), inputs) for model, inputs in self.parts]

    def session(self, model, profile=None):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        if profile:
            options.enable_profiling, options.profile_file_prefix = True, profile
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def run(self, steps):
        for _ in range(steps):
            results = [session.run(None, inputs) for session, inputs in self.sessions]
        return results

    def outputs(self):
        return [array for results in self.run(1) for array in results]

    def profile(self, steps):
        """The first part's nodes: [[node of the symbol, operator, median of its milliseconds]]"""
        with tempfile.TemporaryDirectory() as folder:
            session = self.session(self.parts[0][0], os.path.join(folder, "profile"))
            for _ in range(steps):
                session.run(None, self.parts[0][1])
            with open(session.end_profiling(), encoding="utf-8") as file:
                events = json.load(file)
        times = {}
        for event in events:
            if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
                times.setdefault((event["name"], event["args"]["op_name"]), []).append(event["dur"] / 1e3)
        return {"nodes": [[name.split("/")[0], op, statistics.median(t)] for (name, op), t in times.items()]}


def build(problem, mode, threads):
    return Job(problem, threads)
