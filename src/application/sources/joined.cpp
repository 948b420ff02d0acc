// Several inputs of one application.
#include <algorithm>

#include "application/source.h"

namespace millrace::application {
namespace {

/// One of them: its pictures say so.
class Labelled : public Source {
 public:
  Labelled(std::unique_ptr<Source> source, std::size_t number, const Input& input)
      : source_(std::move(source)), number_(number), name_(input.name), most_(input.frames) {
    presence_ = source_->shared_presence();
  }

  std::optional<Picture> next() override {
    if (most_ > 0 && taken_ == most_) return std::nullopt;
    auto picture = source_->next();
    if (!picture) return std::nullopt;
    ++taken_;
    picture->source = number_;
    picture->input = name_;
    return picture;
  }
  void decode(Picture& picture) const override { source_->decode(picture); }
  std::optional<Complaint> complaint() const override { return source_->complaint(); }
  std::optional<std::int64_t> count() const override { return source_->count(); }
  double rate_fps() const override { return source_->rate_fps(); }

 private:
  std::unique_ptr<Source> source_;
  std::size_t number_;
  std::string name_;
  std::int64_t most_, taken_ = 0;
};

/// A picture from each in turn, as long as it has some.
class Joined : public Source {
 public:
  Joined(std::vector<std::unique_ptr<Source>> sources, const std::vector<Input>& inputs) {
    for (std::size_t i = 0; i < sources.size(); ++i)
      sources_.push_back(std::make_unique<Labelled>(std::move(sources[i]), i, inputs[i]));
    ended_.resize(sources_.size());
  }

  std::optional<Picture> next() override {
    for (std::size_t tried = 0; tried < sources_.size(); ++tried) {
      const std::size_t at = next_;
      next_ = (next_ + 1) % sources_.size();
      if (ended_[at]) continue;
      if (auto picture = sources_[at]->next()) return picture;
      ended_[at] = true;
    }
    return std::nullopt;
  }
  void decode(Picture& picture) const override { sources_[picture.source]->decode(picture); }
  std::optional<Complaint> complaint() const override {
    for (const auto& source : sources_)
      if (auto complaint = source->complaint()) return complaint;
    return std::nullopt;
  }
  std::optional<std::int64_t> count() const override {
    std::int64_t sum = 0;
    for (const auto& source : sources_) {
      const auto count = source->count();
      if (!count) return std::nullopt;
      sum += *count;
    }
    return sum;
  }
  std::vector<Source*> lanes() override {
    std::vector<Source*> lanes;
    for (const auto& source : sources_) lanes.push_back(source.get());
    return lanes;
  }

 private:
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<bool> ended_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Source> join_sources(std::vector<std::unique_ptr<Source>> sources,
                                     const std::vector<Input>& inputs) {
  return std::make_unique<Joined>(std::move(sources), inputs);
}

}  // namespace millrace::application
