// Ranks as threads of this process, by gloo.

#include "stages/torch/rank_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <torch/types.h>
#include <unistd.h>

#include <cstdlib>
#include <latch>
#include <thread>

#include <brigade/text.h>

namespace brigade {
namespace {

using testing::HasSubstr;
using Group = Result<std::unique_ptr<RankGroup>>;

/// That nobody uses now.
std::uint16_t free_port() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(bind(socket_fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(socket_fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(socket_fd);
  return ntohs(address.sin_port);
}

/// Calls fn(rank, group) in a thread for each of two ranks.
template <class Fn>
void in_two_ranks(std::chrono::milliseconds limit, Fn fn) {
  RankPlace place{0, 2, "127.0.0.1", free_port(), false, limit};
  std::vector<std::jthread> ranks;
  for (place.rank = 0; place.rank < 2; ++place.rank)
    ranks.emplace_back([place, &fn] { fn(place.rank, RankGroup::join(place, at::kCPU)); });
}

class RankGroupTest : public testing::Test {
 protected:
  void SetUp() override {
    const RankPlace alone{0, 1, "127.0.0.1", free_port(), false, std::chrono::seconds(60)};
    const Group group = RankGroup::join(alone, at::kCPU);
    if (!group && group.error().message.find("built without libgloo-dev") != std::string::npos)
      GTEST_SKIP() << group.error().message;
  }
};

TEST_F(RankGroupTest, TheFirstOnesModelIsEverybodys) {
  in_two_ranks(std::chrono::seconds(60), [](int rank, Group group) {
    ASSERT_TRUE(group) << group.error().message;
    const at::Tensor weights = torch::full({2, 3}, rank + 1.0, torch::requires_grad());
    ASSERT_TRUE(begin_alike(**group, {weights}).ok());
    EXPECT_TRUE(at::equal(weights, at::ones({2, 3}))) << rank;
  });
}

TEST_F(RankGroupTest, AStepHasTheMeanOfAllSamples) {
  in_two_ranks(std::chrono::seconds(60), [](int rank, Group group) {
    ASSERT_TRUE(group) << group.error().message;
    const at::Tensor weights = torch::zeros({2}, torch::requires_grad());
    const at::Tensor unused = torch::zeros({1}, torch::requires_grad());
    const at::Tensor seen = torch::full({1}, 4.0 * rank);
    (weights * (rank + 1.0)).sum().backward();  // gradients 1 and 2
    // Of 30 samples and of 10.
    ASSERT_TRUE(average_step(**group, {weights, unused}, {seen}, rank == 0 ? 30 : 10).ok());
    EXPECT_EQ(weights.grad()[1].item<float>(), 1.25F);
    EXPECT_EQ(unused.grad().item<float>(), 0.0F);
    EXPECT_EQ(seen.item<float>(), 1.0F);
    // A rank without samples has no say.
    weights.mutable_grad() = torch::full({2}, rank + 1.0);
    ASSERT_TRUE(average_step(**group, {weights}, {}, rank == 0 ? 0 : 3).ok());
    EXPECT_EQ(weights.grad()[0].item<float>(), 2.0F);
    ASSERT_TRUE(average_step(**group, {weights}, {seen}, 0).ok());
    EXPECT_EQ(seen.item<float>(), 1.0F);
  });
}

TEST_F(RankGroupTest, ModelsThatDifferAreFound) {
  in_two_ranks(std::chrono::seconds(60), [](int rank, Group group) {
    ASSERT_TRUE(group) << group.error().message;
    EXPECT_TRUE((*group)->check_same("seed", "7").ok());
    const auto same = (*group)->check_same("step", concat("step ", rank));
    EXPECT_EQ(same ? "same" : same.error().message,
              rank == 0
                  ? "same"
                  : "data_parallel needs the same step: rank 0 has step 0, rank 1 has step 1");
    at::Tensor together = at::ones({1});  // rank 0 keeps the store until rank 1 has read
    EXPECT_TRUE((*group)->sum(together).ok());
  });
}

TEST_F(RankGroupTest, ARankThatNeverComesIsALine) {
  const RankPlace place{0, 2, "127.0.0.1", free_port(), false, std::chrono::milliseconds(300)};
  const Group group = RankGroup::join(place, at::kCPU);
  ASSERT_FALSE(group);
  EXPECT_THAT(group.error().message, HasSubstr(concat("2 ranks did not meet at 127.0.0.1:",
                                                      place.port, " within 0.3 s (MASTER_ADDR")));
}

TEST_F(RankGroupTest, ARankThatGoesIsALine) {
  std::latch joined(2);  // else it might go before the other has met it
  in_two_ranks(std::chrono::milliseconds(2000), [&](int rank, Group group) {
    joined.arrive_and_wait();
    ASSERT_TRUE(group) << group.error().message;
    if (rank == 1) return;
    at::Tensor values = at::ones({1000});
    const auto done = (*group)->sum(values);
    ASSERT_FALSE(done.ok());
    EXPECT_THAT(done.error().message, HasSubstr("rank 0 of 2 lost another rank"));
  });
}

TEST(RankPlaceTest, IsWhatTheEnvironmentSays) {
  const auto place_of = [](const char* world, const char* address, const char* port) {
    setenv("RANK", "1", 1);
    setenv("WORLD_SIZE", world, 1);
    setenv("MASTER_ADDR", address, 1);
    setenv("MASTER_PORT", port, 1);
    const auto place = RankPlace::from_environment(std::chrono::seconds(1));
    for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) unsetenv(name);
    return place ? concat(place->rank, '/', place->world, ' ', place->address, ':', place->port)
                 : place.error().message;
  };
  EXPECT_EQ(place_of("2", "here", "29500"), "1/2 here:29500");
  EXPECT_EQ(place_of("1", "", ""), "1/1 :0");
  EXPECT_THAT(place_of("2", "here", "70000"), HasSubstr("found \"here\" and \"70000\"; start"));
  EXPECT_THAT(place_of("2", "", "1"), HasSubstr("rank 1 of 2 needs MASTER_ADDR and MASTER_PORT"));
}

}  // namespace
}  // namespace brigade
