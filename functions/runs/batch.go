package runs

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/edge/api"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/service/visibility"
	"assay/shared/storage/store"
)

var dataset = api.Load[record.DatasetItem]("datasetId", record.DatasetKey)

// maxReviewed is the largest number of runs that one request reviews. Each takes a transaction, and a request has time for all of them.
const maxReviewed = 100

// ReviewsPatch selects runs of a dataset, by their ids or by a filter, and holds the change of their reviews.
type ReviewsPatch struct {
	RunIDs []string      `json:"runIds,omitempty" maxItems:"100" maxLength:"26" doc:"ids of the runs"`
	Filter *RunSelection `json:"filter,omitempty" doc:"instead of runIds: all runs that match every member, the newest first, 100 in each request. Left out are runs of rejected teams that the change would publish or unblind, unless registrationIds names the team; all other changes concern these runs too"`
	Cursor string        `json:"cursor,omitempty" maxLength:"26" doc:"with filter: cursor of the answer before"`
	Review ReviewChange  `json:"review" doc:"new values of members of each review; absent members stay unchanged"`
}

// RunSelection selects runs of a dataset. An empty member selects all runs.
type RunSelection struct {
	States          []record.RunState `json:"states,omitempty" maxItems:"7" enum:"awaiting-upload,queued,running,evaluating,completed,failed,cancelled" doc:"runs in one of the states"`
	UserIDs         []string          `json:"userIds,omitempty" maxItems:"50" maxLength:"26" doc:"runs that one of the users submitted"`
	RegistrationIDs []string          `json:"registrationIds,omitempty" maxItems:"50" maxLength:"26" doc:"runs of one of the teams"`
	Label           string            `json:"label,omitempty" maxLength:"200" doc:"runs whose label contains this text, ignoring case"`
}

// ReviewChange holds the new values of members of a review.
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
	Waits            *bool   `json:"waits,omitempty" doc:"true makes the runs wait for a review again; false marks them as reviewed without another change"`
}

// ReviewedRuns is the answer to a batch, with a result for each run.
type ReviewedRuns struct {
	Data []ReviewedRun `json:"data" doc:"results in the order of runIds, or the newest first"`
	Next string        `json:"cursor,omitempty" doc:"cursor of the next request; absent if no more runs match the filter"`
	// LeftOut is the number of runs of rejected teams that the filter left out, because the change would publish or unblind them.
	LeftOut int `json:"leftOut,omitempty" doc:"how many runs of rejected teams the filter left out, because the change would publish or unblind them"`
}

// ReviewedRun is the result for one run.
type ReviewedRun struct {
	RunID   string            `json:"runId"`
	Status  int               `json:"status" doc:"200, or the status of the problem"`
	Changed bool              `json:"changed" doc:"whether the request changed the review"`
	NoTeam  bool              `json:"noTeam,omitempty" doc:"true for a baseline without a team. With the audience owners, only the user who submitted it and the organizers see its results"`
	Review  *record.Review    `json:"review,omitempty" doc:"the current review"`
	Problem *problem.Document `json:"problem,omitempty" doc:"the reason why the review was not changed"`
}

// People returns the users whom the answer names.
func (r ReviewedRuns) People() (all []*record.Person) {
	for _, one := range r.Data {
		if one.Review != nil {
			all = append(all, one.Review.People()...)
		}
	}
	return all
}

// Check returns the faults of the batch.
func (b *ReviewsPatch) Check() []problem.Field {
	var fields problem.Fields
	fields.AddIf((len(b.RunIDs) == 0) == (b.Filter == nil), "",
		"give either {runIds} or {filter}: an empty {filter} passes all runs of the dataset")
	fields.AddIf(b.Cursor != "" && b.Filter == nil, "/cursor", "goes with {filter}")
	fields.AddIf(b.Review == ReviewChange{}, "/review", "changes nothing: give at least one member")
	for i, id := range b.RunIDs {
		fields.AddIf(slices.Contains(b.RunIDs[:i], id), "/runIds", "has %s twice", problem.Resource("run", id))
	}
	return fields
}

func (s *RunSelection) keeps(r *record.RunItem) bool {
	among := func(wanted []string, id string) bool { return len(wanted) == 0 || slices.Contains(wanted, id) }
	return (len(s.States) == 0 || slices.Contains(s.States, r.State)) && among(s.UserIDs, r.UserID) &&
		among(s.RegistrationIDs, r.Access.RegistrationID) && strings.Contains(strings.ToLower(r.Label), strings.ToLower(s.Label))
}

// showsMore reports whether a change of a review publishes or unblinds the run.
func showsMore(was, is record.ReviewDraft) bool {
	return is.Published && !was.Published || was.Blinded && !is.Blinded
}

// apply sets the members of the draft that the change has.
func (ch ReviewChange) apply(d *ReviewDraft) error {
	members, err := json.Marshal(ch)
	return errors.Join(err, json.Unmarshal(members, d))
}

