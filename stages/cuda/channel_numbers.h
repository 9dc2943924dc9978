#pragma once

// Parameters with one number per channel of an image, or one
// for all channels, such as mean and std. Pure functions.

#include <cstdint>
#include <string_view>
#include <vector>

#include <brigade/cuda.h>
#include <brigade/text.h>

namespace brigade::cuda {

/// `name`: of the parameter, for the message.
inline Result<void> check_channel_numbers(std::string_view name, const std::vector<double>& numbers,
                                          std::int64_t channels) {
  if (numbers.size() == 1 || static_cast<std::int64_t>(numbers.size()) == channels) return {};
  return Error{concat(name, " has ", numbers.size(), " numbers, the image has ", channels,
                      " channels; give one number for all channels, or one for each")};
}

inline OfChannels of_channels(const std::vector<double>& numbers) {
  OfChannels all{};
  for (std::size_t c = 0; c < kChannelsMax; ++c)
    all[c] = static_cast<float>(numbers[c < numbers.size() ? c : 0]);
  return all;
}

}  // namespace brigade::cuda
