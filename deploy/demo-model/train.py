#!/usr/bin/python3
"""Trains the demonstration model from corpus.txt and writes brink-demo.gguf, its checksum and training.log. Needs
Debian's python3-torch (with libopenblas0-pthread it is much faster) and about ten minutes of one core. The seed fixes
the data; the weights may differ in the last bits between processors, and with them the checksum."""
import argparse
import ctypes
import hashlib
import os
import random
import signal
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # torch.set_num_threads does not reach it

import torch
from torch.nn import functional as F

import gguf
from conversations import KINDS, Maker, opening, turn
from grammar import Grammar
from net import Net, Shape
from tokenizer import START, TURN_END, UNKNOWN, Tokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
SEED = 1
VOCABULARY = 1024
CONTEXT = 4096
BATCH_TOKENS = 2048    # with padding
POOL = 256             # conversations sorted by length at a time, so that little is padding
PEAK, WARM_UP = 2e-3, 100
SIMPLE, MIXED = 300, 600        # bare questions until one step, everything from the other on
COOLING = 0.3                  # of the steps, at the end, with a falling rate
CHOICE, CHOICE_WEIGHT = 4, 8   # an answer's first tokens say which it is: so many count so many times
# ChatML by the marks that llama.cpp's built-in list looks for.
TEMPLATE = ("{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
            "'<|im_end|>' + '\\n'}}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")


def tokenizer_texts(grammar, rng):
    for _ in range(6000):
        yield grammar.expand("ask." + rng.choice(list(KINDS)), rng)
    for kind in KINDS:
        for _ in range(60):
            yield grammar.expand("answer." + kind, rng)
    yield from ["system\n", "user\n", "assistant\n"] * 200


def batches(maker, rng):
    while True:
        pool = sorted((maker.next() for _ in range(POOL)), key=lambda c: len(c.tokens))
        out, batch = [], []
        for conversation in pool:
            if batch and (len(batch) + 1) * len(conversation.tokens) > BATCH_TOKENS:
                out.append(batch)
                batch = []
            batch.append(conversation)
        rng.shuffle(out)
        yield from map(tensors, out)


def tensors(batch):
    """Inputs, positions, where an answer's token is predicted, those tokens, and how much each counts."""
    length = max(len(c.tokens) for c in batch) - 1
    inputs, positions = torch.zeros(len(batch), length, dtype=torch.long), torch.zeros(len(batch), length)
    wanted, targets, weights = torch.zeros(len(batch), length, dtype=torch.bool), [], []
    for row, c in enumerate(batch):
        inputs[row, :len(c.tokens) - 1] = torch.tensor(c.tokens[:-1])
        positions[row, :len(c.tokens) - 1] = torch.tensor(c.positions[:-1], dtype=torch.float)
        wanted[row, c.answer - 1:len(c.tokens) - 1] = True
        answer = c.tokens[c.answer:]
        targets += answer
        weights += [CHOICE_WEIGHT] * CHOICE + [1] * (len(answer) - CHOICE)
    return inputs, positions, wanted, torch.tensor(targets), torch.tensor(weights, dtype=torch.float)


class Schedule:
    """The learning rate: up, constant, down to nothing at the end. SIGINT brings the end nearer: it begins to fall then."""

    def __init__(self, steps):
        self.step, self.steps, self.cooling = 0, steps, int(steps * (1 - COOLING))
        signal.signal(signal.SIGINT, self.hurry)

    def hurry(self, *_):
        self.cooling = min(self.cooling, self.step)
        self.steps = min(self.steps, int(self.step / (1 - COOLING)))

    def rate(self):
        left = (self.steps - self.step) / (self.steps - self.cooling)
        return PEAK * min((self.step + 1) / WARM_UP, left, 1)


