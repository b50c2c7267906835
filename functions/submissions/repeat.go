package submissions

import (
	"cmp"
	"context"
	"slices"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// SubmissionDraft is the body of a request that submits.
type SubmissionDraft struct {
	record.SubmissionDraft
	Again bool `json:"again,omitempty" doc:"makes a new submission, which is charged, even if the team has submitted the same before"`
}

// repeated is the team's latest submission of a draft, with its runs.
type repeated struct {
	submission *record.SubmissionItem
	runs       []*record.RunItem
}

// repeated returns the team's latest submission of the draft if all its runs stand, one for each dataset. Otherwise it returns nil, and
// the draft becomes a new submission.
func (adm *admission) repeated(ctx context.Context, c *api.Call) (*repeated, error) {
	if adm.latest == nil || adm.again {
		return nil, nil
	}
	found := repeated{runs: make([]*record.RunItem, len(adm.latest.RunIDs))}
	wanted := []records.Target{records.Into(&found.submission, record.SubmissionKey(adm.latest.SubmissionID))}
	for i, id := range adm.latest.RunIDs {
		wanted = append(wanted, records.Into(&found.runs[i], record.RunKey(id)))
	}
	if err := records.Read(ctx, c.Store, store.Strong, wanted...); err != nil {
		return nil, err
	}
	if found.submission == nil || slices.ContainsFunc(found.runs, func(r *record.RunItem) bool { return !adm.stands(r) }) {
		return nil, nil
	}
	return &found, nil
}

// stands reports whether the run exists and stands against the current ground truth of its dataset.
func (adm *admission) stands(r *record.RunItem) bool {
	if r == nil {
		return false
	}
	i := slices.IndexFunc(adm.datasets, func(d *record.DatasetItem) bool { return d != nil && d.ID == r.DatasetID })
	if i < 0 {
		return false
	}
	return r.Stands(cmp.Or(adm.truths[i], new(record.TruthVersion)).Number)
}

// show returns the submission as its team sees it, with the quota that is left now.
func (found *repeated) show(ctx context.Context, c *api.Call, adm *admission) (_ *record.Submission, err error) {
	v := found.submission.For(access.Owner)
	v.Quota = new(cmp.Or(adm.allowance, new(record.Allowance)).Quota(adm.task, adm.datasets, adm.participation(), c.Now()))
	v.Files, err = filesOf(ctx, c, found.runs, access.Owner)
	return &v, err
}
