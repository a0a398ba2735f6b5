"""CUDA: the driver library, run-time compilation, device memory and kernels. Nothing is loaded before it is needed."""
