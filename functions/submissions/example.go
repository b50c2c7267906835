package submissions

import (
	"encoding/base64"

	"assay/shared/record"
)

// example is an upload of a run of retrieval that can be submitted as it is, with a dataset of the task.
var example = map[string]any{
	"type": record.UploadType, "title": "BM25", "visibility": record.Public,
	"files": []any{map[string]any{
		"datasetId": "01JZ3V7Q0D8T5RZ0S6R1W9C4XK", "name": "run.txt",
		"content": base64.StdEncoding.EncodeToString([]byte("1 Q0 baikal 1 12.5 bm25\n1 Q0 ladoga 2 9.1 bm25\n")),
	}},
}
