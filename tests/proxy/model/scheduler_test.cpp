// The scheduler on a model that says what was asked for: each sequence repeats its prompt's last token plus one, and
// the test sees every batch.
#include "proxy/model/scheduler.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace brink::model {
namespace {

constexpr Token end_token = 99;
constexpr std::chrono::seconds wait_limit{10};  // by the system's clock: TSan does not know waits by another

class FakeEngine final : public Engine {
 public:
  explicit FakeEngine(Shape shape) : shape_(shape) {}

  Shape shape() const override { return shape_; }
  std::vector<Token> tokenize(std::string_view) const override { return {}; }
  std::vector<Token> tokenize(std::span<const Message>) const override { return {}; }
  std::string piece(Token token) const override { return std::to_string(token) + " "; }
  bool ends(Token token) const override { return token == end_token; }
  bool knows(Token) const override { return true; }
  std::size_t longest_piece() const override { return 1; }

  std::unique_ptr<Sampler> make_sampler(const Sampling&) const override {
    struct Next final : Sampler {
      explicit Next(const FakeEngine& of) : engine(of) {}
      std::optional<Token> next(std::size_t index) override {
        if (!engine.last_.at(index).output) throw EngineError("no output was asked for");
        return engine.last_[index].token + 1;
      }
      const FakeEngine& engine;
    };
    return std::make_unique<Next>(*this);
  }

  Decoded decode(std::span<const Input> inputs) override {
    last_.assign(inputs.begin(), inputs.end());
    for (const Input& input : inputs) {
      auto& held = memory_[input.sequence];
      EXPECT_EQ(input.position, static_cast<int>(held.size())) << "positions follow each other";
      held.push_back(input.token);
      EXPECT_LE(held.size(), static_cast<std::size_t>(shape_.context));
    }
    EXPECT_LE(inputs.size(), static_cast<std::size_t>(shape_.batch));
    batches.push_back(last_);
    if (on_decode) on_decode();
    return fail_next ? (fail_next = false, Decoded::failed) : Decoded::done;
  }

  int trim(int sequence, int size) override {
    auto& held = memory_[sequence];
    EXPECT_LE(static_cast<std::size_t>(size), held.size());
    if (!can_cut) size = 0;
    held.resize(static_cast<std::size_t>(size));
    return size;
  }

  std::vector<float> embed(std::span<const Token> tokens) override {
    embedded_after.push_back(batches.size());
    return {static_cast<float>(tokens.size())};
  }

  std::vector<std::vector<Input>> batches;
  std::vector<std::size_t> embedded_after;  // steps, for each embedding
  std::function<void()> on_decode;
  bool fail_next = false;
  bool can_cut = true;

 private:
  Shape shape_;
  std::vector<Input> last_;
  std::map<int, std::vector<Token>> memory_;
};

// What one job got.
struct Answer {
  std::shared_ptr<Job> job = std::make_shared<Job>();
  std::string text;
  Delivery last;
  bool done = false;
};

class SchedulerTest : public testing::Test {
 protected:
  void make(Engine::Shape shape, std::size_t queue) {
    engine = std::make_unique<FakeEngine>(shape);
    scheduler = std::make_unique<Scheduler>(*engine, queue);
  }
  void run() {
    thread = std::thread([this] { scheduler->run(); });
  }
  void TearDown() override {
    scheduler->stop();
    if (thread.joinable()) thread.join();
  }

  std::shared_ptr<Answer> ask(std::vector<Token> prompt, int max_tokens, std::vector<std::string> stops = {}) {
    auto answer = std::make_shared<Answer>();
    answer->job->inputs.push_back(std::move(prompt));
    answer->job->sampler = engine->make_sampler({});
    answer->job->max_tokens = max_tokens;
    answer->job->stops = std::move(stops);
    return submit(answer);
  }
  std::shared_ptr<Answer> submit(std::shared_ptr<Answer> asked) {
    asked->job->deliver = [this, weak = std::weak_ptr(asked)](Delivery delivery) {
      const auto answer = weak.lock();
      if (!answer) return;  // the test does not care
      const std::scoped_lock lock(mutex);
      EXPECT_FALSE(answer->done) << "nothing comes after the last";
      answer->text += delivery.text;
      answer->done = delivery.last();
      answer->last = std::move(delivery);
      changed.notify_all();
    };
    return scheduler->submit(asked->job) ? asked : nullptr;
  }
  void wait(const std::shared_ptr<Answer>& answer) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_until(lock, std::chrono::system_clock::now() + wait_limit, [&] { return answer->done; }));
  }

  std::unique_ptr<FakeEngine> engine;
  std::unique_ptr<Scheduler> scheduler;
  std::thread thread;
  std::mutex mutex;
  std::condition_variable changed;
};

