#include "pipeline/memory/shared_tensors.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <functional>
#include <numeric>

#include <brigade/text.h>
#include "base/shared_path.h"
#include "pipeline/memory/shared_files.h"
#include "pipeline/plan/ring_layout.h"
#include "stages/api/npy_header.h"
#include "stages/api/npy_trailer.h"
#include "tests/support/small_plan.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

/// A consumer of two replicas that maps an f32[6].
Plan plan_sharing(bool own_part) {
  Plan plan = small_plan(2);
  PlanShared shared;
  shared.type = {"w", f32, {6}};
  shared.bytes = 24;
  shared.own_part = own_part;
  shared.parts = own_part ? 2 : 1;
  plan.shared.push_back(std::move(shared));
  plan.stages[1].shared = {0};
  return plan;
}

/// Of a run that is resumed.
ResumePoint resumed_run(const Plan& plan, const std::string& identity = {}) {
  ResumePoint resume;
  resume.stages.assign(plan.stages.size(), {});
  resume.identity = identity;
  return resume;
}

SharedTensor mapped(const Plan& plan, const SharedTensors& tensors, int replica) {
  return map_shared_tensor(plan, plan.stages[1], replica, tensors.grant(0)).value();
}

std::vector<float> values(const SharedTensor& tensor) {
  const auto all = tensor.as<float>();
  return {all.begin(), all.end()};
}

/// How a child ends that does this.
int signal_of(const std::function<void()>& act) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : {SIGSEGV, SIGBUS}) std::signal(signal, SIG_DFL);
    act();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

class SharedMemory : public testing::TestWithParam<bool> {};

TEST_P(SharedMemory, EachReplicaWritesItsPartAndASuccessorFindsIt) {
  const Plan plan = plan_sharing(true);
  const auto tensors = SharedTensors::create(plan, {}, GetParam()).value();
  for (const int replica : {0, 1}) {
    const SharedTensor part = mapped(plan, *tensors, replica);
    ASSERT_EQ(part.shape(), (Shape{3}));
    EXPECT_EQ(values(part), std::vector<float>(3, 0.0F));
    std::iota(part.as<float>().begin(), part.as<float>().end(),
              10.0F * static_cast<float>(replica));
  }
  EXPECT_EQ(values(mapped(plan, *tensors, 1)), (std::vector<float>{10, 11, 12}));
  const SharedTensor all = tensors->find("w").value();
  EXPECT_EQ(values(all), (std::vector<float>{0, 1, 2, 10, 11, 12}));
  EXPECT_FALSE(all.writable());
  EXPECT_TRUE(tensors->written_beside().empty());
}
INSTANTIATE_TEST_SUITE_P(TightAndApart, SharedMemory, testing::Bool());

TEST(SharedTensorsMemory, ATensorForAllIsSeenByAllAndOutlivesWhoMadeIt) {
  const Plan plan = plan_sharing(false);
  auto tensors = SharedTensors::create(plan, {}, true).value();
  const SharedTensor program = tensors->find("w").value();
  const SharedTensor replica = mapped(plan, *tensors, 1);
  EXPECT_TRUE(program.writable() && replica.initialised());
  replica.atomic<float>(5).fetch_add(2.5F);
  tensors.reset();
  EXPECT_EQ(program.as<float>()[5], 2.5F);
}

TEST(SharedTensorsMemory, WhoHasNoneOfThatNameIsToldWhichThereAre) {
  const Plan plan = plan_sharing(false);
  const auto tensors = SharedTensors::create(plan, {}, false).value();
  EXPECT_EQ(tensors->find("v").error().message,
            "there is no shared tensor \"v\": the graph has \"w\"");
}

// What nobody may write: bytes beside a part that are looked at, and pages beyond.
TEST(SharedTensorsMemory, FindsWritingBesideAPart) {
  const Plan plan = plan_sharing(true);
  for (const int at : {-1, 3}) {
    const auto tensors = SharedTensors::create(plan, {}, true).value();
    mapped(plan, *tensors, 1).as<float>().data()[at] = 1;
    EXPECT_EQ(join(tensors->written_beside(), "\n"),
              concat("shared tensor \"w\": replica 1 wrote ",
                     at < 0 ? "before the beginning" : "beyond the end",
                     " of its part: keep its writes within its shape"));
  }
}

// Children of fork() have none of it, so that these map it themselves.
TEST(SharedTensorsMemory, PagesBesideAPartMayNotBeTouched) {
  const Plan plan = plan_sharing(true);
  const auto tensors = SharedTensors::create(plan, {}, true).value();
  const auto store_at = [&](std::ptrdiff_t at) {
    return signal_of([&, at] {
      const SharedTensor part = mapped(plan, *tensors, 0);
      *(static_cast<volatile char*>(part.data()) + at) = 1;
    });
  };
  EXPECT_EQ(store_at(11), 0) << "the control: its last byte";
  EXPECT_EQ(store_at(64), SIGSEGV);
  EXPECT_EQ(store_at(-4096), SIGSEGV);
}

