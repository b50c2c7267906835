package datasets

import (
	"encoding/base64"

	"assay/shared/record"
)

// example is a dataset of retrieval that can be created as it is, with a task of the caller's.
var example = map[string]any{
	"taskId": "01JZ3V7Q0D8T5RZ0S6R1W9C4XK", "name": "Lakes", "split": record.Test,
	"inputs":    []any{file("queries.tsv", "text/tab-separated-values", "1\tdeepest lake\n")},
	"truths":    []any{file("qrels.txt", "text/plain", "1 0 baikal 2\n1 0 ladoga 0\n")},
	"runFormat": map[string]any{"kind": "trec-run"},
	"evaluator": map[string]any{"kind": "retrieval", "measures": []any{"nDCG@10", "AP"}, "primaryMeasure": "nDCG@10"},
}

func file(name, mediaType, content string) map[string]any {
	return map[string]any{"name": name, "mediaType": mediaType, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}