TEST_F(SchedulerTest, AnswersUntilTheModelEnds) {
  make({.sequences = 1, .context = 64, .batch = 16}, 0);
  run();
  const auto answer = ask({1, 2, 95}, 50);
  wait(answer);
  EXPECT_EQ(answer->text, "96 97 98 ");
  EXPECT_EQ(answer->last.finish, Finish::stop);
  EXPECT_EQ(answer->last.usage.prompt_tokens, 3);
  EXPECT_EQ(answer->last.usage.completion_tokens, 3);
}

TEST_F(SchedulerTest, EndsAtMaxTokensAtAStopStringAndAtTheContext) {
  make({.sequences = 1, .context = 8, .batch = 16}, 0);
  run();
  const auto limited = ask({1}, 2);
  wait(limited);
  EXPECT_EQ(limited->text, "2 3 ");
  EXPECT_EQ(limited->last.finish, Finish::length);
  const auto stopped = ask({1}, 50, {"4 5"});
  wait(stopped);
  EXPECT_EQ(stopped->text, "2 3 ");
  EXPECT_EQ(stopped->last.finish, Finish::stop);
  const auto full = ask({1, 2, 3, 4, 5}, 50);
  wait(full);
  EXPECT_EQ(full->text, "6 7 8 9 ");  // the last one needs no place in the context
  EXPECT_EQ(full->last.finish, Finish::length);
}

// Submitted before the thread runs, so that all are there at the first step.
TEST_F(SchedulerTest, DecodesTogetherAndFillsTheRestOfTheBatchWithPrompts) {
  make({.sequences = 3, .context = 64, .batch = 6}, 0);
  const auto a = ask({1}, 6);
  const auto b = ask({10, 11, 12, 13, 14, 15, 16, 17, 18}, 2);
  const auto c = ask({30, 31}, 2);
  run();
  wait(a);
  wait(b);
  wait(c);
  EXPECT_EQ(a->text, "2 3 4 5 6 7 ");
  EXPECT_EQ(b->text, "19 20 ");
  EXPECT_EQ(c->text, "32 33 ");
  const auto count = [&](std::size_t step, Token from, Token to) {
    int found = 0;
    for (const auto& input : engine->batches.at(step)) found += input.token >= from && input.token < to ? 1 : 0;
    return found;
  };
  EXPECT_EQ(engine->batches[0].size(), 6U);
  EXPECT_EQ(count(0, 1, 10), 1);   // a's prompt
  EXPECT_EQ(count(0, 10, 30), 5);  // and the beginning of b's, which is older than c's
  EXPECT_EQ(count(1, 1, 10), 1);   // a goes on while the prompts are read
  EXPECT_EQ(count(1, 10, 30), 4);
  EXPECT_EQ(count(1, 30, 40), 1);
  EXPECT_EQ(count(2, 1, 10), 1);
  EXPECT_EQ(count(2, 10, 30), 1);
  EXPECT_EQ(count(2, 30, 40), 1);
}

TEST_F(SchedulerTest, UsesTheSequenceWithTheLongestCommonBeginning) {
  make({.sequences = 2, .context = 64, .batch = 16}, 4);
  run();
  wait(ask({1, 2, 3, 4, 5}, 1));
  wait(ask({20, 21, 22}, 1));
  const auto third = ask({1, 2, 3, 40}, 1);
  wait(third);
  EXPECT_EQ(third->last.usage.cached_tokens, 3);
  const auto same = ask({20, 21, 22}, 1);
  wait(same);
  EXPECT_EQ(same->last.usage.cached_tokens, 2) << "the last token of a prompt is evaluated in any case";
  EXPECT_EQ(scheduler->stats().cached_tokens, 5U);
  // With nothing in common the one that was not used for longer: it is the first's.
  wait(ask({50}, 1));
  const auto still = ask({20, 21, 22, 23}, 1);
  wait(still);
  EXPECT_EQ(still->last.usage.cached_tokens, 3);
}

