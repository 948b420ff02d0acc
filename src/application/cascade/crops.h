#pragma once
// The part of a picture around each box, for a second network: docs/detectors.md, "Crops".
#include <cstdint>
#include <vector>

#include "application/application.h"
#include "application/picture.h"
#include "application/processing.h"
#include "runtime/sequential.h"
#include "runtime/session.h"

namespace millrace::application {

/// Borrowed by a run.
struct CropParts {
  const Crops* crops = nullptr;
  const Processing* before = nullptr;  // of a crop
  const Processing* after = nullptr;
  std::vector<std::int64_t> classes = {};    // of the boxes that are wanted; empty: all
  runtime::Session* session = nullptr;       // of a Run
  runtime::Sequential* sequential = nullptr;  // of run_in_turn
};

/// The second network with what stands before and after it, as an application on pictures.
/// Precondition: there are crops.
Application application_of_crops(const Application& application);

/// Which boxes are wanted, by class; empty: all. InputError for a name that is no label of the
/// boxes. Precondition: there are crops.
std::vector<std::int64_t> wanted_classes(const Application& application);

/// Fills `findings.crops` with where they lie, and counts the boxes without one. A crop is the box
/// as a line of JSON has it, with its margin, to whole pixels outwards, cut at the picture's
/// borders. InputError if nobody has looked for boxes, or there is no picture.
void choose_crops(const CropParts& parts, const Picture& picture, Findings& findings);

/// A picture of its own.
Picture cut(const Picture& picture, const CropFindings& crop);

/// What `found` says of the crop goes into `all`; keypoints into its detection. InputError for
/// boxes and maps, which crops have none of.
void add_findings(Findings found, std::size_t crop, Findings& all);

}  // namespace millrace::application
