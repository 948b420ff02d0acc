#include "engine/cuda/lower/element_start.h"

#include <numeric>

#include "engine/cuda/lower/places.h"

namespace millrace::engine::cuda {
namespace {

/// With the dimensions of the result joined where all places allow.
ElementWork with_joined_dimensions(ElementWork work, const network::Shape& shape,
                                   std::size_t operands) {
  std::vector<Place*> places{&work.in, &work.out};
  for (std::size_t i = 0; i < operands; ++i) places.push_back(&work.epilogue.operands[i]);
  JointShape all{shape, {}};
  for (const Place* place : places)
    all.strides.emplace_back(place->strides, place->strides + shape.size());
  const JointShape few = joined(all);
  for (std::size_t i = 0; i < places.size(); ++i) set(places[i]->strides, few.strides[i]);
  work.dimensions = static_cast<int>(few.shape.size());
  set(work.shape, few.shape);
  return work;
}

}  // namespace

std::vector<int> all_dimensions_of(const network::Shape& shape) {
  std::vector<int> dimensions(shape.size());
  std::iota(dimensions.begin(), dimensions.end(), 0);
  return dimensions;
}

Start element_start(Builder& builder, const Placed& from, const Placed& to, const Tail& tail) {
  const network::Tensor &in = builder.tensor(from.tensor), &out = builder.tensor(to.tensor);
  ElementWork work{};
  work.count = static_cast<unsigned>(network::element_count(out.shape));
  work.in =
      place_with(element_of(in, from.value.form), spread_strides(in, from.value.form, out.shape));
  work.out = place_with(element_of(out, to.value.form), strides_of(to.value.form, out.shape));
  work.epilogue = tail.epilogue();
  work = with_joined_dimensions(work, out.shape, tail.operands().size());
  return kernel_start(builder.gpu(), for_each_element("millrace_elements", work.count),
                      [=](const Execution& execution) {
                        ElementWork placed = work;
                        placed.in.data = execution.pointer(from.value);
                        placed.out.data = execution.pointer(to.value);
                        placed.epilogue = tail.placed(work.epilogue, execution);
                        return placed;
                      });
}

}  // namespace millrace::engine::cuda
