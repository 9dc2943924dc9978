// lines: the lines of a file, a named pipe or a device, as they come. A stream: its length is
// unknown until the file is at its end, or, of a pipe, until its last writer has closed it. A file
// is read anew for every epoch, is shared by several replicas (line i goes to replica i mod R), and
// is continued by a replica that is started again; a pipe can do none of this.

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <brigade/text.h>
#include "base/io.h"
#include "stages/basic/basic_stages.h"

namespace brigade {
namespace {

struct LinesParams {
  InputPath file;
  std::int64_t max_bytes = 4096;
};

constexpr double kLineBytesMax = 16 << 20;
constexpr std::int64_t kExpectedBytes = 256;
constexpr std::size_t kReadBytes = 64 << 10;

Contract<LinesParams> lines_contract() {
  return Contract<LinesParams>("lines", "Reads lines of text as they arrive.")
      .producer()
      .param("file", &LinesParams::file, "a file, a named pipe or a device")
      .required()
      .param("max_bytes", &LinesParams::max_bytes, 1, kLineBytesMax,
             "most bytes of a line, without its line end")
      .outputs([](const LinesParams& params, const Ports&) -> Result<Ports> {
        return Ports{{"text", u8, {up_to(params.max_bytes, kExpectedBytes)}}};
      })
      .example("producer: lines\nparams: {file: /run/requests}\n");
}

class Lines : public Stage {
 public:
  Lines() = default;
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() override { shut(); }

  Result<void> open(const OpenContext& context) override {
    params_ = context.params<LinesParams>();
    replica_ = static_cast<std::uint64_t>(context.replica);
    replicas_ = static_cast<std::uint64_t>(context.replicas);
    fd_ = ::open(params_.file.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status {};
    if (fd_ < 0 || fstat(fd_, &status) != 0) return failure("cannot open ");
    if (S_ISDIR(status.st_mode))
      return Error{concat(params_.file.path, " is a folder, expected a file of lines")};
    is_file_ = S_ISREG(status.st_mode);
    if (!is_file_ && context.epochs > 1)
      return Error{concat(params_.file.path,
                          " is not a regular file and can be read only once, found epochs: ",
                          context.epochs, "; write `epochs: 1`")};
    if (!is_file_ && context.replicas > 1)
      return Error{concat(params_.file.path,
                          " is not a regular file and can have only one reader, found replicas: ",
                          context.replicas, "; omit `replicas:`")};
    if (is_file_) skip_ = context.samples_done;
    return {};
  }

  Result<void> epoch_end(const EpochEnd&) override {
    if (!is_file_) return {};
    if (lseek(fd_, 0, SEEK_SET) != 0) return failure("cannot rewind ");
    buffer_.clear();
    begin_ = searched_ = 0;
    line_ = skip_ = 0;
    refused_ = at_end_ = false;
    return {};
  }

  Result<Next> process(const Inputs&, Outputs& out) override {
    for (;;) {
      const std::size_t newline = buffer_.find('\n', searched_);
      if (newline == buffer_.npos && !at_end_) {
        searched_ = buffer_.size();
        if (searched_ - begin_ > static_cast<std::size_t>(params_.max_bytes) + 1) {
          begin_ = searched_;
          if (!std::exchange(refused_, true) && wants(line_ + 1)) return too_long(line_ + 1);
        }
        BRIGADE_ASSIGN(const bool more, read_more());
        if (!more && !at_end_) return Next::wait;
        continue;
      }
      if (begin_ == buffer_.size()) return Next::end;
      const std::size_t end = std::min(newline, buffer_.size());  // the last may lack its end
      const std::string_view text = std::string_view(buffer_).substr(begin_, end - begin_);
      begin_ = searched_ = std::min(end + 1, buffer_.size());
      ++line_;
      if (!std::exchange(refused_, false) && wants(line_)) return emit(text, out);
    }
  }

  Result<void> close() override {
    shut();
    return {};
  }

 private:
  /// Once for each line, which is counted from 1: it is this replica's, and was not given before.
  bool wants(std::uint64_t line) {
    if ((line - 1) % replicas_ != replica_) return false;
    if (skip_ == 0) return true;
    --skip_;
    return false;
  }

  Error failure(const char* what) const { return error_of_errno(concat(what, params_.file.path)); }

  void shut() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  Result<Next> emit(std::string_view text, Outputs& out) const {
    if (text.ends_with('\r')) text.remove_suffix(1);
    const auto size = static_cast<std::int64_t>(text.size());
    if (size > params_.max_bytes) return too_long(line_);
    BRIGADE_ASSIGN(const auto to, out["text"].resize<std::uint8_t>({size}));
    std::copy(text.begin(), text.end(), to.begin());
    return Next::emit;
  }

  Error too_long(std::uint64_t line) const {
    return Error{concat(params_.file.path, ":", line, ": the line has more than ",
                        params_.max_bytes, " bytes; raise `max_bytes:`")};
  }

  /// False: nothing is there now.
  Result<bool> read_more() {
    buffer_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
    pollfd ready{fd_, POLLIN, 0};
    if (poll(&ready, 1, 0) == 0) return false;  // a pipe that nobody has opened yet, or slow data
    const std::size_t size = buffer_.size();
    buffer_.resize(size + kReadBytes);
    const ssize_t count = retry([&] { return read(fd_, buffer_.data() + size, kReadBytes); });
    buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count < 0 && errno == EAGAIN) return false;
    if (count < 0) return failure("cannot read ");
    at_end_ = count == 0;
    return count > 0;
  }

  LinesParams params_;
  std::uint64_t replica_ = 0;
  std::uint64_t replicas_ = 1;
  int fd_ = -1;
  bool is_file_ = false;
  std::uint64_t skip_ = 0;  // lines that a predecessor has given
  std::string buffer_;
  std::size_t begin_ = 0;     // of the next line
  std::size_t searched_ = 0;  // no line ends before this
  std::uint64_t line_ = 0;
  bool refused_ = false;  // the line that is being read, for its length
  bool at_end_ = false;
};

}  // namespace

void add_lines(StageTypes& types) { types.add<Lines>(lines_contract()); }

}  // namespace brigade