// reviewRuns changes the reviews of runs of the dataset, one after the other.
func reviewRuns(ctx context.Context, c *api.Call, d *record.DatasetItem, b ReviewsPatch) (answer ReviewedRuns, err error) {
	ids := b.RunIDs
	if b.Filter != nil {
		if ids, answer.Next, err = selectRuns(ctx, c, d, b); err != nil {
			return answer, err
		}
	}
	answer.Data = make([]ReviewedRun, 0, len(ids))
	for _, id := range ids {
		one, leftOut, err := reviewRun(ctx, c, d, id, b)
		switch {
		case err != nil:
			return answer, err
		case leftOut:
			answer.LeftOut++
		default:
			answer.Data = append(answer.Data, one)
		}
	}
	return answer, nil
}

// selectRuns returns the next runs that match the filter, and the cursor of the answer.
func selectRuns(ctx context.Context, c *api.Call, d *record.DatasetItem, b ReviewsPatch) (ids []string, next string, err error) {
	selection := records.Selection{Sources: records.Of(record.KindDataset, d.ID, record.KindRun), Cursor: b.Cursor, Limit: maxReviewed}
	next, err = records.List(ctx, c.Store, selection, b.Filter.keeps, func(r *record.RunItem) (bool, error) {
		ids = append(ids, r.ID)
		return false, nil
	})
	return ids, next, err
}

// leavesOut reports whether the request leaves out a run: the filter selects the run but does not name its team, organizers rejected the
// team, and the changed review would publish or unblind the run. Otherwise the transaction conflicts if the registration changes.
func (b *ReviewsPatch) leavesOut(ctx context.Context, c *api.Call, r *record.ReviewItem, changed record.ReviewDraft) (bool, error) {
	id := r.Run.Access.RegistrationID
	if b.Filter == nil || !showsMore(r.ReviewDraft, changed) || id == "" || slices.Contains(b.Filter.RegistrationIDs, id) {
		return false, nil
	}
	team, err := records.Get[record.RegistrationItem](ctx, c.Store, store.Strong, record.RegistrationKey(r.Run.TaskID, id))
	switch {
	case team == nil || err != nil:
		return false, err
	case team.State == record.Rejected:
		return true, nil
	}
	c.Tx.Check(team)
	return false, nil
}

// refuseOther returns the problem that a run is on another dataset than the one that the path names. It names that dataset to the
// organizers of the run, and tells nobody else that the run exists.
func refuseOther(ctx context.Context, c *api.Call, r *record.ReviewItem) error {
	if err := c.Require(ctx, access.Organizer, r.Scope()); err != nil {
		return visibility.Missing
	}
	set, err := records.Require[record.DatasetItem](ctx, c.Store, c.Consistency, record.DatasetKey(r.Run.DatasetID), visibility.Missing)
	if err != nil {
		return err
	}
	return problem.Conflict.New("The run is on another dataset: %s. Review it there.", set.Part())
}

// reviewRun changes the review of one run, or reports that the request leaves the run out. It does nothing if the review has the requested
// values already and the run waits for no review.
func reviewRun(ctx context.Context, c *api.Call, d *record.DatasetItem, runID string, b ReviewsPatch) (of ReviewedRun, leftOut bool,
	err error) {
	var shown record.Review
	changed, noTeam := false, false
	err = c.Each(ctx, func() error {
		r, err := findReview(ctx, c, runID)
		if err == nil && r.Run.DatasetID != d.ID {
			err = refuseOther(ctx, c, r)
		}
		if err == nil {
			err = c.Require(ctx, access.Organizer, r.Scope())
		}
		if err != nil {
			return err
		}
		noTeam = r.Run.Access.RegistrationID == ""
		draft := ReviewDraft{ReviewDraft: r.ReviewDraft}
		if err := b.Review.apply(&draft); err != nil {
			return err
		}
		if leftOut, err = b.leavesOut(ctx, c, r, draft.ReviewDraft); leftOut || err != nil {
			return err
		}
		if err := problem.Check(draft.Check()); err != nil {
			return err
		}
		changed = draft != (ReviewDraft{ReviewDraft: r.ReviewDraft}) || r.Run.Todo() != nil
		if changed {
			if r, err = changeReview(ctx, c, r, draft); err != nil {
				return err
			}
		}
		shown, err = showReview(ctx, c, r)
		return err
	})
	if leftOut || err == nil {
		return ReviewedRun{RunID: runID, Status: http.StatusOK, Changed: changed, NoTeam: noTeam, Review: &shown}, leftOut, err
	}
	p, ok := errors.AsType[*problem.Error](err)
	if !ok {
		return of, false, err
	}
	document := c.Problem(p, "/v1/runs/"+runID+"/review")
	return ReviewedRun{RunID: runID, Status: document.Status, Problem: &document}, false, nil
}
