#include "millrace/profile.h"

#include <utility>

#include "base/error.h"
#include "face/access.h"
#include "face/call.h"
#include "face/convert.h"
#include "network/calibration_file.h"
#include "product/calibrate.h"
#include "profile/profile_file.h"

namespace millrace {
inline namespace v1 {

Profile Profile::from_file(const std::string& path) {
  return face::guarded([&] {
    return Access::make<Profile>(
        std::make_shared<const profile::Profile>(profile::read_profile(path)));
  });
}

void Profile::write(const std::string& path) const {
  face::guarded([&] { profile::write_profile(path, *impl()->profile); });
}

std::vector<ProcessorTimes> Profile::processors() const {
  std::vector<ProcessorTimes> result;
  for (const profile::ProcessorProfile& of : impl()->profile->processors) {
    ProcessorTimes& times = result.emplace_back();
    times.processor = of.processor.name;
    times.engine = of.engine;
    times.precision = face::precision_of(of.precision);
    times.whole = of.whole.median;
    times.stable = of.whole.stable;
    for (std::size_t l = 0; l < of.layers.size(); ++l) {
      const profile::LayerTimes& layer = of.layers[l];
      times.layers.push_back({impl()->profile->layer_names.at(l), layer.together.median,
                              layer.together.worst_case, layer.kernel, layer.refusal});
    }
  }
  return result;
}

bool Profile::is_modelled() const { return impl()->profile->modelled; }

Calibration Calibration::from_file(const std::string& path, const Model& model) {
  return face::guarded([&] {
    network::CalibrationTable table = network::read_calibration(path);
    if (const Verdict fits = network::fits(table.calibration, *Access::of(model).network); !fits)
      throw InputError(path, fits.reason() + "; calibrate this model");
    return Access::make<Calibration>(std::move(table));
  });
}

void Calibration::write(const std::string& path) const {
  face::guarded([&] { network::write_calibration(path, impl()->table); });
}

std::map<std::string, ValueRange> Calibration::ranges() const {
  std::map<std::string, ValueRange> result;
  for (const auto& [tensor, range] : impl()->table.calibration.ranges)
    result[tensor] = {range.low, range.high};
  return result;
}

Calibration calibrate(const Model& model, const CalibrationRequest& given) {
  face::Call call(given.options);
  return face::guarded(call, [&] {
    if (given.frames.empty())
      throw InputError("frames", "found none, expected at least one; give real inputs");
    product::CalibrateRequest request;
    request.setup.source = Access::of(model).source;
    if (!given.processor.empty()) request.setup.processors = {given.processor};
    request.setup.engine = given.engine;
    request.setup.context = call.context(face::memory_of(model));
    request.frames = face::frames_of(given.frames);
    constexpr const char* names[] = {"mse", "minmax", "percentile", "entropy"};
    request.method = names[static_cast<std::size_t>(given.method)];
    request.corrects_bias = given.corrects_bias;
    request.percentile = given.percentile;
    request.writes = false;
    return Access::make<Calibration>(product::calibrate(request).result.table);
  });
}

}  // namespace v1
}  // namespace millrace
