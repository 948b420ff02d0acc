#pragma once
// The ranges of all tensors, for int8.
#include <string>

#include "application/frames/frames.h"
#include "product/application/samples.h"
#include "product/setup.h"
#include "profile/calibrate.h"

namespace millrace::product {

struct CalibrateRequest {
  Setup setup;  // its source may be an application, whose frames are learned from
  application::FrameOptions frames = {};
  ApplicationFrameOptions application = {};  // its file is the source's
  std::string output = {};  // a file for the table; empty: NAME.calibration.json
  bool writes = true;       // that file
  std::string method = "mse";  // or "minmax", "percentile", "entropy"
  std::string equalised = {};  // an ONNX file to write and calibrate; empty: none
  bool corrects_bias = false;
  double percentile = profile::CalibrateOptions{}.percentile;
};

struct Calibrated {
  std::string network;
  profile::CalibrationResult result;
  std::string output;  // the file that was written
  /// The model that was written, and how many of its channels have another size now.
  std::string equalised = {};
  std::size_t equalised_channels = 0;
};

/// For the model, or with `equalised` for the one that is written there first: network::equalise.
/// InputError if an output is one of the files that are read.
Calibrated calibrate(const CalibrateRequest& request);

}  // namespace millrace::product
