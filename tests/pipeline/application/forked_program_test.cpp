// A program that forks, as interpreters do: its child reads what was held, harms nothing, and ends.

#include "pipeline/application/output_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include <brigade/text.h>
#include "tests/support/program.h"

namespace brigade {
namespace {

using testing::HasSubstr;

constexpr unsigned kHangSeconds = 60;

struct ForkingPrograms : testing::TestWithParam<bool> {
  /// 63 batches of 16 samples, each of 3 numbers: its id.
  void start(const std::string& more = "") {
    run_ = program_.start(
        "stages:\n  numbers: {producer: synthetic, batch: 16, params: {count: 1000, shape: [3]}}\n"
        "  train: {consumer: application, from: numbers, hold: 2}\n" +
            more,
        GetParam());
    train_.emplace(run_->output("train"));
  }
  /// The status with which a child ends that does `work`.
  template <class Work>
  static int in_child(Work work) {
    const pid_t child = fork();
    if (child == 0) {
      signal(SIGSEGV, SIG_DFL);  // a sanitizer's would report it
      alarm(kHangSeconds);
      work();
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  }
  static bool is_whole(const Batch& batch) {
    const auto data = batch["data"].as<std::int64_t>();
    for (std::size_t i = 0; i < data.size(); ++i)
      if (data[i] != static_cast<std::int64_t>(batch.sample(static_cast<int>(i / 3)).id))
        return false;
    return true;
  }
  /// Nothing that a child did is seen here.
  void expect_the_rest(std::int64_t samples) {
    while (auto batch = train_->next().value()) {
      EXPECT_TRUE(is_whole(*batch));
      samples += batch->size();
    }
    EXPECT_EQ(samples, 1000);
    const auto waited = run_->wait();
    EXPECT_TRUE(waited.ok()) << waited.error().message;
    EXPECT_EQ(nlohmann::json::parse(*run_->summary_json())["samples"], 1000);
  }

  Program program_;
  std::unique_ptr<brigade::Run> run_;
  std::optional<Output> train_;
};

TEST_P(ForkingPrograms, AChildReadsWhatWasHeldAndNothingElse) {
  start();
  std::optional<Batch> held = train_->next().value();
  const int status = in_child([&] {
    if (!is_whole(*held) || access_to((*held)["data"].data()) != "r--s") _exit(1);
    const auto next = train_->next();
    if (next.ok() || next.error().message.find("was forked from the program") == std::string::npos)
      _exit(2);
    if (!train_->ended() || run_->wait().ok() || run_->output("train").next().ok()) _exit(3);
    for (const Batch& batch : *train_) _exit(batch.size() > 0 ? 4 : 5);
    run_->stop();
    if (run_->summary_json().ok()) _exit(6);
    if (!is_whole(held->clone())) _exit(7);
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(access_to((*held)["data"].data()), "rw-s");
  held.reset();
  expect_the_rest(16);
}

TEST_P(ForkingPrograms, WhatAChildLetsGoOfStaysHeld) {
  start();
  std::vector<Batch> held;
  for (int i = 0; i < 2; ++i) held.push_back(*train_->next().value());
  const int status = in_child([&] {
    held.clear();
    train_.reset();
    run_.reset();
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(train_->next().error().message, HasSubstr("`hold: 2` is reached"));
  for (const Batch& batch : held) EXPECT_TRUE(is_whole(batch));
  held.clear();  // control: here it counts
  expect_the_rest(32);
}

TEST_P(ForkingPrograms, AChildMayExitAsPrograms) {
#ifdef __SANITIZE_ADDRESS__
  if (GetParam()) GTEST_SKIP() << "what threads had that the child lacks counts as leaked at exit";
#endif
  start();
  std::optional<Batch> held = train_->next().value();
  const int status = in_child([] { std::exit(7); });  // its static destructors run
  EXPECT_EQ(WEXITSTATUS(status), 7);
  held.reset();
  expect_the_rest(16);
}

TEST_P(ForkingPrograms, AStoreOfAChildIsACrashOfThatChild) {
  start();
  std::optional<Batch> held = train_->next().value();
  auto* const data = static_cast<std::int64_t*>(const_cast<void*>((*held)["data"].data()));
  const int status = in_child([data] { *data = -1; });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
  EXPECT_TRUE(is_whole(*held));
  *data = -1;  // control: here it is none
  held.reset();
  expect_the_rest(16);
}

TEST_P(ForkingPrograms, AChildWaitsForNoThreadThatItLacks) {
  start("  other: {consumer: application, from: numbers}\n");
  std::vector<Batch> held;
  for (int i = 0; i < 2; ++i) held.push_back(*train_->next().value());
  run_->output("other");  // closed at once: a thread drains it
  std::thread waiting([this] { EXPECT_FALSE(train_->next().ok()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it waits for a batch by now
  const int status = in_child([&] {
    if (train_->next().ok()) _exit(1);
    held.clear();
    train_.reset();
    run_.reset();
  });
  EXPECT_EQ(status, 0);
  waiting.join();
  held.clear();
  expect_the_rest(32);
}

TEST_P(ForkingPrograms, AChildMayStartARunOfItsOwn) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no threads in the child of a program that has some";
#endif
  start();
  std::optional<Batch> held = train_->next().value();
  const int status = in_child([&] {
    held.reset();
    start();
    std::int64_t samples = 0;
    for (const Batch& batch : *train_) samples += is_whole(batch) ? batch.size() : 0;
    if (samples != 1000 || !run_->wait().ok()) _exit(1);
  });
  EXPECT_EQ(status, 0);
  held.reset();
  expect_the_rest(16);
}

INSTANTIATE_TEST_SUITE_P(All, ForkingPrograms, testing::Bool(), threads_or_processes);

}  // namespace
}  // namespace brigade
