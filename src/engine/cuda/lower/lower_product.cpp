// Gemm and MatMul.
#include <fmt/format.h>

#include <algorithm>

#include "engine/cuda/lower/element_start.h"
#include "engine/cuda/lower/lower.h"
#include "engine/cuda/lower/places.h"
#include "engine/cuda/lower/proposals.h"

namespace millrace::engine::cuda {
namespace {

/// A product of matrices: for each index of the batch, [rows, depth] times [depth, columns].
struct Factors {
  network::Shape batch;
  std::int64_t rows = 1, columns = 1, depth = 1;
  bool has_rows = true, has_columns = true;  // as dimensions of the result
  bool transpose_a = false, transpose_b = false;
  network::Shape a, b;  // strides: of the batch, then of the two dimensions as they are multiplied
  float alpha = 1;
};

/// With one dimension of size 1 more where MatMul is given a vector.
network::Shape as_matrix(network::Shape shape, bool first) {
  if (shape.size() == 1) shape.insert(first ? shape.begin() : shape.end(), 1);
  return shape;
}

network::Shape batch_strides(const network::Shape& own, const network::Shape& batch) {
  const network::Shape strides = network::strides_of(own);
  network::Shape result(batch.size());
  const std::size_t dimensions = own.size() - 2;
  for (std::size_t d = 0; d < dimensions; ++d)
    if (own[d] != 1) result[batch.size() - dimensions + d] = strides[d];
  return result;
}

Factors factors_of(const Builder& builder, const network::Layer& layer) {
  const auto& a_own = builder.tensor(layer.inputs[0]).shape;
  const auto& b_own = builder.tensor(layer.inputs[1]).shape;
  const network::Shape a = as_matrix(a_own, true), b = as_matrix(b_own, false);
  Factors f;
  if (const auto* gemm = std::get_if<network::Gemm>(&layer.op)) {
    f.transpose_a = gemm->transpose_a;
    f.transpose_b = gemm->transpose_b;
    f.alpha = gemm->alpha;
  }
  f.has_rows = a_own.size() > 1;
  f.has_columns = b_own.size() > 1;
  f.batch = builder.tensor(layer.outputs[0]).shape;
  f.batch.resize(f.batch.size() - (f.has_rows ? 1 : 0) - (f.has_columns ? 1 : 0));
  const std::size_t last_a = a.size() - 1, last_b = b.size() - 1;
  f.rows = a[f.transpose_a ? last_a : last_a - 1];
  f.depth = a[f.transpose_a ? last_a - 1 : last_a];
  f.columns = b[f.transpose_b ? last_b - 1 : last_b];
  f.a = batch_strides(a, f.batch);
  f.a.insert(f.a.end(), {f.transpose_a ? 1 : a[last_a], f.transpose_a ? a[last_a] : 1});
  f.b = batch_strides(b, f.batch);
  f.b.insert(f.b.end(), {f.transpose_b ? 1 : b[last_b], f.transpose_b ? b[last_b] : 1});
  return f;
}

/// A product with what follows it, and where its tensors lie.
struct Multiplied {
  Factors factors;
  TensorId a, b, c, y;  // c: invalid if there is none
  float beta = 1;
  Value in_a, in_b, out, workspace;
  const Group* group = nullptr;
};

/// For each dimension of the kernel, batch, rows and columns, one of the result's or -1.
std::vector<int> kernel_dimensions(const Factors& f) {
  std::vector<int> dimensions(f.batch.size());
  for (std::size_t d = 0; d < dimensions.size(); ++d) dimensions[d] = static_cast<int>(d);
  int next = static_cast<int>(dimensions.size());
  for (const bool has : {f.has_rows, f.has_columns}) dimensions.push_back(has ? next++ : -1);
  return dimensions;
}

/// What is not done yet: alpha, C, and the rest of the group.
struct Left {
  bool alpha = true, c = true;
  std::size_t done = 0;  // of the group's tail
};
Tail tail_of(Builder& builder, const Multiplied& m, const Left& left, std::vector<int> dimensions) {
  Tail tail(builder, builder.tensor(m.y).shape, std::move(dimensions));
  if (left.alpha && m.factors.alpha != 1) tail.add(function_scale, m.factors.alpha);
  if (left.c && m.c.valid()) tail.add(function_add_scaled, m.c, m.beta);
  tail.add(*m.group, left.done);
  return tail;
}

Recipe own_recipe_of_product(Builder& builder, const Multiplied& m) {
  const Factors& f = m.factors;
  const std::vector<int> dimensions = kernel_dimensions(f);
  const Tail tail = tail_of(builder, m, {}, dimensions);
  const network::Shape result = strides_of(m.out.form, builder.tensor(m.y).shape);
  network::Shape along;
  for (const int d : dimensions) along.push_back(d < 0 ? 0 : result[static_cast<std::size_t>(d)]);
  ProductWork work{};
  work.batch_dimensions = static_cast<int>(f.batch.size());
  set(work.batch, f.batch);
  work.rows = static_cast<int>(f.rows);
  work.columns = static_cast<int>(f.columns);
  work.depth = static_cast<int>(f.depth);
  work.a = place_with(element_of(builder.tensor(m.a), m.in_a.form), f.a);
  work.b = place_with(element_of(builder.tensor(m.b), m.in_b.form), f.b);
  work.y = place_with(element_of(builder.tensor(m.y), m.out.form), along);
  const auto tiles = [](std::int64_t size) { return static_cast<unsigned>((size + 63) / 64); };
  const Launch launch{"millrace_multiply", tiles(f.columns), tiles(f.rows),
                      static_cast<unsigned>(network::element_count(f.batch)), 256};
  return {launch.kernel,
          launch.kernel,
          {},
          {kernel_start(builder.gpu(), launch, [=](const Execution& execution) {
            ProductWork placed = work;
            placed.a.data = execution.pointer(m.in_a);
            placed.b.data = execution.pointer(m.in_b);
            placed.y.data = execution.pointer(m.out);
            placed.epilogue = tail.placed(execution);
            return placed;
          })}};
}

/// As cuBLASLt takes it: one dimension of the batch at most; nothing where there are more.
std::optional<ProductProblem> problem_of_product(const Multiplied& m) {
  const Factors& f = m.factors;
  ProductProblem problem{.half = is_half(m.out.form),
                         .rows = f.rows,
                         .columns = f.columns,
                         .depth = f.depth,
                         .transpose_a = f.transpose_a,
                         .transpose_b = f.transpose_b,
                         .alpha = f.alpha};
  const auto batch_of = [&](const network::Shape& strides) {
    return network::Shape(strides.begin(), strides.end() - 2);
  };
  network::Shape of_y = f.batch;
  of_y.push_back(f.rows * f.columns);
  of_y = network::strides_of(of_y);
  of_y.pop_back();
  const JointShape batch = joined({f.batch, {batch_of(f.a), batch_of(f.b), of_y}});
  if (batch.shape.size() > 1) return std::nullopt;
  problem.batch = batch.shape[0];
  problem.batch_stride_a = batch.strides[0][0];
  problem.batch_stride_b = batch.strides[1][0];
  problem.batch_stride_y = problem.batch == 1 ? f.rows * f.columns : batch.strides[2][0];
  // One tall matrix where all are multiplied by the same.
  if (problem.batch > 1 && problem.batch_stride_b == 0 && !f.transpose_a &&
      problem.batch_stride_a == f.rows * f.depth) {
    problem.rows *= problem.batch;
    problem.batch = 1;
    problem.batch_stride_a = problem.batch_stride_b = 0;
    problem.batch_stride_y = problem.rows * problem.columns;
  }
  return problem;
}

/// C can be the library's bias: one number for each column, as it is.
bool is_bias(const Builder& builder, const Multiplied& m) {
  if (!m.c.valid() || m.beta != 1) return false;
  const network::Shape& shape = builder.tensor(m.c).shape;
  return network::element_count(shape) == m.factors.columns && !shape.empty() &&
         shape.back() == m.factors.columns;
}

void add_library_recipes(Builder& builder, const Multiplied& m, const ProductProblem& problem,
                         std::vector<Recipe>& recipes) {
  const bool activates = problem.activation == ProductActivation::relu;
  const network::Shape& shape = builder.tensor(m.y).shape;
  const Tail rest =
      tail_of(builder, m, {false, !problem.bias, activates ? 1u : 0u}, all_dimensions_of(shape));
  ProductOperands operands{m.in_a, m.in_b, m.out, m.workspace, {}};
  if (problem.bias) operands.bias = builder.in_form(m.c, m.out.form);
  std::optional<Start> last;
  if (!rest.empty()) last = element_start(builder, {m.y, m.out}, {m.y, m.out}, rest);
  add_proposals(builder, problem, operands, {last, recipes});
}

/// What cuBLASLt may be asked for: with all it can join, and alone.
struct AskedProduct {
  std::optional<ProductProblem> alone, joined;
};
AskedProduct asked_of(const Builder& builder, const Multiplied& m) {
  AskedProduct asked{problem_of_product(m), {}};
  if (!asked.alone) return asked;
  ProductProblem joined = *asked.alone;
  joined.bias = is_bias(builder, m);
  const std::vector<Fused>& tail = m.group->tail;
  if ((joined.bias || !m.c.valid()) && !tail.empty() && is_relu(builder.network(), tail[0]))
    joined.activation = ProductActivation::relu;
  if (joined != *asked.alone) asked.joined = joined;
  return asked;
}

std::string key_of_product(const Multiplied& m, const AskedProduct& asked) {
  if (!asked.alone) return "product of many batches";
  const ProductProblem &p = *asked.alone, &all = asked.joined ? *asked.joined : p;
  return fmt::format("product {} {} {} {} {} {} {} {} {} {} {} {} {}", p.alpha, p.half, p.rows,
                     p.columns, p.depth, p.batch, p.transpose_a, p.transpose_b, p.batch_stride_a,
                     p.batch_stride_b, all.bias, static_cast<int>(all.activation),
                     m.group->tail.size());
}

Recipes ways_of_product(Builder& builder, const Multiplied& m) {
  const AskedProduct asked = asked_of(builder, m);
  const auto all = [&builder, m, asked] {
    std::vector<Recipe> recipes{own_recipe_of_product(builder, m)};
    for (const auto& problem : {asked.alone, asked.joined})
      if (problem) add_library_recipes(builder, m, *problem, recipes);
    return recipes;
  };
  return {key_of_product(m, asked), all, [all](const std::string& name) {
            std::optional<Recipe> result;
            for (Recipe& recipe : all())
              if (recipe.name == name) result = std::move(recipe);
            return result;
          }};
}

}  // namespace

void lower_product(Builder& builder, const Group& group) {
  const network::Layer& layer = builder.layer(group.head);
  const Form form =
      builder.precision(group.head) == board::Precision::f16 ? Form::half : Form::plain;
  Multiplied m;
  m.factors = factors_of(builder, layer);
  m.a = layer.inputs[0];
  m.b = layer.inputs[1];
  if (layer.inputs.size() > 2) m.c = layer.inputs[2];
  m.y = result_of(builder.network(), group);
  if (const auto* gemm = std::get_if<network::Gemm>(&layer.op)) m.beta = gemm->beta;
  m.in_a = builder.in_form(m.a, form);
  m.in_b = builder.in_form(m.b, form);
  m.out = builder.make(m.y, form);
  m.workspace = builder.temporary({});
  m.group = &group;

  Touched touched{tail_of(builder, m, {}, all_dimensions_of(builder.tensor(m.y).shape)).operands(),
                  {m.out, m.workspace}};
  touched.reads.insert(touched.reads.end(), {m.in_a, m.in_b});
  if (m.c.valid()) touched.reads.push_back(builder.in_form(m.c, form));
  add_fastest(builder, ways_of_product(builder, m), m.workspace, touched);
}

}  // namespace millrace::engine::cuda
