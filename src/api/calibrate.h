#pragma once
// The ranges of all tensors, for int8.
#include <string>

#include "api/application/samples.h"
#include "api/frames.h"
#include "api/setup.h"
#include "profile/calibrate.h"

namespace millrace::api {

struct CalibrateRequest {
  Setup setup;  // its source may be an application, whose frames are learned from
  FrameOptions frames = {};
  ApplicationFrameOptions application = {};  // its file is the source's
  std::string output = {};  // a file for the table; empty: NAME.calibration.json
  std::string method = "mse";  // or "minmax", "percentile", "entropy"
  bool corrects_bias = false;
  double percentile = profile::CalibrateOptions{}.percentile;
};

struct Calibrated {
  std::string network;
  profile::CalibrationResult result;
  std::string output;  // the file that was written
};

/// InputError if the output is one of the files that are read.
Calibrated calibrate(const CalibrateRequest& request);

}  // namespace millrace::api
