package runs

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"assay/shared/access"
	"assay/shared/api"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/visibility"
)

var dataset = api.Load[record.DatasetItem]("datasetId", record.DatasetKey)

// maxReviewed is how many runs one request reviews: each takes a transaction, and all of them less time than a request has.
const maxReviewed = 100

// ReviewsPatch says which runs of a dataset to review, by their ids or by a filter, and how.
type ReviewsPatch struct {
	RunIDs []string      `json:"runIds,omitempty" maxItems:"100" maxLength:"26" doc:"ids of the runs"`
	Filter *RunSelection `json:"filter,omitempty" doc:"instead of runIds: the runs that pass all of its members, the newest first, 100 at a time"`
	Cursor string        `json:"cursor,omitempty" maxLength:"26" doc:"with filter: that of the answer before"`
	Review ReviewChange  `json:"review" doc:"what changes of each review; what is absent stays as it is"`
}

// RunSelection selects runs of a dataset; what is empty selects all.
type RunSelection struct {
	States          []record.RunState `json:"states,omitempty" maxItems:"7" enum:"awaiting-upload,queued,running,evaluating,completed,failed,cancelled" doc:"runs in one of the states"`
	UserIDs         []string          `json:"userIds,omitempty" maxItems:"50" maxLength:"26" doc:"runs that one of the users submitted"`
	RegistrationIDs []string          `json:"registrationIds,omitempty" maxItems:"50" maxLength:"26" doc:"runs of one of the teams"`
	Label           string            `json:"label,omitempty" maxLength:"200" doc:"runs whose label has this part, whatever the case"`
}

// ReviewChange has the members of a review that change.
type ReviewChange struct {
	Published        *bool   `json:"published,omitempty"`
	Blinded          *bool   `json:"blinded,omitempty"`
	Comment          *string `json:"comment,omitempty" maxLength:"65536" doc:"Markdown"`
	NoErrors         *bool   `json:"noErrors,omitempty"`
	MissingOutput    *bool   `json:"missingOutput,omitempty"`
	ExtraneousOutput *bool   `json:"extraneousOutput,omitempty"`
	InvalidOutput    *bool   `json:"invalidOutput,omitempty"`
	HasErrorOutput   *bool   `json:"hasErrorOutput,omitempty"`
	OtherErrors      *bool   `json:"otherErrors,omitempty"`
	Waits            *bool   `json:"waits,omitempty" doc:"true has the runs wait for a review as before; false says that somebody has looked at them, and changes nothing else"`
}

// ReviewedRuns is the answer for each run of a batch.
type ReviewedRuns struct {
	Data []ReviewedRun `json:"data" doc:"in the order of runIds, or the newest first"`
	Next string        `json:"cursor,omitempty" doc:"where to go on, while more runs pass the filter"`
}

// ReviewedRun is what became of one review.
type ReviewedRun struct {
	RunID   string            `json:"runId"`
	Status  int               `json:"status" doc:"200, or that of the problem"`
	Review  *record.Review    `json:"review,omitempty" doc:"as it is now"`
	Problem *problem.Document `json:"problem,omitempty" doc:"why it is not changed"`
}

// People are those that the answer names.
func (r ReviewedRuns) People() (all []*record.Person) {
	for _, one := range r.Data {
		if one.Review != nil {
			all = append(all, one.Review.People()...)
		}
	}
	return all
}

// Check says what is wrong with the batch.
func (b *ReviewsPatch) Check() []problem.Field {
	var fields problem.Fields
	fields.AddIf((len(b.RunIDs) == 0) == (b.Filter == nil), "", "give either runIds or filter: {} passes all runs of the dataset")
	fields.AddIf(b.Cursor != "" && b.Filter == nil, "/cursor", "goes with filter")
	fields.AddIf(b.Review == ReviewChange{}, "/review", "changes nothing: give at least one member")
	for i, id := range b.RunIDs {
		fields.AddIf(slices.Contains(b.RunIDs[:i], id), "/runIds", "has %s twice", problem.Clip(id, 30))
	}
	return fields
}

func (s *RunSelection) keeps(r *record.RunItem) bool {
	among := func(wanted []string, id string) bool { return len(wanted) == 0 || slices.Contains(wanted, id) }
	return (len(s.States) == 0 || slices.Contains(s.States, r.State)) && among(s.UserIDs, r.UserID) &&
		among(s.RegistrationIDs, r.Access.RegistrationID) && strings.Contains(strings.ToLower(r.Label), strings.ToLower(s.Label))
}

// apply changes the members that are there.
func (ch ReviewChange) apply(d *ReviewDraft) error {
	members, err := json.Marshal(ch)
	return errors.Join(err, json.Unmarshal(members, d))
}

// reviewRuns changes the reviews of runs of the dataset, one after the other.
func reviewRuns(ctx context.Context, c *api.Call, d *record.DatasetItem, b ReviewsPatch) (answer ReviewedRuns, err error) {
	ids := b.RunIDs
	if b.Filter != nil {
		selection := records.Selection{Sources: records.Of(record.KindDataset, d.ID, record.KindRun), Cursor: b.Cursor, Limit: maxReviewed}
		answer.Next, err = records.List(ctx, c.Store, selection, b.Filter.keeps, func(r *record.RunItem) (bool, error) {
			ids = append(ids, r.ID)
			return false, nil
		})
		if err != nil {
			return answer, err
		}
	}
	answer.Data = make([]ReviewedRun, len(ids))
	for i, id := range ids {
		if answer.Data[i], err = reviewRun(ctx, c, d, id, b.Review); err != nil {
			return answer, err
		}
	}
	return answer, nil
}

// reviewRun changes the review of one run, unless it is as the change has it and the run does not wait for a review.
func reviewRun(ctx context.Context, c *api.Call, d *record.DatasetItem, runID string, ch ReviewChange) (ReviewedRun, error) {
	var shown record.Review
	err := c.Each(ctx, func() error {
		r, err := findReview(ctx, c, runID)
		if err == nil && r.Run.DatasetID != d.ID {
			err = visibility.Missing
		}
		if err == nil {
			err = c.Require(ctx, access.Organizer, r.Scope())
		}
		if err != nil {
			return err
		}
		draft := ReviewDraft{ReviewDraft: r.ReviewDraft}
		if err := ch.apply(&draft); err != nil {
			return err
		}
		if err := problem.Check(draft.Check()); err != nil {
			return err
		}
		if draft != (ReviewDraft{ReviewDraft: r.ReviewDraft}) || r.Run.Todo() != nil {
			if r, err = changeReview(ctx, c, r, draft); err != nil {
				return err
			}
		}
		shown, err = api.ShowFor(ctx, c, r)
		return err
	})
	if err == nil {
		return ReviewedRun{RunID: runID, Status: http.StatusOK, Review: &shown}, nil
	}
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return ReviewedRun{}, err
	}
	document := c.Problem(p, "/v1/runs/"+runID+"/review")
	return ReviewedRun{RunID: runID, Status: document.Status, Problem: &document}, nil
}
