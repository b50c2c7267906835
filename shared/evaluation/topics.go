package evaluation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"assay/shared/blob"
	"assay/shared/problem"
	"assay/shared/record"
)

// newTopics returns the record of the values per topic of e, or nil when there are none. Values that are too large for a
// record it writes to the object store.
func newTopics(ctx context.Context, files blob.Store, e *record.EvaluationItem,
	values map[string]map[string]float64) (*record.Topics, error) {
	if len(values) == 0 {
		return nil, nil
	}
	t := &record.Topics{Meta: e.Meta, PerTopic: values}
	b, err := json.Marshal(values)
	if err != nil || len(b) <= record.MaxTopicBytes {
		return t, err
	}
	sum := sha256.Sum256(b)
	o := blob.Object{Size: int64(len(b)), SHA256: hex.EncodeToString(sum[:]), MediaType: "application/json"}
	o.Key = record.ObjectKey(record.HolderEvaluations, e.ID, o.SHA256)
	t.PerTopic, t.ObjectKey = nil, o.Key
	return t, files.Put(ctx, o, bytes.NewReader(b))
}

// ReadTopics returns the values of a record that newTopics made; nil when t is nil.
func ReadTopics(ctx context.Context, files blob.Store, t *record.Topics) (values map[string]map[string]float64, err error) {
	if t == nil || t.ObjectKey == "" {
		if t != nil {
			values = t.PerTopic
		}
		return values, nil
	}
	f, err := files.Open(ctx, t.ObjectKey)
	if err != nil {
		return nil, problem.Unavailable.Wrap(err, "The values per topic cannot be read at the moment. Try again in a few seconds.")
	}
	defer func() { _ = f.Close() }() // decoding has read all of it
	err = json.NewDecoder(f).Decode(&values)
	return values, err
}
