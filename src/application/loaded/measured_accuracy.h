#pragma once
// What an application finds, beside ground truth.
#include "application/accuracy/accuracy.h"
#include "application/loaded/loaded.h"

namespace millrace::application {

/// InputError if it is of none of the pictures that will come. Precondition: there is ground truth.
const GroundTruth& checked_truth(const LoadedApplication& loaded);

/// Accuracy over all frames, once through the plan. Same precondition; InputError as AccuracyMeter.
Accuracy measure_accuracy(const LoadedApplication& loaded);

/// Sentences about frames without ground truth and ground truth without frames.
void note_left_out(const Accuracy& accuracy, const Context& context);

}  // namespace millrace::application
