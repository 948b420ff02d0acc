#pragma once
// A plan with all that it needs, in one folder that runs elsewhere.
#include <filesystem>
#include <string>
#include <vector>

#include "product/context.h"

namespace millrace::product {

struct BundleRequest {
  std::string plan;    // the file
  std::string model;   // of a plan whose model is no longer where it was; empty: where it was
  std::string labels;  // a file of labels; empty: none
  std::filesystem::path folder;  // to write; it may be there if it is empty
  Context context = {};
};

/// The files of the bundle, in its folder: the plan (with the ranges of int8) first, then the model
/// with its weights, then labels, then what plug-ins compiled for the plan's stages. The plan names
/// its model beside itself. InputError if a file is missing or does not belong to the plan, or if
/// the folder has files; then nothing is written.
struct Bundle {
  std::vector<std::filesystem::path> files;
  bool has_model = false;  // not so for a network of the zoo
};
Bundle make_bundle(const BundleRequest& request);

}  // namespace millrace::product
