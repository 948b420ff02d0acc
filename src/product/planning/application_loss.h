#pragma once
// What other precisions cost an application: by the measure that people judge it by.
#include "product/application/samples.h"
#include "profile/loss.h"

namespace millrace::product {

/// Lets the meter compare by the application's measure. Of boxes: how far the average precision
/// falls, of ground truth if there is some, else at an overlap of 0.5 beside what float32 finds. Of
/// classes: how far the accuracy falls beside ground truth, else how many frames have another first
/// class. Of maps: how many pixels have another class; of text: how many lines differ. Of others
/// the top answers stay what they are, and a note says so. `samples` outlives the meter's
/// measurements. InputError if float32 finds nothing to compare with on these frames.
void compare_by_application(profile::LossMeter& meter, const ApplicationSamples& samples,
                            const Context& context);

}  // namespace millrace::product
