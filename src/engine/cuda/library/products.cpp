#include "engine/cuda/library/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "engine/cuda/library/blas.h"

namespace millrace::engine::cuda {

// The library stores matrices column by column, so that each of ours is its transposed one. It
// computes y^T = b^T a^T: its first factor is our b, and its bias by row is ours by column.
struct PreparedProduct::Description {
  Description(const blas::Library& library, const ProductProblem& problem);

  blas::Handle<blas::Operation> operation;
  blas::Handle<blas::Layout> a, b, y;
  bool bias = false;
};

namespace {

struct StoredMatrix {
  std::int64_t rows = 0, columns = 0, batch_stride = 0;
};

StoredMatrix matrix_a(const ProductProblem& problem) {
  StoredMatrix result{problem.rows, problem.depth, problem.batch_stride_a};
  if (problem.transpose_a) std::swap(result.rows, result.columns);
  return result;
}

StoredMatrix matrix_b(const ProductProblem& problem) {
  StoredMatrix result{problem.depth, problem.columns, problem.batch_stride_b};
  if (problem.transpose_b) std::swap(result.rows, result.columns);
  return result;
}

StoredMatrix matrix_y(const ProductProblem& problem) {
  return {problem.rows, problem.columns, problem.batch_stride_y};
}

std::uint32_t epilogue_of(const ProductProblem& problem) {
  std::uint32_t flags = 0;
  if (problem.bias) flags |= blas::epilogue_bias;
  if (problem.activation == ProductActivation::relu) flags |= blas::epilogue_relu;
  return flags == 0 ? blas::epilogue_none : flags;
}

blas::Handle<blas::Layout> layout_of(const blas::Api& api, const ProductProblem& problem,
                                     const StoredMatrix& matrix) {
  auto layout = blas::made(api, api.destroy_layout, api.create_layout,
                           problem.half ? blas::type_float16 : blas::type_float32,
                           static_cast<std::uint64_t>(matrix.columns),
                           static_cast<std::uint64_t>(matrix.rows), matrix.columns);
  if (problem.batch == 1) return layout;
  blas::set<std::int32_t>(api, *layout, blas::layout_batch,
                          static_cast<std::int32_t>(problem.batch));
  blas::set<std::int64_t>(api, *layout, blas::layout_batch_stride, matrix.batch_stride);
  return layout;
}

void set_bias(const blas::Api& api, blas::Operation& operation, Address address) {
  blas::set<const void*>(api, operation, blas::operation_bias,
                         reinterpret_cast<const void*>(address));
}

blas::Handle<blas::Operation> operation_of(const blas::Api& api, const ProductProblem& problem) {
  const bool tensor_cores = problem.allow_tensor_cores_for_float32 && !problem.half;
  auto operation =
      blas::made(api, api.destroy_operation, api.create_operation,
                 tensor_cores ? blas::arithmetic_tensor_float32 : blas::arithmetic_float32,
                 blas::type_float32);
  blas::set<std::int32_t>(api, *operation, blas::operation_transpose_first,
                          problem.transpose_b ? 1 : 0);
  blas::set<std::int32_t>(api, *operation, blas::operation_transpose_second,
                          problem.transpose_a ? 1 : 0);
  blas::set<std::uint32_t>(api, *operation, blas::operation_epilogue, epilogue_of(problem));
  // The library reads the alignment of the bias from its address, before there is one.
  if (problem.bias) set_bias(api, *operation, problem.alignment);
  return operation;
}

blas::Handle<blas::Preference> preference_of(const blas::Library& library,
                                             const ProductProblem& problem,
                                             std::size_t workspace_limit) {
  const blas::Api& api = library.api;
  auto preference = blas::made(api, api.destroy_preference, api.create_preference);
  blas::set<std::uint64_t>(api, *preference, blas::preference_workspace, workspace_limit);
  // Sums of parts are added in a step of their own, so in a fixed order, and not as float16.
  std::uint32_t reductions = blas::reduce_in_arithmetic_type;
  if (!problem.half) reductions |= blas::reduce_in_result_type;
  blas::set<std::uint32_t>(api, *preference, blas::preference_reductions, reductions);
  for (const auto attribute : {blas::preference_first_alignment, blas::preference_second_alignment,
                               blas::preference_added_alignment, blas::preference_result_alignment})
    blas::set<std::uint32_t>(api, *preference, attribute, problem.alignment);
  // Later versions read it from the operation alone.
  if (library.major == 11)
    blas::set<std::uint32_t>(api, *preference, blas::preference_epilogue, epilogue_of(problem));
  return preference;
}

/// The library counts in 32 bits.
bool has_usable_sizes(const ProductProblem& problem) {
  const auto sizes = {problem.rows, problem.columns, problem.depth, problem.batch};
  return std::ranges::all_of(sizes, [](std::int64_t size) {
    return size >= 1 && size <= std::numeric_limits<std::int32_t>::max();
  });
}

bool is_refusal(int status) {
  return status == blas::not_supported || status == blas::invalid_value ||
         status == blas::other_architecture;
}

/// Nothing where this version of the library does not tell it.
template <class Value>
std::optional<Value> algorithm_value(const blas::Api& api, const blas::Algorithm& algorithm,
                                     blas::AlgorithmAttribute attribute) {
  Value value{};
  std::size_t written = 0;
  const int status = api.get_algorithm(&algorithm, attribute, &value, sizeof value, &written);
  if (status != success) return std::nullopt;
  return value;
}

}  // namespace

PreparedProduct::Description::Description(const blas::Library& library,
                                          const ProductProblem& problem)
    : operation(operation_of(library.api, problem)),
      a(layout_of(library.api, problem, matrix_a(problem))),
      b(layout_of(library.api, problem, matrix_b(problem))),
      y(layout_of(library.api, problem, matrix_y(problem))),
      bias(problem.bias) {}

PreparedProduct::PreparedProduct(std::shared_ptr<const blas::Library> library,
                                 const ProductProblem& problem, const blas::Proposal& proposal)
    : library_(std::move(library)),
      alpha_(problem.alpha),
      proposal_(std::make_unique<const blas::Proposal>(proposal)),
      description_(std::make_unique<const Description>(*library_, problem)) {}

PreparedProduct::~PreparedProduct() = default;

std::size_t PreparedProduct::workspace() const { return proposal_->workspace; }

std::string PreparedProduct::kernel() const {
  const blas::Api& api = library_->api;
  const blas::Algorithm& algorithm = proposal_->algorithm;
  std::string text = "cuBLASLt algorithm";
  if (const auto number = algorithm_value<std::int32_t>(api, algorithm, blas::algorithm_number))
    text += fmt::format(" {}", *number);
  if (const auto tile = algorithm_value<std::uint32_t>(api, algorithm, blas::algorithm_tile))
    text += fmt::format(", tile {}", *tile);
  if (const auto stages = algorithm_value<std::uint32_t>(api, algorithm, blas::algorithm_stages))
    text += fmt::format(", stages {}", *stages);
  const auto cluster = algorithm_value<std::uint16_t>(api, algorithm, blas::algorithm_cluster);
  if (cluster.value_or(0) != 0) text += fmt::format(", cluster {}", *cluster);
  const auto parts = algorithm_value<std::int32_t>(api, algorithm, blas::algorithm_parts);
  if (parts.value_or(1) != 1) text += fmt::format(", depth in {} parts", *parts);
  return text;
}

void PreparedProduct::run(Stream stream, const ProductBuffers& buffers) const {
  const blas::Api& api = library_->api;
  const Description& description = *description_;
  if (description.bias) set_bias(api, *description.operation, buffers.bias);
  const float beta = 0;
  void* const y = reinterpret_cast<void*>(buffers.y);
  blas::check(
      api, api.multiply(library_->context.get(), description.operation.get(), &alpha_,
                        reinterpret_cast<const void*>(buffers.b), description.b.get(),
                        reinterpret_cast<const void*>(buffers.a), description.a.get(), &beta, y,
                        description.y.get(), y, description.y.get(), &proposal_->algorithm,
                        reinterpret_cast<void*>(buffers.workspace), proposal_->workspace, stream));
}

Products::Products(std::span<const std::filesystem::path> folders)
    : library_(std::make_shared<const blas::Library>(folders)) {}

std::vector<std::string> product_libraries() {
  return {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};
}

std::string Products::version() const { return library_->version; }

std::vector<std::shared_ptr<PreparedProduct>> Products::prepare(const ProductProblem& problem,
                                                                std::size_t most,
                                                                std::size_t workspace_limit) {
  if (most == 0 || !has_usable_sizes(problem)) return {};
  const blas::Api& api = library_->api;
  const PreparedProduct::Description description(*library_, problem);
  const auto preference = preference_of(*library_, problem, workspace_limit);
  std::vector<blas::Proposal> proposals(most);
  int count = 0;
  blas::Layout* const y = description.y.get();
  const int status = api.propose(library_->context.get(), description.operation.get(),
                                 description.b.get(), description.a.get(), y, y, preference.get(),
                                 static_cast<int>(most), proposals.data(), &count);
  if (is_refusal(status)) return {};
  blas::check(api, status);

  proposals.resize(static_cast<std::size_t>(count));
  std::vector<std::shared_ptr<PreparedProduct>> result;
  for (const blas::Proposal& proposal : proposals)
    if (proposal.status == success && proposal.workspace <= workspace_limit)
      result.push_back(std::make_shared<PreparedProduct>(library_, problem, proposal));
  return result;
}

}  // namespace millrace::engine::cuda
