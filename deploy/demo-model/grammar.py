"""The rules of corpus.txt: read, expanded at random, and listed in full."""
import itertools
import re

TOKEN = re.compile(r"<[a-z.]+>|\\.|[{|}]|[^<\\{|}]+|.", re.S)


class Grammar:
    """Rules by name. An expansion is text; `rng` is a random.Random, so that a seed fixes everything."""

    def __init__(self, path):
        self.rules, current = {}, None
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            if heading := re.fullmatch(r"\[([a-z.]+)\]", line):
                current = self.rules.setdefault(heading[1], [])
            elif current is None:
                raise ValueError(f"{path}:{number}: a line before the first [rule]")
            else:
                current.append(parse(line, f"{path}:{number}"))
        for name in self.rules:
            self.check(self.rules[name])

    def check(self, node):
        if isinstance(node, list):
            for part in node:
                self.check(part)
        elif isinstance(node, tuple) and node[0] == "rule" and node[1] not in self.rules:
            raise ValueError(f"there is no rule [{node[1]}]")
        elif isinstance(node, tuple) and node[0] == "any":
            self.check(node[1])

    def expand(self, name, rng):
        return self.text(rng.choice(self.rules[name]), rng)

    def text(self, node, rng):
        if isinstance(node, str):
            return node
        if isinstance(node, list):
            return "".join(self.text(part, rng) for part in node)
        kind, value = node
        return self.expand(value, rng) if kind == "rule" else self.text(rng.choice(value), rng)

    def every(self, name):
        """All texts of a rule; for rules with few of them."""
        return [text for line in self.rules[name] for text in self.every_of(line)]

    def every_of(self, node):
        if isinstance(node, str):
            return [node]
        if isinstance(node, list):
            return ["".join(parts) for parts in itertools.product(*map(self.every_of, node))]
        kind, value = node
        return self.every(value) if kind == "rule" else [text for part in value for text in self.every_of(part)]


def parse(line, where):
    """A list of texts, ("rule", name) and ("any", [list, ...])."""
    tokens = TOKEN.findall(line)
    at = 0

    def sequence(inside):
        nonlocal at
        out = []
        while at < len(tokens) and not (inside and tokens[at] in "|}"):
            token = tokens[at]
            at += 1
            if token == "{":
                choices = [sequence(True)]
                while at < len(tokens) and tokens[at] == "|":
                    at += 1
                    choices.append(sequence(True))
                if at == len(tokens):
                    raise ValueError(f"{where}: a brace is not closed")
                at += 1
                out.append(("any", choices))
            elif token == "}":
                raise ValueError(f"{where}: a brace closes nothing")
            elif re.fullmatch(r"<[a-z.]+>", token):
                out.append(("rule", token[1:-1]))
            elif token[0] == "\\":
                out.append("\n" if token == "\\n" else token[1:])
            else:
                out.append(token)
        return out

    return sequence(False)
