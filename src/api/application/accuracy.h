#pragma once
// What an application finds, beside ground truth.
#include "api/application/load.h"
#include "application/accuracy/accuracy.h"

namespace millrace::api {

/// InputError if it is of none of the pictures that will come. Precondition: there is ground truth.
const application::GroundTruth& checked_truth(const LoadedApplication& loaded);

/// Of all frames once through the plan. The same precondition; InputError as AccuracyMeter.
application::Accuracy measure_accuracy(const LoadedApplication& loaded);

/// Sentences about frames without ground truth and ground truth without frames.
void note_left_out(const application::Accuracy& accuracy, const Context& context);

}  // namespace millrace::api
