"""Each distinct convolution of a model: Symbind's time, ONNX Runtime's, and the limit by fused multiply-adds.

Times are those inside the network, from each engine's own profile; what an engine has fused into a convolution counts as
part of it.
"""
