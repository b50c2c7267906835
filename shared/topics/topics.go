// Package topics reads the values of evaluations by topic, which stand in the table or, when they are many, in the object
// store.
package topics

import (
	"context"
	"encoding/json"

	"assay/shared/blob"
	"assay/shared/problem"
	"assay/shared/record"
)

// Values returns the values of the record by topic and name of measure; nil when there is no record.
func Values(ctx context.Context, files blob.Store, t *record.Topics) (values map[string]map[string]float64, err error) {
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
	defer func() { _ = f.Close() }() // what was decoded is whole
	err = json.NewDecoder(f).Decode(&values)
	return values, err
}
