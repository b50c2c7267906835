"""Exact match and F1 as SQuAD 2.0 counts them, written after its definition."""
import collections
import re
import string


def normal(text):
    """Normalize an answer as the paper of SQuAD describes it."""
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def squad(references, text):
    """Return exact match and F1 of the best reference, as evaluation 2.0 counts."""
    references = [r for r in map(normal, references) if r] or [[]]
    text = normal(text)
    best = 0.0
    for reference in references:
        common = sum((collections.Counter(reference) & collections.Counter(text)).values())
        if not reference or not text:
            best = max(best, float(reference == text))
        elif common:
            p, r = common / len(text), common / len(reference)
            best = max(best, 2 * p * r / (p + r))
    return float(text in references), best