struct FilledByReplica0 : testing::Test {
  Plan plan = plan_sharing(false);
  std::shared_ptr<SharedTensors> tensors;
  bool ended = false;
  std::vector<std::string> said;

  void SetUp() override {
    plan.shared[0].init_stage = 1;
    tensors = SharedTensors::create(plan, {}, false).value();
  }
  bool await(const SharedTensor& tensor) {
    return await_shared_tensors(
        {tensor}, [this] { return ended; },
        [this](const std::string& line) { said.push_back(line); });
  }
};

TEST_F(FilledByReplica0, OthersWaitUntilItIsDoneOrTheRunEnds) {
  const SharedTensor other = mapped(plan, *tensors, 1);
  EXPECT_FALSE(other.fill());
  ended = true;
  EXPECT_FALSE(await(other));
  ended = false;
  const SharedTensor first = mapped(plan, *tensors, 0);
  EXPECT_TRUE(first.fill() && await(first));
  first.as<float>()[2] = 7;
  first.set_initialised();
  EXPECT_TRUE(await(other));
  EXPECT_EQ(other.as<float>()[2], 7.0F);
}

TEST_F(FilledByReplica0, ASuccessorFillsItOnlyWhereThatWasNotDone) {
  mapped(plan, *tensors, 0).as<float>()[1] = 3;  // and it died
  const SharedTensor again = mapped(plan, *tensors, 0);
  ASSERT_TRUE(again.fill() && await(again));
  EXPECT_EQ(again.as<float>()[1], 0.0F) << "half of it is nobody's work";
  again.as<float>()[1] = 4;
  again.set_initialised();
  const SharedTensor third = mapped(plan, *tensors, 0);
  EXPECT_FALSE(third.fill());
  EXPECT_TRUE(await(third));
  EXPECT_EQ(third.as<float>()[1], 4.0F);
}

TEST_F(FilledByReplica0, IsSavedOnlyOnceItIsThere) {
  const TemporaryFolder folder;
  plan.shared[0].save_file = folder.path() / "w.npy";
  tensors = SharedTensors::create(plan, {}, false).value();
  ASSERT_TRUE(tensors->save().ok());
  EXPECT_FALSE(std::filesystem::exists(plan.shared[0].save_file));
}

TEST_P(SharedMemory, WhatWasSavedIsWhereAResumedRunBegins) {
  const TemporaryFolder folder;
  Plan plan = plan_sharing(true);
  plan.shared[0].save_file = folder.path() / "w.npy";
  const auto first = SharedTensors::create(plan, {}, GetParam()).value();
  for (const int replica : {0, 1})
    std::ranges::fill(mapped(plan, *first, replica).as<float>(), static_cast<float>(replica + 1));
  ASSERT_TRUE(first->save().ok());
  const std::vector<float> expected = {1, 1, 1, 2, 2, 2};
  const auto resumed = SharedTensors::create(plan, resumed_run(plan), !GetParam()).value();
  EXPECT_EQ(values(resumed->find("w").value()), expected);
  const auto anew = SharedTensors::create(plan, {}, GetParam()).value();
  EXPECT_EQ(values(anew->find("w").value()), std::vector<float>(6, 0.0F));
  plan.shared[0].init_file = plan.shared[0].save_file;
  EXPECT_EQ(values(SharedTensors::create(plan, {}, GetParam()).value()->find("w").value()),
            expected);
}

/// A tensor that the run "aa..." has saved.
struct SavedByARun : testing::Test {
  const TemporaryFolder folder;
  const std::string run = std::string(kIdentityDigits, 'a');
  const std::string other = std::string(kIdentityDigits, 'b');
  Plan plan = plan_sharing(true);
  std::string file, whole;

  void SetUp() override {
    file = plan.shared[0].save_file = folder.path() / "w.npy";
    plan.checkpoint_file = "run.ckpt";
    ResumePoint fresh;
    fresh.identity = run;
    const auto tensors = SharedTensors::create(plan, fresh, false).value();
    for (const int replica : {0, 1})
      std::ranges::fill(mapped(plan, *tensors, replica).as<float>(), 7.0F);
    ASSERT_TRUE(tensors->save().ok());
    whole = read_whole_file(file).value();
  }
  std::string resume(const std::string& identity) {
    const auto tensors = SharedTensors::create(plan, resumed_run(plan, identity), false);
    if (!tensors) return tensors.error().message;
    EXPECT_EQ(values(tensors.value()->find("w").value()), std::vector<float>(6, 7.0F));
    return "";
  }
};

