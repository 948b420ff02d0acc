#pragma once
// From a model and pictures to findings, without an application file: the one that is missing is
// written here.
#include <functional>
#include <optional>
#include <string>

#include "product/application/run.h"

namespace millrace::product {

/// What is looked for.
enum class FindTask { detect, classify, segment, pose, read };

struct FindRequest {
  RunnableOptions runnable;  // with a model
  FindTask task = FindTask::detect;
  std::string source;            // a picture, a folder, a video; a camera's number, device, address
  std::string folder = "found";  // of findings.jsonl and annotated copies; made if it is not there
  std::string head = {};         // empty: as the outputs say
  std::optional<double> threshold = {};
  std::string labels = {};       // a file, or coco; empty: the model's
  std::string alphabet = {};     // a file, for `read`; empty: the model's
  std::string application = {};  // a file: the application is written there, and nothing runs
  std::int64_t frames = 0;       // at most; 0: all
  std::function<void(const std::string&)> line = {};  // hears of each frame: summary_line()
};

/// The application that does it, as YAML; its paths are relative to the current folder. InputError
/// if something is missing that only the user knows.
std::string text_of_application(const FindRequest& request, const network::Network& network);

/// Runs it. InputError and EngineError as run_application().
ApplicationTotals find(const FindRequest& request);

}  // namespace millrace::product
