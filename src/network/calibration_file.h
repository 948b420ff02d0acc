#pragma once
// Calibration tables on disk: schemas/calibration.schema.json.
#include <filesystem>

#include "base/json.h"
#include "base/verdict.h"
#include "network/calibration.h"
#include "network/network.h"

namespace millrace::network {

/// What the file holds: the calibration, and how it was found.
struct CalibrationTable {
  Calibration calibration;
  std::string method;       // "percentile 99.99"
  std::int64_t frames = 0;  // that were looked at
  bool operator==(const CalibrationTable&) const = default;
};

/// Atomically.
void write_calibration(const std::filesystem::path& path, const CalibrationTable& table);
/// InputError naming file and field.
CalibrationTable read_calibration(const std::filesystem::path& path);
/// Means of a calibration, in whatever file it stands.
std::map<std::string, std::vector<float>> read_means(const JsonView& view);

/// The tensors that a table has ranges for: float32, and not constant.
std::vector<TensorId> calibrated_tensors(const Network& network);
/// Whether the table was made for this network and has a range for all of these.
Verdict fits(const Calibration& calibration, const Network& network);

}  // namespace millrace::network
