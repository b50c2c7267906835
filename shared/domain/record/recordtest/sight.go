package recordtest

import (
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
)

// SightOf returns what a caller with the roles sees of the values of a run or an evaluation on a dataset that hides no columns.
func SightOf(of interface {
	Rated() (record.DatasetRef, record.AccessAttributes)
}, roles access.Role) record.Sight {
	_, attributes := of.Rated()
	var d record.DatasetItem
	d.Evaluator.Measures = []string{"AP"}
	return d.ValueRules(nil, nil).For(attributes, roles, time.Now())
}
