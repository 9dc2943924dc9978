#pragma once

// A first training program in Python, beside the graph of `brigade init`: a loop in torch over
// brigade.Loader that trains, evaluates and resumes. Pure: data in, text out.

#include <string>

#include "stages/image/guess/data_folder.h"

namespace brigade {

/// The name of its file.
inline constexpr const char* kTrainScript = "train.py";

/// `graph`: the name of the graph's file, in the same folder; graph_template() has written it for
/// Trainer::script. The data have labels, and `class_count` or `classes` says how many classes
/// there are. Names may hold anything: none of it is taken for Python.
std::string train_script(const std::string& graph, const FoundData& data);

}  // namespace brigade
