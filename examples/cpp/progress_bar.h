// A progress bar with the time that is left; on anything but a terminal it draws nothing.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

class ProgressBar {
 public:
  ProgressBar(std::string title, int total) : title_(std::move(title)), total_(total) {}

  void show(int done, double loss) {
    const double share = static_cast<double>(done) / total_;
    if (!terminal_ || static_cast<int>(share * 1000) == drawn_) return;
    drawn_ = static_cast<int>(share * 1000);
    const int left = static_cast<int>(seconds() / share * (1 - share) + 0.5);
    const auto filled = static_cast<std::size_t>(share * 30);
    std::printf("\r%s [%s%s] %3.0f %%  loss %.4f  %d:%02d left ", title_.c_str(),
                std::string(filled, '#').c_str(), std::string(30 - filled, '.').c_str(),
                share * 100, loss, left / 60, left % 60);
    std::fflush(stdout);
  }
  /// Clears the line for what comes after it.
  void finish() const {
    if (terminal_) std::printf("\r%*s\r", 90, "");
  }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::string title_;
  int total_;
  int drawn_ = -1;
  bool terminal_ = isatty(STDOUT_FILENO) != 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};