TEST_F(SavedByARun, IsResumedByThatRunOnly) {
  EXPECT_EQ(resume(run), "");
  EXPECT_EQ(resume(""), "") << "a state that does not name its run";
  EXPECT_EQ(resume(other), concat("shared tensor \"w\": ", file,
                                  " belongs to a different run than the checkpoint run.ckpt; "
                                  "restore the file of that run, or restart without --resume"));
  folder.write("w.npy", std::string(without_npy_trailer(whole)));
  EXPECT_EQ(resume(run),
            concat("shared tensor \"w\": ", file,
                   " does not name the run of the checkpoint run.ckpt: another program wrote it; "
                   "restore the file of that run, or restart without --resume and with `init: ",
                   file, "`"));
}

TEST_F(SavedByARun, EachByteIsCheckedAndItsLength) {
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] ^= 1;
    folder.write("w.npy", damaged);
    EXPECT_NE(resume(run), "") << i;
    folder.write("w.npy", whole.substr(0, i));
    EXPECT_NE(resume(run), "") << i;
  }
  folder.write("w.npy", whole + '\0');
  EXPECT_NE(resume(run), "");
  std::string damaged = whole;
  damaged[whole.size() - kNpyTrailerBytes - 1] ^= 1;
  folder.write("w.npy", damaged);
  EXPECT_EQ(resume(run), concat("shared tensor \"w\": ", file,
                                ": it is damaged: its checksum does not match its bytes; restore a "
                                "copy, or restart without it"));
  folder.write("w.npy", whole);
  EXPECT_EQ(resume(run), "") << "the control";
}

TEST_F(SavedByARun, FillsATensorOfAnyRunByInit) {
  plan.shared[0].save_file.clear();
  plan.shared[0].init_file = file;
  EXPECT_EQ(resume(other), "");
  std::string damaged = whole;
  damaged[whole.size() - kNpyTrailerBytes - 1] ^= 1;
  folder.write("w.npy", damaged);
  EXPECT_NE(resume(other), "");
}

TEST_P(SharedMemory, AConsumerThatSavesWritesAllPartsAlsoWhereSomebodyDiedWriting) {
  const TemporaryFolder folder;
  Plan plan = plan_sharing(true);
  plan.shared[0].save_file = folder.path() / "w.npy";
  const auto tensors = SharedTensors::create(plan, {}, GetParam()).value();
  for (const int replica : {0, 1})
    std::ranges::fill(mapped(plan, *tensors, replica).as<float>(), static_cast<float>(replica + 1));
  PlanStage& stage = plan.stages[1];
  const std::vector<SharedGrant> grants = {tensors->grant(0)};
  EXPECT_FALSE(map_shared_tensors(plan, stage, 0, grants).value().save);
  stage.saves = true;
  const ReplicaShared own = map_shared_tensors(plan, stage, 0, grants).value();
  EXPECT_EQ(own.tensors.size(), 1u);
  stage.shared.clear();
  EXPECT_EQ(shared_tensors_of(plan, stage), std::vector<int>{0});
  EXPECT_TRUE(map_shared_tensors(plan, stage, 0, grants).value().tensors.empty());
  EXPECT_EQ(signal_of([&] {  // whom a fork has taken the mappings from
              const int fd = tensors->grant(0).fd;
              const auto head = map_memory(fd, kArrayAlignment, MapMode::read_write);
              pthread_mutex_lock(&shared_head(*head).saving);
              raise(SIGBUS);
            }),
            SIGBUS);
  ASSERT_TRUE(own.save().ok());
  const auto resumed = SharedTensors::create(plan, resumed_run(plan), GetParam()).value();
  EXPECT_EQ(values(resumed->find("w").value()), (std::vector<float>{1, 1, 1, 2, 2, 2}));
}

TEST(SharedTensorsMemory, RefusesAFileThatHasChangedSinceItWasChecked) {
  const TemporaryFolder folder;
  Plan plan = plan_sharing(false);
  plan.shared[0].init_file = folder.write("w.npy", *print_npy_header(f32, {7}));
  EXPECT_EQ(SharedTensors::create(plan, {}, false).error().message,
            concat("shared tensor \"w\": expected f32[6], but ", plan.shared[0].init_file,
                   " holds f32[7]; choose another file"));
  folder.write("w.npy", *print_npy_header(f32, {6}) + "1234");
  EXPECT_EQ(
      SharedTensors::create(plan, {}, false).error().message,
      concat("shared tensor \"w\": ", plan.shared[0].init_file, " is truncated; save it again"));
  std::filesystem::remove(plan.shared[0].init_file);
  EXPECT_EQ(SharedTensors::create(plan, {}, false).error().message,
            concat("shared tensor \"w\": cannot read ", plan.shared[0].init_file,
                   ": No such file or directory"));
  EXPECT_FALSE(std::filesystem::exists(plan.shared[0].init_file));
}

}  // namespace
}  // namespace brigade
