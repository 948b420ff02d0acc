#pragma once
// Networks and plans as ONNX files.
#include <cstddef>
#include <filesystem>
#include <vector>

#include "product/setup.h"
#include "product/written_over.h"

namespace millrace::product {

/// A file that was written.
struct ExportedModel {
  std::filesystem::path path;
  std::size_t layers = 0;
  std::filesystem::path weights;  // the file of its weights; empty: they are inside
};

/// Writes the model's network to `output`, which may be "-". InputError if ONNX lacks a layer, or
/// if `output` is a file that is read.
ExportedModel export_model(const Setup& setup, const std::filesystem::path& output);

/// The same for a network that was made of `files`, whose results `output` is one of.
ExportedModel export_network(const network::Network& network, const std::filesystem::path& output,
                             FilesRead& files);

struct PlanToExport {
  std::string file, model;  // model: empty, or where the plan's model is now
};
/// One model for each phase of each stage, in a folder: stage0.onnx, or stage0_0.onnx and so on.
std::vector<ExportedModel> export_phases(const PlanToExport& plan,
                                         const std::filesystem::path& folder,
                                         const Context& context = {});

}  // namespace millrace::product
