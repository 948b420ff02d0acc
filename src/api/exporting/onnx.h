#pragma once
// Networks and plans as ONNX files.
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "api/setup.h"

namespace millrace::api {

/// A file that was written.
struct ExportedModel {
  std::filesystem::path path;
  std::size_t layers = 0;
  std::optional<std::size_t> equalised = {};  // channels that got another size, if asked for
  std::filesystem::path weights = {};         // the file of its weights; empty: they are inside
};

/// "net.onnx: 8 layers, weights in net.onnx.weights".
std::string exported_text(const ExportedModel& written);

struct ModelToExport {
  Setup setup;
  bool equalise = false;  // see network::equalise
};
/// Writes the model's network to `output`, which may be "-". InputError if ONNX lacks a layer, or
/// if `output` is a file that is read.
ExportedModel export_model(const ModelToExport& model, const std::filesystem::path& output);

struct PlanToExport {
  std::string file, model;  // model: empty, or where the plan's model is now
};
/// One model for each phase of each stage, in a folder: stage0.onnx, or stage0_0.onnx and so on.
std::vector<ExportedModel> export_phases(const PlanToExport& plan,
                                         const std::filesystem::path& folder,
                                         const Context& context = {});

}  // namespace millrace::api
