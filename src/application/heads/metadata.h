#pragma once
// What an exporter wrote into the model's file beside the network: Ultralytics' names, task and
// shape of keypoints.
#include <string>
#include <vector>

#include "application/application.h"
#include "network/network.h"

namespace millrace::application {

/// What the file says under the key; empty: nothing.
std::string metadata_value(const network::Network& network, const std::string& key);

/// The names of the classes; empty if the file has none.
std::vector<std::string> names_in(const network::Network& network);

/// What the application says, then the file; the classes by the labels.
HeadFacts facts_of(const Application& application, const network::Network& network);

/// An application without labels takes the file's, if they fit the outputs.
void take_labels(Application& application, const network::Network& network);

/// InputError unless there are no labels or one for each class.
void check_labels(const Application& application, std::int64_t classes);

}  // namespace millrace::application