TEST_F(SchedulerTest, AModelThatCannotCutItsMemoryStartsAnew) {
  make({.sequences = 1, .context = 64, .batch = 16}, 0);
  engine->can_cut = false;
  run();
  wait(ask({1, 2, 3}, 1));
  const auto again = ask({1, 2, 3}, 2);
  wait(again);
  EXPECT_EQ(again->last.usage.cached_tokens, 0);
  EXPECT_EQ(again->text, "4 5 ");
}

TEST_F(SchedulerTest, TheQueueIsBounded) {
  make({.sequences = 2, .context = 64, .batch = 16}, 1);
  std::vector<std::shared_ptr<Answer>> taken;
  for (Token i = 0; i < 3; ++i) taken.push_back(ask({i}, 3));
  EXPECT_EQ(ask({9}, 3), nullptr);
  EXPECT_EQ(scheduler->stats().refused, 1U);
  EXPECT_EQ(scheduler->stats().waiting, 3U);
  scheduler->cancel(*taken[1]->job);
  EXPECT_NE(ask({10}, 3), nullptr) << "a client that goes makes room";
  run();
  wait(taken[0]);
  wait(taken[2]);
  EXPECT_FALSE(taken[1]->done);
}

TEST_F(SchedulerTest, ACancelledAnswerEndsBeforeTheNextStep) {
  make({.sequences = 1, .context = 10000, .batch = 16}, 1);
  std::shared_ptr<Answer> answer;
  int steps = 0;
  engine->on_decode = [&] {
    if (++steps == 5) scheduler->cancel(*answer->job);
  };
  answer = ask({-5000}, 9000);
  const auto next = ask({1}, 1);
  run();
  wait(next);
  EXPECT_EQ(steps, 6);
  EXPECT_FALSE(answer->done);
  EXPECT_EQ(scheduler->stats().cancelled, 1U);
  EXPECT_EQ(scheduler->stats().active, 0U);
}

TEST_F(SchedulerTest, AFailureIsToldAndTheNextRequestIsAnswered) {
  make({.sequences = 1, .context = 64, .batch = 16}, 1);
  engine->fail_next = true;
  const auto failed = ask({1, 2}, 3);
  run();
  wait(failed);
  EXPECT_EQ(failed->last.error, "the model could not evaluate the request");
  const auto next = ask({1, 2}, 1);
  wait(next);
  EXPECT_EQ(next->text, "3 ");
  EXPECT_EQ(next->last.usage.cached_tokens, 0) << "nothing is known of the memory after a failure";
  EXPECT_EQ(scheduler->stats().failed, 1U);
}

TEST_F(SchedulerTest, EmbeddingsGoBetweenTheSteps) {
  make({.sequences = 1, .context = 64, .batch = 16}, 4);
  const auto text = ask({1}, 20);
  auto embedding = std::make_shared<Answer>();
  embedding->job->inputs = {{1, 2}, {1, 2, 3}};
  ASSERT_NE(submit(embedding), nullptr);
  run();
  wait(embedding);
  wait(text);
  EXPECT_EQ(engine->embedded_after, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(embedding->last.embeddings, (std::vector<std::vector<float>>{{2}, {3}}));
  EXPECT_EQ(embedding->last.usage.prompt_tokens, 5);
}

TEST_F(SchedulerTest, StopsInTheMiddle) {
  make({.sequences = 1, .context = 100000, .batch = 16}, 4);
  std::atomic<int> steps = 0;
  engine->on_decode = [&] {
    if (++steps == 3) scheduler->stop();
  };
  const auto answer = ask({-90000}, 90000);
  run();
  thread.join();
  EXPECT_EQ(steps, 3);
  EXPECT_FALSE(answer->done);
}

}  // namespace
}  // namespace brink::model
