#include "pipeline/run/launch/spawner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support/message_of.h"
#include "tests/support/temporary_folder.h"

namespace brigade {
namespace {

// Starts shell scripts instead of workers and collects what they write.
struct Spawning : testing::Test {
  TemporaryFolder folder;
  SpawnRequest request;

  std::unique_ptr<Spawner> spawner_for(const std::string& script) {
    const std::string path = folder.write("script", "#!/bin/sh\n" + script + "\n");
    chmod(path.c_str(), 0700);
    return Spawner::create(path).value();
  }

  static Result<RunningProcess> started(Spawner& spawner, const SpawnRequest& request) {
    spawner.start(request);
    pollfd answered{spawner.started_fd(), POLLIN, 0};
    EXPECT_EQ(poll(&answered, 1, 60'000), 1);
    return spawner.take_started().value();
  }

  struct Ran {
    Ending ending;
    std::string output;
  };
  Ran run(const std::string& script) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    request.output = ends[1];
    const auto spawner = spawner_for(script);
    auto process = started(*spawner, request);
    close(ends[1]);
    EXPECT_TRUE(process.ok()) << process.error().message;
    Ran ran;
    char bytes[4096];
    for (ssize_t count = 1; count > 0;) {
      count = read(ends[0], bytes, sizeof bytes);
      if (count > 0) ran.output.append(bytes, static_cast<std::size_t>(count));
    }
    close(ends[0]);
    ran.ending = end_of(*spawner, *process);
    return ran;
  }

  static Ending end_of(Spawner& spawner, RunningProcess& process) {
    pollfd ended{process.pidfd, POLLIN, 0};
    EXPECT_EQ(poll(&ended, 1, 60'000), 1);
    const Ending ending = spawner.end(process);
    spawner.reap(process);
    return ending;
  }
};

TEST_F(Spawning, AProcessEndsWithItsCode) {
  EXPECT_TRUE(run("exit 0").ending.clean());
  const Ending ending = run("exit 3").ending;
  EXPECT_EQ(ending.kind, Ending::Kind::exited);
  EXPECT_EQ(ending.code, 3);
  EXPECT_EQ(ending_text(ending), "exited with code 3");
}

TEST_F(Spawning, AProcessEndsByASignal) {
  const Ending ending = run("kill -SEGV $$").ending;
  EXPECT_EQ(ending.kind, Ending::Kind::killed);
  EXPECT_EQ(ending_text(ending), "was killed by SIGSEGV");
}

TEST_F(Spawning, OutputAndErrorGoToOnePlaceAndThereIsNoInput) {
  EXPECT_EQ(run("echo out; echo err >&2; cat").output, "out\nerr\n");
}

TEST_F(Spawning, TheEnvironmentIsExactlyWhatWasAsked) {
  request.environment = {"ONE=1", "PATH=/usr/bin:/bin"};
  EXPECT_EQ(run("echo $ONE-$HOME-").output, "1--\n");
}

TEST_F(Spawning, AProcessThatNobodyTakesIsEndedAndCollected) {
  const std::string number = folder.write("number", "");
  request.output = STDERR_FILENO;
  auto spawner = spawner_for("echo $$ > " + number + "; exec sleep 1000");
  spawner->start(request);
  pid_t pid = 0;
  while (!(std::ifstream(number) >> pid)) usleep(1000);
  EXPECT_EQ(kill(pid, 0), 0);
  spawner.reset();
  while (kill(pid, 0) == 0) usleep(1000);  // nor is it a zombie
}

TEST_F(Spawning, DescriptorsThatWereNotAskedForAreClosed) {
  const int kept = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int not_cached = open("/dev/null", O_RDONLY);  // an embedding program's
  request.keep = {kept};
  const std::string script = "for fd in " + std::to_string(kept) + " " +
                             std::to_string(not_cached) +
                             "; do test -e /proc/$$/fd/$fd && echo $fd; done; true";
  EXPECT_EQ(run(script).output, std::to_string(kept) + "\n");
  close(kept);
  close(not_cached);
}

TEST_F(Spawning, SignalsAreAsInAFreshProcess) {
  signal(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  const std::string output = run("exec grep -E 'Sig(Blk|Ign)' /proc/self/status").output;
  pthread_sigmask(SIG_UNBLOCK, &blocked, nullptr);
  signal(SIGUSR1, SIG_DFL);
  EXPECT_EQ(output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_F(Spawning, EveryProcessHasAGroupOfItsOwn) {
  std::istringstream words(run("cut -d' ' -f1,5 /proc/$$/stat").output);
  int pid = 0;
  int group = -1;
  words >> pid >> group;
  EXPECT_EQ(pid, group);
}

TEST_F(Spawning, CpusBindAProcess) {
  cpu_set_t mine;
  sched_getaffinity(0, sizeof mine, &mine);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(static_cast<std::size_t>(last), &mine)) --last;
  request.cpus = {last};
  EXPECT_EQ(run("grep Cpus_allowed_list /proc/$$/status").output,
            "Cpus_allowed_list:\t" + std::to_string(last) + "\n");
}

TEST_F(Spawning, CpusThatAreNotThereAreAnError) {
  request.cpus = {CPU_SETSIZE - 1};
  request.output = STDERR_FILENO;
  EXPECT_EQ(message_of(started(*spawner_for("exit 0"), request)),
            "cannot bind a worker to its `cpus:`: Invalid argument");
}

TEST_F(Spawning, TheConditionOfAProcessIsKnown) {
  request.output = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const auto spawner = Spawner::create("/usr/bin/yes").value();
  auto process = started(*spawner, request);
  ASSERT_TRUE(process.ok());
  const auto becomes = [&](ProcessCondition wanted) {
    for (int tries = 0; condition_of(process->pid) != wanted && tries < 5000; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return condition_of(process->pid) == wanted;
  };
  EXPECT_TRUE(becomes(ProcessCondition::runs));
  spawner->signal(*process, SIGSTOP);
  EXPECT_TRUE(becomes(ProcessCondition::stopped));
  spawner->signal(*process, SIGCONT);
  EXPECT_TRUE(becomes(ProcessCondition::runs));
  spawner->signal(*process, SIGABRT);
  EXPECT_TRUE(becomes(ProcessCondition::gone));  // also before it is collected
  EXPECT_EQ(ending_text(end_of(*spawner, *process)), "was killed by SIGABRT");
  spawner->signal(*process, SIGABRT);  // of one that has gone: nothing
  close(request.output);
}

TEST_F(Spawning, AProcessShowsItsTitle) {
  request.title = "brigade: augment.1";
  request.output = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const auto spawner = Spawner::create("/usr/bin/yes").value();
  auto process = started(*spawner, request);
  ASSERT_TRUE(process.ok());
  std::string title;  // empty for a moment: the parent goes on before exec has set it
  for (int tries = 0; title.empty() && tries < 5000; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::ifstream command("/proc/" + std::to_string(process->pid) + "/cmdline");
    std::getline(command, title, '\0');
  }
  EXPECT_EQ(title, "brigade: augment.1");
  spawner->kill(*process);
  const Ending ending = end_of(*spawner, *process);
  EXPECT_EQ(ending_text(ending), "was killed by SIGKILL");
  spawner->kill(*process);  // of one that has gone: nothing
  close(request.output);
}

TEST_F(Spawning, WhatIsNotThereYetOrHasBeenTakenIsNothing) {
  const auto spawner = spawner_for("exit 0");
  EXPECT_FALSE(spawner->take_started());
  request.output = STDERR_FILENO;
  auto process = started(*spawner, request);
  ASSERT_TRUE(process.ok());
  EXPECT_FALSE(spawner->take_started());
  end_of(*spawner, *process);
}

TEST_F(Spawning, WhatCannotBeExecutedIsAnError) {
  request.output = STDERR_FILENO;
  EXPECT_NE(message_of(started(*Spawner::create("/nowhere/brigade").value(), request))
                .find("No such file"),
            std::string::npos);
}

bool is_there(pid_t pid) {
  for (int tries = 0; tries < 5000; ++tries) {
    if (condition_of(pid) == ProcessCondition::gone) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

TEST_F(Spawning, WhatAProcessLeavesInItsGroupGoesWhenItIsCollected) {
  EXPECT_FALSE(is_there(std::stoi(run("sleep 60 >/dev/null 2>&1 & echo $!").output)));
}

TEST_F(Spawning, ControlWhatHasLeftTheGroupStays) {
  // The words that echo prints are complete once nobody else holds their pipe.
  const std::string pid =
      run("echo $(setsid sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' &)").output;
  EXPECT_EQ(condition_of(std::stoi(pid)), ProcessCondition::runs);
  kill(std::stoi(pid), SIGKILL);
}

TEST_F(Spawning, AChildThatSomebodyElseReapedHasAnUnknownEnd) {
  signal(SIGCHLD, SIG_IGN);  // the kernel reaps for us
  const Ending ending = run("exit 0").ending;
  signal(SIGCHLD, SIG_DFL);
  EXPECT_EQ(ending_text(ending), "ended, cause unknown");
  EXPECT_FALSE(ending.clean());
}

TEST_F(Spawning, DescriptorsDoNotPileUp) {
  run("exit 0");
  const int before = open("/dev/null", O_RDONLY);
  close(before);
  for (int i = 0; i < 20; ++i) run("exit 0");
  const int after = open("/dev/null", O_RDONLY);
  close(after);
  EXPECT_EQ(before, after);
}

}  // namespace
}  // namespace brigade
