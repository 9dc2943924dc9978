#pragma once

// Keeps the reports of a replica.

#include <vector>

#include "pipeline/process/reporting.h"

namespace brigade {

struct KeepingSink final : ReportSink {
  std::vector<Report> reports;
  bool full = false;

  void send(const Report& report) override { reports.push_back(report); }
  bool try_send(const Report& report) override {
    if (!full) send(report);
    return !full;
  }
};

}  // namespace brigade
