#pragma once
// A convolution and what follows it as cuDNN's graph of operations.
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cuda/library/convolutions.h"
#include "engine/cuda/library/descriptor.h"

namespace millrace::engine::cuda {

/// Names the tensors in memory for the graph and for its runs.
enum class GraphTensor : std::int64_t { x = 1, w = 2, y = 3, bias = 4, residual = 5 };

/// What is added to the result of the convolution.
enum class Addend { bias, residual };

/// In which order. cuDNN has kernels for some orders only.
using GraphForm = std::vector<Addend>;

/// The forms that compute the problem, the best known first.
std::vector<GraphForm> graph_forms(const ConvolutionProblem& problem);

/// The tensors in memory of a graph of this form.
std::vector<GraphTensor> graph_tensors(const GraphForm& form);

/// Finalized. cuDNN does not promise that a graph keeps what it is made of, so `parts` does.
struct ConvolutionGraph {
  std::vector<Descriptor> parts;
  Descriptor graph;
};

/// Nothing if cuDNN refuses it. The lock of the library is held.
std::optional<ConvolutionGraph> convolution_graph(const Dnn& library,
                                                  const ConvolutionProblem& problem,
                                                  const GraphForm& form);

}  // namespace millrace::engine::cuda
