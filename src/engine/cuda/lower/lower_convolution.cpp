// Conv and ConvTranspose.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/cuda/lower/element_start.h"
#include "engine/cuda/lower/lower.h"
#include "engine/cuda/lower/proposals.h"
#include "engine/cuda/lower/recipes.h"
#include "engine/cuda/lower/windows.h"

namespace millrace::engine::cuda {
namespace {

/// A convolution with what follows it, and where its tensors lie.
struct Convolved {
  TensorId x, w, bias, y;  // bias: invalid if there is none
  Value in, out, workspace;
  const Group* group = nullptr;
};

ConvolutionWork work_of(const Builder& builder, const Convolved& c, const network::Window& window,
                        std::int64_t groups) {
  const network::Tensor &x = builder.tensor(c.x), &y = builder.tensor(c.y);
  ConvolutionWork work{};
  work.frames = static_cast<int>(y.shape[0]);
  work.channels = static_cast<int>(x.shape[1]);
  work.filters = static_cast<int>(y.shape[1]);
  work.groups = static_cast<int>(groups);
  set_window(work, network::loops::sliding(window, x.shape, y.shape));
  work.count = static_cast<unsigned>(network::element_count(y.shape));
  work.x = place_of(x, c.in.form);
  work.y = place_of(y, c.out.form);
  return work;
}

unsigned tiles_along(std::int64_t size) { return static_cast<unsigned>((size + 63) / 64); }

/// A thread for each output where a group has few filters; else in tiles.
Launch launch_of(const ConvolutionWork& work) {
  const int filters = work.filters / work.groups;
  constexpr int most_blocks = 65535;  // along the second and third dimension of a launch
  if (work.transposed != 0 || filters < 8 || filters > 64 * most_blocks ||
      work.frames > most_blocks / work.groups)
    return for_each_element("millrace_convolve", work.count);
  const std::int64_t pixels = std::int64_t{work.out[0]} * work.out[1] * work.out[2];
  return {"millrace_convolve_tiled", tiles_along(pixels), tiles_along(filters),
          static_cast<unsigned>(work.frames * work.groups), 256};
}

/// Bias and all of the tail, along the dimensions of a kernel.
Tail whole_tail(Builder& builder, const Convolved& c, std::vector<int> dimensions) {
  Tail tail(builder, builder.tensor(c.y).shape, std::move(dimensions));
  if (c.bias.valid()) tail.add_by_channel(function_add, builder.plain(c.bias));
  tail.add(*c.group);
  return tail;
}

/// By a kernel of ours, which does all at once. It reads weights as the network has them.
Recipe own_recipe(Builder& builder, const Convolved& c, ConvolutionWork work) {
  const Tail tail = whole_tail(builder, c, five_dimensions(builder.tensor(c.y).shape));
  const Value weights = builder.plain(c.w);
  work.w = place_with(element_float32, {});
  work.epilogue = tail.epilogue();
  const Launch launch = launch_of(work);
  return {launch.kernel,
          launch.kernel,
          {},
          {kernel_start(builder.gpu(), launch, [=](const Execution& execution) {
            ConvolutionWork placed = work;
            placed.x.data = execution.pointer(c.in);
            placed.w.data = execution.pointer(weights);
            placed.y.data = execution.pointer(c.out);
            placed.epilogue = tail.placed(execution);
            return placed;
          })}};
}

ConvolutionProblem problem_of(const Builder& builder, const Convolved& c, const network::Conv& op) {
  const bool half = is_half(c.out.form);
  return {.half = half,
          .channels_last = half,
          .x = builder.tensor(c.x).shape,
          .w = builder.tensor(c.w).shape,
          .y = builder.tensor(c.y).shape,
          .strides = op.window.strides,
          .dilations = op.window.dilations,
          .pads_begin = op.window.pads_begin,
          .pads_end = op.window.pads_end,
          .groups = op.groups};
}

/// What cuDNN does with the convolution, and which of the tail is left. Its kernels that join what
/// follows all add a bias: zeros where the layer has none.
struct Joined {
  ConvolutionProblem problem;
  TensorId residual;
  std::size_t done = 0;
};
Joined join(const Builder& builder, const Convolved& c, ConvolutionProblem problem) {
  Joined result{std::move(problem), {}, 0};
  const std::vector<Fused>& tail = c.group->tail;
  if (!tail.empty() && tail[0].kind == Fused::Kind::residual) {
    result.residual = tail[0].operand;
    result.problem.residual = true;
    ++result.done;
  }
  if (result.done < tail.size() && is_relu(builder.network(), tail[result.done])) {
    result.problem.activation = Activation::relu;
    ++result.done;
  }
  result.problem.bias = c.bias.valid() || result.done > 0;
  return result;
}

/// In the type of the data.
Value bias_of(Builder& builder, const Convolved& c) {
  if (c.bias.valid()) return builder.in_form(c.bias, c.out.form);
  // As many bytes as the larger of the two types needs.
  return builder.constant(
      std::vector<float>(static_cast<std::size_t>(builder.tensor(c.y).shape[1])));
}

Start library_start(Builder& builder, const Convolved& c, const Joined& joined,
                    std::shared_ptr<const PreparedConvolution> way) {
  const Form form = c.out.form;
  const Value weights = builder.in_form(c.w, form);
  std::optional<Value> bias, residual;
  if (joined.problem.bias) bias = bias_of(builder, c);
  if (joined.problem.residual) residual = builder.in_form(joined.residual, form);
  return [=, way = std::move(way)](const Execution& execution) {
    way->run(execution.stream, {.x = execution.address(c.in),
                                .w = execution.address(weights),
                                .bias = bias ? execution.address(*bias) : 0,
                                .residual = residual ? execution.address(*residual) : 0,
                                .y = execution.address(c.out),
                                .workspace = execution.address(c.workspace)});
  };
}

using Kernel = std::shared_ptr<const PreparedConvolution>;

/// Tells apart kernels of the same name for the convolution alone and with what follows it.
constexpr std::string_view prefix_of_joined = "joined ";
std::string name_of(const Joined& joined, const std::string& kernel) {
  return joined.problem.bias ? std::string(prefix_of_joined) + kernel : kernel;
}

/// By cuDNN, and what it leaves element by element.
Recipe library_recipe(Builder& builder, const Convolved& c, const Joined& joined,
                      const Kernel& way) {
  const network::Shape& shape = builder.tensor(c.y).shape;
  Tail rest(builder, shape, all_dimensions_of(shape));
  if (c.bias.valid() && !joined.problem.bias)
    rest.add_by_channel(function_add, builder.plain(c.bias));
  rest.add(*c.group, joined.done);
  Recipe recipe{way->kernel(),
                name_of(joined, way->kernel()),
                Bytes{static_cast<std::int64_t>(way->workspace())},
                {}};
  recipe.starts.push_back(library_start(builder, c, joined, way));
  if (!rest.empty())
    recipe.starts.push_back(element_start(builder, {c.y, c.out}, {c.y, c.out}, rest));
  return recipe;
}

/// A window of one element that visits every position: a product of matrices.
bool is_product(const network::Conv& op) {
  const auto all_are = [](const network::Shape& numbers, std::int64_t number) {
    return std::ranges::all_of(numbers, [=](std::int64_t n) { return n == number; });
  };
  return op.groups == 1 && all_are(op.window.kernel, 1) && all_are(op.window.strides, 1) &&
         all_are(op.window.pads_begin, 0) && all_are(op.window.pads_end, 0);
}

/// With the channels outermost, filters times pixels, for each frame; else pixels times filters.
ProductProblem as_product(const Builder& builder, const Convolved& c) {
  const network::Shape &x = builder.tensor(c.x).shape, &y = builder.tensor(c.y).shape;
  const std::int64_t channels = x[1], filters = y[1];
  const std::int64_t pixels = network::element_count(y) / (y[0] * filters);
  ProductProblem problem{.depth = channels};
  problem.half = is_half(c.out.form);
  if (problem.half) {
    problem.rows = y[0] * pixels;
    problem.columns = filters;
    problem.transpose_b = true;
    problem.batch_stride_y = problem.rows * filters;
    return problem;
  }
  problem.rows = filters;
  problem.columns = pixels;
  problem.batch = y[0];
  problem.batch_stride_b = y[0] == 1 ? 0 : channels * pixels;
  problem.batch_stride_y = filters * pixels;
  return problem;
}

/// By cuBLASLt, which adds a bias and applies relu only where filters are columns.
void add_product_recipes(Builder& builder, const Convolved& c, ProductProblem problem,
                         std::vector<Recipe>& recipes) {
  const std::vector<Fused>& fused = c.group->tail;
  const bool joins = problem.half && c.bias.valid();
  const bool activates = joins && !fused.empty() && is_relu(builder.network(), fused[0]);
  problem.bias = joins;
  if (activates) problem.activation = ProductActivation::relu;
  const network::Shape& shape = builder.tensor(c.y).shape;
  Tail rest(builder, shape, all_dimensions_of(shape));
  if (c.bias.valid() && !joins) rest.add_by_channel(function_add, builder.plain(c.bias));
  rest.add(*c.group, activates ? 1 : 0);
  const Value weights = builder.in_form(c.w, c.out.form);
  ProductOperands operands{
      problem.half ? c.in : weights, problem.half ? weights : c.in, c.out, c.workspace, {}};
  if (joins) operands.bias = builder.in_form(c.bias, c.out.form);
  std::optional<Start> last;
  if (!rest.empty()) last = element_start(builder, {c.y, c.out}, {c.y, c.out}, rest);
  add_proposals(builder, problem, operands, {last, recipes});
}

std::string key_of(const Builder& builder, const Convolved& c, const Joined& joined) {
  const ConvolutionProblem& p = joined.problem;
  std::string key = fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", p.half, p.x, p.w, p.y,
                                p.strides, p.dilations, p.pads_begin, p.pads_end, p.groups, p.bias,
                                p.residual, static_cast<int>(p.activation));
  for (std::size_t i = joined.done; i < c.group->tail.size(); ++i)
    key += fmt::format(" {}", network::name_of(builder.layer(c.group->tail[i].layers.front()).op));
  return key;
}

/// All operands that any of the recipes reads.
Touched touched_by(Builder& builder, const Convolved& c, const Joined& joined) {
  Touched touched{whole_tail(builder, c, all_dimensions_of(builder.tensor(c.y).shape)).operands(),
                  {c.out, c.workspace}};
  touched.reads.push_back(c.in);
  for (const Form form : {Form::plain, c.out.form})
    touched.reads.push_back(builder.in_form(c.w, form));
  if (joined.problem.bias) touched.reads.push_back(bias_of(builder, c));
  if (joined.residual.valid())
    touched.reads.push_back(builder.in_form(joined.residual, c.out.form));
  return touched;
}

Convolved convolved(Builder& builder, const Group& group, Form form) {
  const network::Layer& layer = builder.layer(group.head);
  Convolved c;
  c.x = layer.inputs[0];
  c.w = layer.inputs[1];
  if (layer.inputs.size() > 2) c.bias = layer.inputs[2];
  c.y = result_of(builder.network(), group);
  c.group = &group;
  c.in = builder.in_form(c.x, form);
  c.out = builder.make(c.y, form);
  c.workspace = builder.temporary({});
  return c;
}

/// The two things that cuDNN may be asked for; the same if there is nothing to join.
struct Asked {
  Joined alone, joined;
};

std::vector<Recipe> all_recipes(Builder& builder, const Convolved& c, const network::Conv& op,
                                const Asked& asked) {
  std::vector<Recipe> recipes{own_recipe(builder, c, work_of(builder, c, op.window, op.groups))};
  for (const Kernel& way : builder.gpu().ways(asked.alone.problem))
    recipes.push_back(library_recipe(builder, c, asked.alone, way));
  if (asked.joined.problem.bias)
    for (const Kernel& way : builder.gpu().ways(asked.joined.problem))
      recipes.push_back(library_recipe(builder, c, asked.joined, way));
  if (is_product(op)) add_product_recipes(builder, c, as_product(builder, c), recipes);
  return recipes;
}

std::optional<Recipe> recipe_named(Builder& builder, const Convolved& c, const Asked& asked,
                                   std::string name) {
  const bool is_joined = name.starts_with(prefix_of_joined);
  if (is_joined) name.erase(0, prefix_of_joined.size());
  const Joined& problem = is_joined ? asked.joined : asked.alone;
  const Kernel way = builder.gpu().way(problem.problem, name);
  if (!way || way->workspace() > most_workspace) return std::nullopt;
  return library_recipe(builder, c, problem, way);
}

std::optional<Recipe> found_in(const std::vector<Recipe>& recipes, const std::string& name) {
  const auto found = std::ranges::find(recipes, name, &Recipe::name);
  if (found == recipes.end()) return std::nullopt;
  return *found;
}

Recipes ways_of(Builder& builder, const Convolved& c, const network::Conv& op, const Asked& asked) {
  return {key_of(builder, c, asked.joined),
          [&builder, c, op, asked] { return all_recipes(builder, c, op, asked); },
          [&builder, c, op, asked](const std::string& name) {
            std::vector<Recipe> quick{
                own_recipe(builder, c, work_of(builder, c, op.window, op.groups))};
            if (is_product(op)) add_product_recipes(builder, c, as_product(builder, c), quick);
            const auto recipe = found_in(quick, name);
            return recipe ? recipe : recipe_named(builder, c, asked, name);
          }};
}

}  // namespace

void lower_convolution(Builder& builder, const Group& group) {
  const auto& op = std::get<network::Conv>(builder.layer(group.head).op);
  const Form form = builder.precision(group.head) == board::Precision::f16
                        ? Form::half_channels_last
                        : Form::plain;
  const Convolved c = convolved(builder, group, form);
  const Joined alone{problem_of(builder, c, op), {}, 0};
  const Joined joined = join(builder, c, alone.problem);
  const Touched touched = touched_by(builder, c, joined);
  add_fastest(builder, ways_of(builder, c, op, {alone, joined}), c.workspace, touched);
}

void lower_transposed(Builder& builder, const Group& group) {
  const auto& op = std::get<network::ConvTranspose>(builder.layer(group.head).op);
  const Convolved c = convolved(builder, group, Form::plain);
  ConvolutionWork work = work_of(builder, c, op.window, op.groups);
  work.transposed = 1;
  const Joined alone{};
  const Touched touched = touched_by(builder, c, alone);
  const Recipe recipe = own_recipe(builder, c, work);
  builder.name_kernel(recipe.kernel);
  builder.step(touched, recipe.starts.front());
}

}  // namespace millrace::engine::cuda
