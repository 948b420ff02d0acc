#pragma once
// What a network's outputs answer, to compare precisions by.
#include "profile/loss.h"

namespace millrace::product {

/// Objects, if the outputs are those of a detector that `detect` knows and there is one in some
/// frame: an object is kept if its class has a box there with three quarters of its probability.
/// `expected`: the outputs in float32, by frame. Empty: the network has other answers.
profile::CompareAnswers object_answers(const network::Network& network,
                                       const std::vector<profile::LossMeter::Outputs>& expected);

/// Lets the meter compare by the objects; by the top answer if the first output has one value for
/// each class; and else by how far the outputs are off: the root of the mean square, as a share of
/// that in float32, the mean of the frames.
void compare_by_answers(profile::LossMeter& meter, const network::Network& network);

}  // namespace millrace::product
