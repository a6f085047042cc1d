// The grammar of deploy/demo-model/corpus.txt, read as there: [rule] headings, an alternative a line, <rule> and {a|b}
// inside.
import {readFileSync} from 'node:fs';

const tokens = /<[a-z.]+>|\\.|[{|}]|[^<\\{|}]+|[^]/g;

export class Grammar {
  constructor(file) {
    this.rules = new Map();
    let lines;
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      const [, heading] = line.match(/^\[([a-z.]+)\]$/) ?? [];
      if (heading) this.rules.set(heading, lines = []);
      if (!heading) lines.push(line);
    }
  }

  // Names that begin with `start`, without it.
  names(start) {
    return [...this.rules.keys()].filter((name) => name.startsWith(start)).map((name) => name.slice(start.length));
  }

  // The lines of a rule without alternatives inside.
  lines(name) {
    return this.rules.get(name) ?? [];
  }

  // Matches exactly the texts of a rule.
  pattern(name) {
    return new RegExp(`^${this.source_(name)}$`);
  }

  source_(name) {
    return `(?:${this.rules.get(name).map((line) => this.line_source_(line)).join('|')})`;
  }

  line_source_(line) {
    return line.match(tokens)
        .map((token) => {
          if (token === '{') return '(?:';
          if (token === '}') return ')';
          if (token === '|') return '|';
          if (/^<[a-z.]+>$/.test(token)) return this.source_(token.slice(1, -1));
          const text = token === '\\n' ? '\n' : token.replace(/^\\/, '');
          return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
        })
        .join('');
  }
}
