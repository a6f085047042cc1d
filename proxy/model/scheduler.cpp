#include "proxy/model/scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace brink::model {

Scheduler::Scheduler(Engine& engine, std::size_t queue) : engine_(engine), shape_(engine.shape()), queue_(queue) {
  if (!shape_.generates) return;
  for (int i = 0; i < shape_.sequences; ++i) slots_.emplace_back(i);
}

bool Scheduler::submit(std::shared_ptr<Job> job) {
  {
    const std::scoped_lock lock(mutex_);
    // A burst meets free sequences that the evaluating thread has not filled yet: they count as room.
    const std::size_t room = queue_ + static_cast<std::size_t>(shape_.sequences);
    if (waiting_.size() + active_ >= room) {
      ++published_.refused;
      return false;
    }
    ++published_.requests;
    waiting_.push_back(std::move(job));
  }
  wake_.notify_one();
  return true;
}

void Scheduler::cancel(Job& job) {
  job.cancelled = true;
  const std::scoped_lock lock(mutex_);
  // Queued ones leave at once, so that they take no place from others; a running one ends before its next step.
  const auto is_job = [&](const std::shared_ptr<Job>& waiting) { return waiting.get() == &job; };
  published_.cancelled += std::erase_if(waiting_, is_job);
}

Scheduler::Stats Scheduler::stats() const {
  const std::scoped_lock lock(mutex_);
  Stats stats = published_;
  stats.active = active_;
  stats.waiting = waiting_.size();
  return stats;
}

void Scheduler::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
}

void Scheduler::run() {
  while (admit()) {
    const auto begin = std::chrono::steady_clock::now();
    embed();
    step();
    own_.busy_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    publish();
  }
}

// Waits for work and gives it out; false when it is time to end.
bool Scheduler::admit() {
  drop_cancelled();
  std::vector<std::shared_ptr<Job>> started;
  {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return stopping_ || !waiting_.empty() || active_ > 0; });
    if (stopping_) return false;
    std::size_t idle = 0;
    for (const Slot& slot : slots_) idle += slot.job ? 0 : 1;
    bool embedder_idle = !embedding_;
    // An embedding job does not wait behind those that need a sequence, nor the other way round.
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      const bool generates = (*it)->generates();
      if (generates ? idle == 0 : !embedder_idle) {
        ++it;
        continue;
      }
      if (generates) --idle;
      if (!generates) embedder_idle = false;
      started.push_back(std::move(*it));
      it = waiting_.erase(it);
    }
    active_ += started.size();
  }
  for (auto& job : started) assign(std::move(job));
  return true;
}

void Scheduler::drop_cancelled() {
  for (Slot& slot : slots_) {
    if (!slot.job || !slot.job->cancelled) continue;
    ++own_.cancelled;
    release(slot);
  }
  if (embedding_ && embedding_->cancelled) {
    ++own_.cancelled;
    end_embedding({});
  }
  publish();
}

void Scheduler::assign(std::shared_ptr<Job> job) {
  if (!job->generates()) {
    embedding_ = std::move(job);
    return;
  }
  const std::vector<Token>& prompt = job->inputs.front();
  Slot* best = nullptr;
  std::size_t best_common = 0;
  for (Slot& slot : slots_) {
    if (slot.job) continue;
    const std::size_t common = slot.common_prefix(prompt);
    // Of two with as much in common, the one that was not used for longer.
    if (best && (common < best_common || (common == best_common && slot.order > best->order))) continue;
    best = &slot;
    best_common = common;
  }
  // The last token is evaluated in any case: what follows it is what is asked for.
  const auto wanted = static_cast<int>(std::min(best_common, prompt.size() - 1));
  const auto kept = static_cast<std::size_t>(engine_.trim(best->sequence, wanted));
  best->held.resize(kept);
  best->upcoming.assign(prompt.begin() + static_cast<std::ptrdiff_t>(kept), prompt.end());
  best->gate = TextGate(job->stops);
  best->usage = {.prompt_tokens = static_cast<int>(prompt.size()), .cached_tokens = static_cast<int>(kept)};
  best->order = ++order_;
  best->job = std::move(job);
  own_.cached_tokens += kept;
}

void Scheduler::step() {
  const std::vector<Engine::Input> batch = make_batch();
  if (batch.empty()) return;
  ++own_.steps;
  own_.step_inputs += batch.size();
  const Engine::Decoded decoded = engine_.decode(batch);
  if (decoded == Engine::Decoded::stopped) return;
  for (Slot& slot : slots_) {
    if (!slot.job) continue;
    if (decoded == Engine::Decoded::failed) {
      fail(slot, "the model could not evaluate the request");
    } else if (slot.has_output) {
      advance(slot);
    }
  }
}

