"""Write reference.json.gz: random texts with the values of rouge-score, sacrebleu and SQuAD's definition, and Python's characters."""
import gzip
import json
import random
import re
import unicodedata
from pydoc_data import topics

import regex
import sacrebleu
from nltk.stem import porter
from rouge_score import rouge_scorer, tokenizers
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh
from squad import squad

random.seed(19)
WORDS = (
    "the a an The cat cats sat running runner happily relational conditional conflated hopping falling nationality U.S. "
    "3.14 1,000 10-20 1990s e-mail well-known don't (hi) \"quoted\" end. yes, no; A&amp;B &amp;lt; &lt;b&gt; &quot;x&quot; <skipped> a.. .b "
    "50% $5 C++ a_b ΣΑΣ Σ ὈΔΥΣΣΕΎΣ Α.Σ İstanbul \u212aelvin naïve NAÏVE e\u0301te a\u0301 中文 東京、 한국어 😀 … “so” €5 ½ Ⅷ ² « là » ١٢ ¿que? x\u200dy th\u00ade"
).split(" ")
SPACES = [" "] * 12 + ["  ", "\n", "-\n", " \n ", "\t", "\u00a0", "\u2003", "\x1c", "\u3000"]


def written(words):
    """Return the words as a text, with white space between them that varies."""
    text = "".join(word + random.choice(SPACES) for word in words)
    return text if random.random() < 0.2 else text.rstrip()


def drawn(vocabulary):
    return [random.choice(vocabulary) for _ in range(random.choice([0, 1, 2, 5, 9, 14, 20]))]


def changed(words, vocabulary):
    """Return words of which some are left out, replaced or moved."""
    words = [w if random.random() < 0.8 else random.choice(vocabulary) for w in words if random.random() < 0.9]
    if len(words) > 3 and random.random() < 0.3:
        at = random.randrange(len(words))
        words = words[at:] + words[:at]
    return words


SPACELESS = r"[[\p{L}\p{N}]&&[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]"
OTHERS = r"[[\p{L}\p{N}]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]"
UNICODE = regex.compile(rf"(?V1){SPACELESS}\p{{M}}*|{OTHERS}(?:{OTHERS}|\p{{M}})*")


class UnicodeTokenizer(tokenizers.Tokenizer):
    def tokenize(self, text):
        return UNICODE.findall(text.lower())


ROUGES = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
SCORERS = {
    "": rouge_scorer.RougeScorer(ROUGES),
    "stem=True": rouge_scorer.RougeScorer(ROUGES, use_stemmer=True),
    "tokenize=unicode": rouge_scorer.RougeScorer(ROUGES, tokenizer=UnicodeTokenizer()),
}


def of_example(references, text):
    exact, f1 = squad(references, text)
    values = {"EM": exact, "TokenF1": f1}
    for parameter, scorer in SCORERS.items():
        for kind, scores in scorer.score_multi(references or [""], text).items():
            for score in scores._fields:
                name = kind.replace("rouge", "ROUGE")
                parameters = ([] if score == "fmeasure" else ["score=" + score]) + ([parameter] if parameter else [])
                values[name + ("(" + ",".join(parameters) + ")" if parameters else "")] = float(getattr(scores, score))
    return values


CORPUS = {"chrF(word_order=2,beta=1,lowercase=True)": sacrebleu.CHRF(word_order=2, beta=1, lowercase=True)}
for lowercase in (False, True):
    for tokenize in ("13a", "char", "intl", "none", "zh"):
        parameters = ([] if tokenize == "13a" else ["tokenize=" + tokenize]) + (["lowercase=True"] if lowercase else [])
        CORPUS["BLEU" + ("(" + ",".join(parameters) + ")" if parameters else "")] = sacrebleu.BLEU(tokenize=tokenize, lowercase=lowercase)
for parameters in ({}, {"word_order": 2}, {"lowercase": True}, {"char_order": 3}):
    CORPUS["chrF" + ("(" + ",".join(f"{k}={v}" for k, v in parameters.items()) + ")" if parameters else "")] = sacrebleu.CHRF(**parameters)


def of_all(examples):
    most = max(len(e["references"]) for e in examples) or 1
    references = [[(e["references"] or [""])[i] if i < len(e["references"] or [""]) else None for e in examples] for i in range(most)]
    return {name: metric.corpus_score([e["text"] for e in examples], references).score for name, metric in CORPUS.items()}


def character_classes():
    """Return where runs of characters begin that are alike: by general category and by what Python says of them."""
    runs, last = [], ""
    for code in range(0x110000):
        c = chr(code)
        category = unicodedata.category(c)
        alike = category if category in ("Cn", "Cs") else category[0] + "w" * bool(re.match(r"\w", c)) + "s" * c.isspace()
        if alike != last:
            runs.append([code, alike])
        last = alike
    return runs


REAL = sorted({w for text in topics.topics.values() for w in text.split()})
cases = []
for i in range(500):
    vocabulary = random.choice([WORDS, WORDS, REAL, random.sample(WORDS, 6)])
    examples = []
    for _ in range(random.randint(1, 3)):
        base = drawn(vocabulary)
        references = [written(base)] + [written(changed(base, vocabulary)) for _ in range(random.choice([0, 0, 1, 2, 4]))]
        if random.random() < 0.1:
            references = random.choice([[], [""], references + [""]])
        text = random.choice(references + [written(changed(base, vocabulary))] * 6)
        examples.append({"references": references, "text": text, "values": of_example(references, text)})
    cases.append({"examples": examples, "values": of_all(examples)})

stemmer = porter.PorterStemmer()
suffixes = ["", "s", "es", "ies", "ed", "eed", "ied", "ing", "y", "ational", "alli", "fulli", "logi", "bli", "ization", "iveness", "icate", "ative",
            "ful", "ness", "ement", "ion", "sion", "tion", "ence", "ous", "e", "ll", "lle", "ying", "yy", "biliti", "ss", "sses"]
plain = sorted({w for text in topics.topics.values() for w in re.findall("[a-z0-9]+", text.lower())})
made = ["".join(random.choice("aeiouybcdlstzwx0") for _ in range(random.randint(1, 4))) + random.choice(suffixes) for _ in range(3000)]
LETTERS = "ΣΣΣαΑaA.':·\u0301\u00ad ,İ1\u02b0ªⅧǅ中"
reference = {
    "cases": cases,
    "stems": {w: stemmer.stem(w) for w in plain + made + list(stemmer.pool) if len(w) > 3},
    "classes": character_classes(),
    "chinese": [code for code in range(0x10FFFF + 1) if TokenizerZh._is_chinese_char(chr(code))],
    "lower": {c: c.lower() for c in map(chr, range(0x110000)) if c.lower() != c}
    | {w: w.lower() for w in ("".join(random.choices(LETTERS, k=random.randint(1, 7))) for _ in range(500))},
}
with gzip.GzipFile("reference.json.gz", "wb", mtime=0) as f:
    f.write(json.dumps(reference).encode())
