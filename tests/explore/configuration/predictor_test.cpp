#include "explore/configuration/predictor.h"

#include <gtest/gtest.h>

#include <set>

#include "explore/contexts.h"

namespace millrace::explore {
namespace {

using test::Field;

Configuration random_configuration(const Field& field, Random& random) {
  const auto options = mapping_options(field.board);
  Configuration configuration{options[random.below(options.size())].stages, {}, 3};
  std::set<std::size_t> cuts;
  while (cuts.size() + 1 < configuration.stages.size())
    cuts.insert(random.below(field.problem.layers - 1));
  configuration.cuts.assign(cuts.begin(), cuts.end());
  return configuration;
}

TEST(Predictor, the_bottleneck_is_that_of_the_mapping) {
  const Field field(20, 2, 6);
  const Predictor predictor(field.context);
  Random random(3);
  for (int i = 0; i < 100; ++i) {
    const Configuration configuration = random_configuration(field, random);
    std::vector<double> times =
        processor_times(field.problem, mapping_of(field.context, configuration));
    for (const ProcessorGroup& group : configuration.stages)
      if (group.size() > 1) times[group.front().index] /= static_cast<double>(group.size());
    EXPECT_EQ(predictor.bottleneck(configuration), *std::max_element(times.begin(), times.end()));
  }
}

TEST(Predictor, what_it_thinks_does_not_fit_has_too_many_subnets) {
  const Field field(40, 1, 4);
  const Predictor predictor(field.context);
  Random random(5);
  int no = 0, yes = 0;
  for (int i = 0; i < 300; ++i) {
    const Configuration configuration = random_configuration(field, random);
    const bool feasible = static_cast<bool>(realise(field.context, configuration).verdict);
    const bool may = predictor.may_fit(configuration);
    EXPECT_EQ(may, feasible);  // of a chain it misses nothing
    ++(may ? yes : no);
  }
  EXPECT_GT(no, 50);
  EXPECT_GT(yes, 50);
}

}  // namespace
}  // namespace millrace::explore
