"""A byte-pair tokenizer in the form of llama.cpp's "llama" vocabularies (SentencePiece): of all neighbours whose join is
a token, the pair with the best score is joined first, the leftmost of equals; what is in no token becomes bytes."""
import collections
import re

SPACE = "\u2581"  # stands for a space inside tokens
UNKNOWN, START, END, TURN_START, TURN_END = 0, 1, 2, 259, 260
WORD = re.compile(f"{SPACE}?[^{SPACE}\n]+|{SPACE}|\n")  # no token reaches across these


class Tokenizer:
    def __init__(self, texts, size):
        """Learns `size` tokens from an iterable of texts."""
        self.tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
        self.tokens += ["<|im_start|>", "<|im_end|>"]
        self.types = [2, 3, 3] + [6] * 256 + [3, 3]  # unknown, control, byte; below: normal
        self.learn(texts, size)
        self.types += [1] * (len(self.tokens) - len(self.types))
        self.ids = {token: i for i, token in enumerate(self.tokens) if self.types[i] == 1}
        self.scores = [0.0] * 261 + [-float(i) for i in range(len(self.tokens) - 261)]
        self.cache = {}

    def learn(self, texts, size):
        counts = collections.Counter(word for text in texts for word in WORD.findall(text.replace(" ", SPACE)))
        words = [(list(word), count) for word, count in sorted(counts.items())]
        self.tokens += [SPACE, "\n"] + [chr(code) for code in range(33, 127)]
        while len(self.tokens) < size:
            pairs = collections.Counter()
            for parts, count in words:
                for pair in zip(parts, parts[1:]):
                    pairs[pair] += count
            best = max(pairs, key=lambda pair: (pairs[pair], pair))
            self.tokens.append("".join(best))
            words = [(join(parts, best), count) for parts, count in words]

    def word(self, word):
        """The ids of one match of WORD."""
        parts = list(word)
        while True:
            joins = [(self.ids.get(a + b, len(self.tokens)), i) for i, (a, b) in enumerate(zip(parts, parts[1:]))]
            best, at = min(joins, default=(len(self.tokens), 0))
            if best == len(self.tokens):
                break
            parts[at:at + 2] = [parts[at] + parts[at + 1]]
        out = []
        for part in parts:
            out += [self.ids[part]] if part in self.ids else [3 + byte for byte in part.encode()]
        return out

    def encode(self, text):
        out = []
        for word in WORD.findall(text.replace(" ", SPACE)):
            if word not in self.cache:
                if len(self.cache) > 200_000:
                    self.cache.clear()
                self.cache[word] = self.word(word)
            out += self.cache[word]
        return out


def join(parts, pair):
    out = []
    for part in parts:
        if out and out[-1] == pair[0] and part == pair[1]:
            out[-1] = pair[0] + pair[1]
        else:
            out.append(part)
    return out
