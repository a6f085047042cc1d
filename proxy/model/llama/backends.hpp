// Finds ggml's backends, which are libraries of their own that are chosen by the CPU at run time.
#pragma once

#include <string>

namespace brink::model {

// `folder`: where they lie; empty: beside libllama. Throws EngineError if there is none for this CPU.
void load_backends(const std::string& folder);

}  // namespace brink::model
