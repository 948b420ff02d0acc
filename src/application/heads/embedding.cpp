#include "application/heads/embedding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "application/heads/as_float.h"
#include "base/error.h"

namespace millrace::application {
namespace {

class Embedding : public Processing {
 public:
  explicit Embedding(bool normalise) : normalise_(normalise) {}

  Findings after(const Picture&, std::span<const network::Array> outputs) const override {
    const network::Array output = as_float(outputs.front());
    const auto values = output.values<float>();
    double square = 0;
    for (const float value : values) square += static_cast<double>(value) * value;
    const double length = normalise_ && square > 0 ? std::sqrt(square) : 1;
    Findings findings;
    findings.embedding.emplace();
    for (const float value : values)
      findings.embedding->push_back(static_cast<float>(value / length));
    return findings;
  }

 private:
  bool normalise_;
};

}  // namespace

std::unique_ptr<Processing> make_embedding(const Application& application,
                                           const network::Network& network) {
  const std::string& place = application.postprocess.place;
  if (network.outputs.empty()) throw InputError(place, "the network has no outputs");
  const network::Tensor& output = network[network.outputs.front()];
  const auto sizes =
      std::ranges::count_if(output.shape, [](std::int64_t size) { return size != 1; });
  if (sizes > 1)
    throw InputError(place, fmt::format("an embedding is one vector, but the first output '{}' is "
                                        "{} {}; use detect, segmentation or raw",
                                        output.name, network::to_text(output.type),
                                        network::to_text(output.shape)));
  return std::make_unique<Embedding>(application.postprocess.normalise);
}

}  // namespace millrace::application
