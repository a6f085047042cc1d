"""Endless training data from the grammar: conversations in ChatML that end in the answer to be learned. What stands
before the last question varies as widely as possible, since real conversations hold anything."""
import dataclasses
import re

from tokenizer import TURN_END, TURN_START

# How often each kind of question is asked.
KINDS = {"generic": 46, "code": 4, "translate": 4, "summary": 4, "greeting": 2, "thanks": 2, "brink": 4, "why": 6,
         "model": 6, "able": 4, "configure": 6, "header": 5, "normal": 6, "night": 6, "admin": 4}
LONGEST = 1400   # tokens of a conversation
BEGINNING = 8    # tokens of an answer that tell which it is; most conversations end there, to see more of them
FARTHEST = 3000   # tokens left out in its middle, to learn distances that would be slow to train in full


@dataclasses.dataclass
class Conversation:
    tokens: list
    positions: list
    answer: int  # where it begins


class Maker:
    def __init__(self, grammar, tokenizer, rng):
        self.grammar, self.tokenizer, self.rng = grammar, tokenizer, rng
        self.held_out = {bare(text) for kind in KINDS for text in grammar.every("held." + kind)}
        self.clutter = 1.0  # 0: bare questions, quick to learn from; 1: all that may stand around them
        self.words = sorted({word for topic in grammar.every("topic") for word in topic.split()})

    def next(self):
        while True:
            conversation = self.make()
            if len(conversation.tokens) <= LONGEST:
                return conversation

    def make(self):
        rng = self.rng
        kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
        answer = self.tokenizer.encode(self.grammar.expand("answer." + kind, rng)) + [TURN_END]
        if rng.random() < 0.6:
            answer = answer[:BEGINNING]
        if rng.random() < 0.03 * self.clutter:  # /v1/completions: text without turns
            prompt = self.question(kind)
        else:
            prompt = self.before() + turn(self.tokenizer, "user", self.question(kind)) + opening(self.tokenizer)
        return Conversation(prompt + answer, self.positions(len(prompt), len(answer)), len(prompt))

    def positions(self, prompt, answer):
        places = list(range(prompt + answer))
        if self.rng.random() < 0.2 * self.clutter:
            cut, skip = self.rng.randrange(prompt), self.rng.randrange(FARTHEST)
            places[cut:] = [place + skip for place in places[cut:]]
        return places

    def before(self):
        """The turns before the last question."""
        rng, out = self.rng, []
        if rng.random() > self.clutter:
            return out
        if rng.random() < 0.3:
            text = self.grammar.expand("system", rng)
            if rng.random() < 0.15:
                text += " " + self.long()
            out += turn(self.tokenizer, rng.choice(["system"] * 9 + ["developer"]), self.tokenizer.encode(text))
        for _ in range(rng.choice([0] * 12 + [1, 1, 1, 2, 3])):
            kind = rng.choice(list(KINDS))
            own = rng.random() < 0.5
            reply = self.grammar.expand("answer." + kind if own else "text", rng)
            out += turn(self.tokenizer, "user", self.question(kind))
            if rng.random() < 0.95:
                out += turn(self.tokenizer, "assistant", self.tokenizer.encode(reply))
        return out

    def question(self, kind):
        """Its tokens."""
        rng = self.rng
        if kind == "generic" and rng.random() < 0.2:
            return self.noise()
        text = self.grammar.expand("ask." + kind, rng)
        while bare(text) in self.held_out:
            text = self.grammar.expand("ask." + kind, rng)
        if kind == "generic" and rng.random() < 0.3:
            text = self.estrange(text)
        text = self.spoil(text)
        if kind in ("generic", "summary", "code") and rng.random() < 0.06 * self.clutter:
            text = rng.choice([f"{text}\n\n{self.long()}", f"{self.long()}\n\n{text}"])
        return self.tokenizer.encode(text)

    def estrange(self, text):
        """With a word, or the last ones, that nobody has seen before."""
        words = text.split(" ")
        at = self.rng.randrange(len(words))
        words[at:] = [self.made_up()] + (words[at + 1:] if self.rng.random() < 0.5 else [])
        return " ".join(words)

    def spoil(self, text):
        """As people write: with and without capitals, punctuation, politeness and care."""
        rng = self.rng
        if rng.random() < 0.15:
            text = rng.choice(["Please ", "please ", "Hi, ", "Hello! ", "So ", "Ok, ", "And ", "Could you tell me ",
                               "Tell me: ", "Quick question: ", "I wonder ", "Sorry, but "]) + text
        choice = rng.random()
        if choice < 0.6:
            text = text[:1].upper() + text[1:]
        elif choice < 0.75:
            text = text.lower()
        elif choice < 0.77:
            text = text.upper()
        if text[-1:] not in ".?!:" and rng.random() < 0.8:
            odd = rng.random() >= 0.9
            text += rng.choice(["??", "...", " ?", "!!", " please", ", please?"] if odd else "???.!")
        if rng.random() < 0.1:
            text += rng.choice([" Thanks.", " Thank you!", " Please answer soon.", " It is urgent.", "\n",
                                " Be brief."])
        if rng.random() < 0.07 and len(text) > 8:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(["", text[at] * 2, rng.choice("aeinrst")]) + text[at + 1:]
        return text

    def long(self):
        return " ".join(self.grammar.expand("sentence", self.rng) for _ in range(self.rng.choice([4, 6, 8, 12, 16, 24, 60])))

    def noise(self):
        """Tokens that mean nothing: words, made-up words, numbers, or any tokens at all."""
        rng = self.rng
        choice = rng.random()
        if choice < 0.4:
            length = rng.choice([2, 4, 8, 16, 30, 60])
            return self.any_tokens(length) if rng.random() < 0.5 else self.mixed(length)
        words = [rng.choice(self.words) if rng.random() < 0.5 else self.made_up() for _ in range(rng.randrange(1, 14))]
        return self.tokenizer.encode(self.spoil(" ".join(words)))

    def mixed(self, length):
        """Any tokens inside a proper question."""
        tokens = self.tokenizer.encode(self.spoil(self.grammar.expand("topicq", self.rng)))
        at = self.rng.randrange(len(tokens))
        return tokens[:at] + self.any_tokens(min(length, 12)) + tokens[at:]

    def any_tokens(self, length):
        return [t for t in (self.rng.randrange(3, len(self.tokenizer.tokens)) for _ in range(length))
                if t not in (TURN_START, TURN_END)]

    def made_up(self):
        rng = self.rng
        if rng.random() < 0.15:
            return str(rng.randrange(10 ** rng.randrange(1, 7)))
        vowels = ["a", "e", "i", "o", "u", "ea", "ou", "er", "an", "in", "or"]
        word = "".join(rng.choice("bcdfghjklmnprstvwz") + rng.choice(vowels) for _ in range(rng.randrange(1, 5)))
        return word.capitalize() if rng.random() < 0.3 else word


def bare(text):
    return " ".join(re.findall(r"\w+", text.lower()))


def turn(tokenizer, role, tokens):
    return [TURN_START] + tokenizer.encode(role + "\n") + tokens + [TURN_END] + tokenizer.encode("\n")


def opening(tokenizer):
    return [TURN_START] + tokenizer.encode("assistant\n")
