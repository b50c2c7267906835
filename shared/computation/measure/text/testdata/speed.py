"""Print what a measure is of a truth and a run, and in how many seconds Python reads and compares them."""
import json
import sys
import time

import sacrebleu
from rouge_score import rouge_scorer
from squad import squad


def mean(values):
    return sum(values) / len(values)


def rouge(kind, **parameters):
    """Return what computes one of rouge-score's measures."""
    scorer = rouge_scorer.RougeScorer([kind], **parameters)
    return lambda pairs: mean([scorer.score_multi(references, text)[kind].fmeasure for references, text in pairs])


def corpus(metric):
    """Return what computes a metric of sacrebleu."""
    return lambda pairs: metric.corpus_score([text for _, text in pairs], list(zip(*[references for references, _ in pairs]))).score


MEASURES = {
    "TokenF1": lambda pairs: mean([squad(references, text)[1] for references, text in pairs]),
    "ROUGE1": rouge("rouge1"),
    "ROUGE2(stem=True)": rouge("rouge2", use_stemmer=True),
    "ROUGEL": rouge("rougeL"),
    "ROUGELsum": rouge("rougeLsum"),
    "BLEU": corpus(sacrebleu.BLEU()),
    "chrF": corpus(sacrebleu.CHRF()),
    "chrF(word_order=2)": corpus(sacrebleu.CHRF(word_order=2)),
}


def read(path):
    with open(path, encoding="utf-8") as lines:
        return {item["id"]: item["text"] for item in map(json.loads, lines)}


name, truth, run = sys.argv[1:]
start = time.perf_counter()
references, texts = read(truth), read(run)
value = MEASURES[name]([(references[i], texts[i]) for i in references])
print(json.dumps({"value": value, "seconds": time.perf_counter() - start}))
