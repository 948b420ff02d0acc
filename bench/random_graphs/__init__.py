"""Random ONNX graphs, whose values ONNX Runtime computes. See bench/random-graphs."""
