// What a program sets on a graph before it is checked, planned or started.

#include <utility>

#include <brigade/pipeline.h>

namespace brigade {

Pipeline& Pipeline::add_text(std::string yaml, std::string name) {
  texts_.emplace_back(std::move(name), std::move(yaml));
  return *this;
}

Pipeline& Pipeline::set(std::string key_and_value) {
  sets_.push_back(std::move(key_and_value));
  return *this;
}

Pipeline& Pipeline::limit(std::uint64_t samples) {
  limit_ = samples;
  return *this;
}

Pipeline& Pipeline::read(std::vector<std::string> stages) {
  read_ = std::move(stages);
  return *this;
}

Pipeline& Pipeline::rank(std::uint64_t rank, std::uint64_t world, bool over_graph) {
  rank_ = {rank, world, over_graph};
  return *this;
}

Pipeline& Pipeline::count(bool yes) {
  count_ = yes;
  return *this;
}

Pipeline& Pipeline::in_process(bool yes) {
  in_process_ = yes;
  return *this;
}

Pipeline& Pipeline::resume(bool yes) {
  resume_ = yes;
  return *this;
}

Pipeline& Pipeline::state(std::string bytes) {
  state_ = std::move(bytes);
  return *this;
}

Pipeline& Pipeline::overwrite(bool yes) {
  overwrite_ = yes;
  return *this;
}

Pipeline& Pipeline::quiet(bool yes) {
  quiet_ = yes;
  return *this;
}

Pipeline& Pipeline::log_to(int descriptor) {
  log_descriptor_ = descriptor;
  return *this;
}

Pipeline& Pipeline::events(const Events& to) {
  events_ = to;
  return *this;
}

Pipeline& Pipeline::fork_workers(int socket) {
  forker_ = socket;
  return *this;
}

Pipeline& Pipeline::interrupted(std::function<bool()> asked) {
  interrupted_ = std::move(asked);
  return *this;
}

}  // namespace brigade