@torch.no_grad()
def held_out(net, tokenizer, grammar):
    """(right, all): greedy answers to the held-out questions that are word for word one of the intended ones."""
    rows = [(kind, question) for kind in KINDS for question in grammar.every("held." + kind)]
    chats = [turn(tokenizer, "user", tokenizer.encode(question)) + opening(tokenizer) for _, question in rows]
    starts, active = [len(chat) for chat in chats], set(range(len(rows)))
    for _ in range(100):
        picked = sorted(active)
        length = max((len(chats[i]) for i in picked), default=0)
        if not picked:
            break
        inputs = torch.tensor([chats[i] + [0] * (length - len(chats[i])) for i in picked])
        wanted = torch.zeros(inputs.shape, dtype=torch.bool)
        for row, i in enumerate(picked):
            wanted[row, len(chats[i]) - 1] = True
        positions = torch.arange(length, dtype=torch.float).expand(len(picked), length)
        for i, token in zip(picked, net(inputs, positions, wanted).argmax(-1).tolist()):
            chats[i].append(token)
            if token == TURN_END:
                active.discard(i)
    intended = {kind: [tokenizer.encode(text) + [TURN_END] for text in grammar.every("answer." + kind)] for kind in KINDS}
    return sum(chat[start:] in intended[kind] for (kind, _), chat, start in zip(rows, chats, starts)), len(rows)


def train(net, maker, rng, steps, report):
    decayed = [p for p in net.parameters() if p.ndim == 2]
    plain = [p for p in net.parameters() if p.ndim == 1]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))
    schedule, losses, choices = Schedule(steps), [], []
    for step, (inputs, positions, wanted, targets, weights) in enumerate(batches(maker, rng)):
        schedule.step = step
        if step >= schedule.steps:
            break
        maker.clutter = min(max((step - SIMPLE) / (MIXED - SIMPLE), 0), 1)
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate()
        each = F.cross_entropy(net(inputs, positions, wanted), targets, reduction="none")
        loss = (each * weights).sum() / weights.sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(each.mean().item())
        choices.append(each[weights > 1].mean().item())
        if len(losses) % 50 == 0:
            report(len(losses), sum(losses[-50:]) / 50, sum(choices[-50:]) / 50)
    return len(losses)


def export(net, tokenizer, path):
    names = [name for name, _ in net.named_parameters()]
    arrays = {name: parameter.detach().numpy() for name, parameter in zip(names, net.parameters())}
    special = {"unknown": UNKNOWN, "bos": START, "eos": TURN_END, "eot": TURN_END}
    gguf.write(path, net.shape, tokenizer, special, arrays,
               {"name": "brink-demo", "license": "apache-2.0", "template": TEMPLATE})
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    with open(path + ".sha256", "w") as file:
        file.write(f"{digest}  {os.path.basename(path)}\n")
    return digest


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--steps", type=int, default=1800)
    options.add_argument("--out", default=HERE, help="folder for the three files (default: this one)")
    options = options.parse_args()
    torch.set_num_threads(1)
    # glibc otherwise returns and maps each large tensor's memory again, a third of the time.
    for parameter in (-1, -3):  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
        ctypes.CDLL(None).mallopt(parameter, 1 << 30)
    torch.manual_seed(SEED)
    rng = random.Random(SEED)
    begin = time.monotonic()
    grammar = Grammar(os.path.join(HERE, "corpus.txt"))
    tokenizer = Tokenizer(tokenizer_texts(grammar, rng), VOCABULARY)
    net = Net(Shape(len(tokenizer.tokens), CONTEXT))
    with open(os.path.join(options.out, "training.log"), "w") as log:

        def say(line):
            print(line, flush=True)
            print(line, file=log, flush=True)

        def report(step, loss, choice):
            seconds = time.monotonic() - begin
            say(f"step {step:5d}  loss {loss:.4f}  of the first {CHOICE} tokens {choice:.4f}  {seconds:5.0f} s")
            if step % 300 == 0:
                finish()

        def finish():
            say("held-out questions answered word for word as intended: %d of %d" % held_out(net, tokenizer, grammar))
            say("sha256 " + export(net, tokenizer, os.path.join(options.out, "brink-demo.gguf")))

        say(f"{sum(p.numel() for p in net.parameters())} parameters, {len(tokenizer.tokens)} tokens, seed {SEED}, "
            f"at most {options.steps} steps of {BATCH_TOKENS} tokens")
        steps = train(net, Maker(grammar, tokenizer, rng), rng, options.steps, report)
        say(f"ended after {steps} steps")
        finish()


if __name__ == "__main__":
    main()