std::vector<Engine::Input> Scheduler::make_batch() {
  std::vector<Engine::Input> batch;
  std::vector<Slot*> prompts;
  for (Slot& slot : slots_) {
    slot.has_output = false;
    if (!slot.job) continue;
    if (slot.generating()) {
      add_inputs(slot, 1, batch);
    } else {
      prompts.push_back(&slot);
    }
  }
  std::sort(prompts.begin(), prompts.end(), [](const Slot* a, const Slot* b) { return a->order < b->order; });
  for (Slot* slot : prompts) {
    const std::size_t room = static_cast<std::size_t>(shape_.batch) - batch.size();
    const std::size_t count = std::min(slot->upcoming.size(), room);
    own_.prompt_tokens += count;
    add_inputs(*slot, count, batch);
  }
  return batch;
}

void Scheduler::add_inputs(Slot& slot, std::size_t count, std::vector<Engine::Input>& batch) {
  for (std::size_t i = 0; i < count; ++i) {
    batch.push_back(
        {.token = slot.upcoming[i], .position = static_cast<int>(slot.held.size()), .sequence = slot.sequence});
    slot.held.push_back(slot.upcoming[i]);
  }
  slot.upcoming.erase(slot.upcoming.begin(), slot.upcoming.begin() + static_cast<std::ptrdiff_t>(count));
  if (count == 0 || !slot.upcoming.empty()) return;
  batch.back().output = true;
  slot.output = batch.size() - 1;
  slot.has_output = true;
}

void Scheduler::advance(Slot& slot) {
  try {
    const std::optional<Token> token = slot.job->sampler->next(slot.output);
    if (!token || engine_.ends(*token)) {
      finish(slot, {.text = slot.gate.flush(), .finish = Finish::stop});
    } else {
      take(slot, *token);
    }
  } catch (const EngineError& error) {
    fail(slot, error.what());
  }
}

void Scheduler::take(Slot& slot, Token token) {
  ++slot.usage.completion_tokens;
  ++own_.completion_tokens;
  std::string text = slot.gate.push(engine_.piece(token));
  if (slot.gate.stopped()) {
    finish(slot, {.text = std::move(text), .finish = Finish::stop});
    return;
  }
  const bool is_full = slot.held.size() >= static_cast<std::size_t>(shape_.context);
  if (is_full || slot.usage.completion_tokens >= slot.job->max_tokens) {
    finish(slot, {.text = text + slot.gate.flush(), .finish = Finish::length});
    return;
  }
  slot.upcoming.assign(1, token);
  if (!text.empty()) slot.job->deliver({.text = std::move(text)});
}

void Scheduler::finish(Slot& slot, Delivery delivery) {
  delivery.usage = slot.usage;
  const std::shared_ptr<Job> job = slot.job;
  release(slot);
  publish();  // first: who has read an answer finds it counted
  if (!job->cancelled) job->deliver(std::move(delivery));
}

void Scheduler::fail(Slot& slot, const std::string& why) {
  ++own_.failed;
  engine_.trim(slot.sequence, 0);
  slot.held.clear();
  finish(slot, {.error = why});
}

void Scheduler::release(Slot& slot) {
  slot.job.reset();
  slot.upcoming.clear();
  const std::scoped_lock lock(mutex_);
  --active_;
}

void Scheduler::embed() {
  if (!embedding_) return;
  const std::vector<Token>& input = embedding_->inputs[embedded_.size()];
  try {
    embedded_.push_back(engine_.embed(input));
  } catch (const EngineError& error) {
    ++own_.failed;
    end_embedding({.error = error.what()});
    return;
  }
  own_.prompt_tokens += input.size();
  if (embedded_.size() < embedding_->inputs.size()) return;
  Delivery delivery{.embeddings = std::move(embedded_)};
  for (const auto& tokens : embedding_->inputs) delivery.usage.prompt_tokens += static_cast<int>(tokens.size());
  end_embedding(std::move(delivery));
}

void Scheduler::end_embedding(Delivery delivery) {
  const std::shared_ptr<Job> job = std::exchange(embedding_, nullptr);
  embedded_.clear();
  {
    const std::scoped_lock lock(mutex_);
    --active_;
  }
  publish();
  if (!job->cancelled) job->deliver(std::move(delivery));
}

void Scheduler::publish() {
  const std::scoped_lock lock(mutex_);
  published_.cancelled += std::exchange(own_.cancelled, 0);
  published_.failed = own_.failed;
  published_.prompt_tokens = own_.prompt_tokens;
  published_.cached_tokens = own_.cached_tokens;
  published_.completion_tokens = own_.completion_tokens;
  published_.steps = own_.steps;
  published_.step_inputs = own_.step_inputs;
  published_.busy_seconds = own_.busy_seconds;
  published_.held_tokens = 0;
  for (const Slot& slot : slots_) published_.held_tokens += slot.held.size();
}

}  // namespace brink::model
