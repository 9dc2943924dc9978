#include "pipeline/run/launch/describe_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include <brigade/text.h>

namespace brigade {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// `$1` is the descriptor of the answer, `$2` the question.
StageQuestion shell(const std::string& script) {
  StageQuestion question;
  question.command = {"/bin/sh", "-c", script, "sh"};
  question.folder = "/";
  question.text = "{}";
  question.timeout = 100s;
  return question;
}

std::string failure(const StageQuestion& question) {
  const auto answer = DescribeProcess().describe(question);
  return answer ? "answered " + *answer : answer.error().message;
}

TEST(DescribeProcess, GivesTheAnswerOfItsOwnDescriptor) {
  StageQuestion question =
      shell("echo nobody hears this; eval \"echo \\\"$2 in $(pwd) $X\\\" >&$1\"");
  question.text = "what";
  question.env = {{"X", "says"}};
  const auto answer = DescribeProcess().describe(question);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(*answer, "what in / says\n");
}

TEST(DescribeProcess, SaysWhatHappenedOtherwise) {
  EXPECT_EQ(failure(shell("echo one; echo two >&2; exit 3")), "exited with code 3: two");
  EXPECT_EQ(failure(shell("kill -9 $$")), "was killed by SIGKILL");
  EXPECT_EQ(
      failure(shell("echo \"No module named 'brigade'\" >&2; exit 1")),
      "has no package `brigade`; `pip install` it there, add it to PYTHONPATH, or name another "
      "interpreter with `params: {python: PATH}`");
  StageQuestion nothing = shell("");
  nothing.command[0] = "/no/such/program";
  EXPECT_THAT(failure(nothing), HasSubstr("cannot execute /no/such/program"));
}

TEST(DescribeProcess, EndsWhatTakesTooLongWithAllThatItStarted) {
  StageQuestion slow = shell("sleep 1000 & echo begun; sleep 1000");
  slow.timeout = 50ms;
  EXPECT_EQ(
      failure(slow),
      "has not answered within 0.05 s; write `params: {import_timeout: 5m}` to wait longer for "
      "its imports");
  // One that leaves a process behind has answered, nevertheless.
  EXPECT_EQ(failure(shell("sleep 1000 & eval \"echo yes >&$1\"")), "answered yes\n");
}

TEST(DescribeProcess, TakesMuch) {
  const std::string answer = failure(shell(
      "i=0; while [ $i -lt 2000 ]; do echo $i $2 $2 $2 $2 $2 $2 $2 $2 $2 $2 $2 $2 $2 $2 $2 >&2; "
      "eval \"echo $i 567890123456789012345678901234567890123456789012345678901234567890 >&$1\"; "
      "i=$((i+1)); done"));
  EXPECT_GT(answer.size(), 100'000u);
  EXPECT_THAT(answer, HasSubstr("\n1999 "));
}

TEST(KeptAnswers, AreThoseWithoutAMistake) {
  class Fake : public StageDescriber {
   public:
    explicit Fake(int& calls) : calls_(calls) {}
    Result<std::string> describe(const StageQuestion& question) override {
      ++calls_;
      if (question.text == "slow") return Error{"has not answered"};
      return concat("{\"errors\": [", question.text == "bad" ? "1" : "", "], \"call\": ", calls_,
                    "}");
    }

   private:
    int& calls_;
  };
  int calls = 0;
  KeptAnswers kept(std::make_unique<Fake>(calls));
  const auto calls_for = [&](StageQuestion question) {
    const int before = calls;
    const auto first = kept.describe(question);
    const auto second = kept.describe(question);
    EXPECT_EQ(first.ok(), second.ok());
    if (first && calls == before + 1) {
      EXPECT_EQ(*first, *second);
    }
    return calls - before;
  };
  StageQuestion question = shell("");
  EXPECT_EQ(calls_for(question), 1);
  EXPECT_EQ(calls_for(question), 0);
  for (const std::string text : {"bad", "slow"}) {
    question.text = text;
    EXPECT_EQ(calls_for(question), 2) << text;
  }
  // Whatever differs is another question.
  for (const auto change :
       {+[](StageQuestion& q) { q.text = "{1}"; }, +[](StageQuestion& q) { q.folder = "/tmp"; },
        +[](StageQuestion& q) { q.command.back() = "/tmp"; },
        +[](StageQuestion& q) {
          q.env = {{"X", "says"}};
        }}) {
    StageQuestion other = shell("");
    change(other);
    EXPECT_EQ(calls_for(other), 1);
  }
}

TEST(DescribeProcess, MakesFoldersOfTheInterpreterAbsolute) {
  setenv("PYTHONPATH", "/a:b", 1);
  EXPECT_THAT(DescribeProcess().python_path(), testing::MatchesRegex("/a:/.*/b"));
  setenv("PYTHONPATH", "/a:/b", 1);
  EXPECT_EQ(DescribeProcess().python_path(), "");
  unsetenv("PYTHONPATH");
  EXPECT_EQ(DescribeProcess().python_path(), "");
  setenv("BRIGADE_PYTHON", "/a/python", 1);
  EXPECT_EQ(DescribeProcess().python(), "/a/python");
  unsetenv("BRIGADE_PYTHON");
  EXPECT_EQ(DescribeProcess().python(), "python3");
}

}  // namespace
}  // namespace brigade
