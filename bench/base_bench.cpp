// What a random draw costs: the first words of a sample's stream, and one word of a long stream.

#include <benchmark/benchmark.h>

#include <brigade/random.h>

namespace brigade {
namespace {

// An augmentation draws about four words per sample, each sample from a stream of its own.
void random_four_words_of_a_new_stream(benchmark::State& state) {
  std::uint64_t sample = 0;
  for (auto _ : state) {
    Philox random(7, 11, 0, sample++);
    for (int word = 0; word < 4; ++word) benchmark::DoNotOptimize(random.next());
  }
}
BENCHMARK(random_four_words_of_a_new_stream);

void random_word_of_a_long_stream(benchmark::State& state) {
  Philox random(7, 11, 0, 0);
  for (auto _ : state) benchmark::DoNotOptimize(random.next());
}
BENCHMARK(random_word_of_a_long_stream);

}  // namespace
}  // namespace brigade
