// The scheduler's numbers as Prometheus text. The names with the prefix `llamacpp:` are those of llama.cpp's own
// server, so that whatever watches one (Brink's `metrics: {engine: llamacpp}`) can watch this.
#pragma once

#include <string>

#include "proxy/model/engine.hpp"
#include "proxy/model/scheduler.hpp"

namespace brink::model {

std::string exposition(const Scheduler::Stats& stats, const Engine::Shape& shape);

}  // namespace brink::model
