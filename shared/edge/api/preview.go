package api

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/page"
	"assay/shared/domain/record"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// A preview is a POST or PATCH with preview=true. It goes through all steps of the change, but its store checks the conditions of writes
// without writing, and its files are not stored. So a preview is refused whenever the change would be, and otherwise describes the effects
// of the change. It neither claims an Idempotency-Key nor runs After functions. Previews have the rate limit of tools.

// previewFilter is the parameter that asks for a preview.
var previewFilter = page.Filter{Name: "preview", Type: page.Bool, Standalone: true}

// mediaPreview is the media type of a Preview.
const mediaPreview = "application/vnd.assay.preview+json"

// Preview is the answer to a request with preview=true.
type Preview struct {
	Status   int      `json:"status" doc:"the status of the answer to the change"`
	Resource any      `json:"resource" doc:"the answer to the change, without links to files and secrets. The change itself will create other ids and times"`
	Effects  []Effect `json:"effects" doc:"further effects of the change"`
}

// preview is a store that records what a change would write, and writes nothing.
type preview struct {
	store.Store
	userID  string // of the caller
	limits  func(*record.Usage) record.UsageLimits
	mail    bool // whether the server sends e-mails
	now     time.Time
	written map[store.Key]bool
	effects []Effect
	seen    map[group]int // the indexes in effects of resources that get another audience
	runs    map[groupedRun]bool
	told    map[string]string // teams that events notify, by the notice
	read    int               // records that EachCounted has read
}

// groupedRun is a run whose evaluations are counted in a group. A run has one for each version of the ground truth and evaluator.
type groupedRun struct {
	group
	id string
}

// group identifies resources of one kind whose audience changes in the same way.
type group struct {
	noun          string
	baseline      bool // baselines without a team
	before, after access.Audience
}

// previews reports whether the operation supports previews.
func (op *Operation) previews() bool { return op.Changes() && op.Method != http.MethodDelete }

// asksForPreview reports whether the request asks for a preview.
func (c *Call) asksForPreview() bool {
	return c.op.previews() && c.RawQuery(previewFilter.Name) == "true"
}

// query returns the query parameters of the operation, including preview if the operation supports it.
func (op *Operation) query() page.Spec {
	q := op.Query
	if op.previews() {
		q.Filters = append(slices.Clip(q.Filters), previewFilter)
	}
	return q
}

// beginPreview turns the call into a preview.
func (c *Call) beginPreview() {
	c.state.preview = true
	c.preview = &preview{Store: c.Store, userID: c.Caller.ID, written: map[store.Key]bool{}, effects: []Effect{},
		seen: map[group]int{}, runs: map[groupedRun]bool{}, told: map[string]string{}, mail: c.Info.Mail, now: c.Now()}
	c.preview.limits = func(u *record.Usage) record.UsageLimits {
		if c.Caller.Admin {
			return record.UsageLimits{}
		}
		return u.Limits(c.Quotas.Quotas.User)
	}
	env := *c.Env
	env.Store, env.Files = c.preview, unstored{env.Files}
	c.Env = &env
	c.Store = c.preview
	c.Viewer.Store = c.preview
}

// Previewing reports whether the call is a preview. Handlers compute effects only for previews.
func (c *Call) Previewing() bool { return c.preview != nil }

// Effect adds an effect of the change in c.Tx to the preview, with its text in whole sentences.
func (c *Call) Effect(of Consequence, text problem.Text) {
	c.effects = append(c.effects, Effect{of, text})
}

// writePreview answers a preview with the status and the resource of the answer to the change.
func (c *Call) writePreview(ctx context.Context, status int, resource any) error {
	if s, ok := resource.(shownOnce); ok {
		resource = s.WithoutSecret()
	}
	if err := c.resolvePeople(ctx, resource); err != nil {
		return err
	}
	body, err := Encode(Preview{status, resource, c.preview.effects})
	if err != nil {
		return err
	}
	return c.write(answer{status: http.StatusOK, mediaType: mediaPreview, body: body})
}

// Write checks the conditions of the writes. For keys that an earlier write of the preview would have written, all conditions hold.
func (p *preview) Write(ctx context.Context, writes ...store.Write) error {
	if err := store.ValidateWrite(ctx, writes); err != nil {
		return err
	}
	keys := make([]store.Key, len(writes))
	for i := range writes {
		keys[i] = writes[i].Item.Key
	}
	stored, err := p.Get(ctx, store.Strong, keys...)
	if err != nil {
		return err
	}
	conflict := new(store.ConflictError)
	for i := range writes {
		if !p.written[keys[i]] && !writes[i].Holds(stored[i].Version) {
			conflict.Failed = append(conflict.Failed, i)
		}
	}
	if len(conflict.Failed) > 0 {
		return conflict
	}
	for i, w := range writes {
		p.written[keys[i]] = p.written[keys[i]] || w.PutVersion() > 0
		if err := p.addEffect(ctx, w.Record, stored[i]); err != nil {
			return err
		}
	}
	return nil
}

// addEffect adds the effects of writing a record over the stored item, which may be missing.
func (p *preview) addEffect(ctx context.Context, written any, stored store.Item) error {
	switch r := written.(type) {
	case *record.Usage:
		if r.ID == p.userID {
			if p.limits(r).PerDay[r.Took.Kind] > 0 {
				p.count(EffectQuota, r.Took.Kind, r.Took.Count)
			}
			p.count(EffectQuota, storedBytes, r.Took.Bytes)
		}
	case *record.Allowance:
		was, err := decoded(r, stored)
		if err != nil {
			return err
		}
		more := int64(r.Total - was.Total)
		if more == 0 {
			return nil
		}
		limited, err := p.isLimited(ctx, was, r)
		if err != nil {
			return err
		}
		if limited {
			p.count(EffectQuota, "/v1/tasks/"+r.TaskID, more)
		}
	case *record.AuditEntry:
		p.count(EffectAudit, r.Action, 1)
	case *record.Event:
		if p.mail {
			p.notify(r)
		}
	case scopedRecord:
		was, err := decoded(r, stored)
		if err != nil {
			return err
		}
		before := access.Nobody
		if stored.Exists() {
			before = was.Scope().Audience
		}
		p.see(r, before, r.Scope().Audience)
	}
	return nil
}

// isLimited reports whether a quota limits the runs that only one of the allowances counts: a quota of the task, or of their dataset.
func (p *preview) isLimited(ctx context.Context, was, is *record.Allowance) (bool, error) {
	t, err := records.Get[record.TaskItem](ctx, p, store.Strong, record.TaskKey(is.TaskID))
	if err != nil || t != nil && t.Submissions.LimitsRuns() {
		return err == nil, err
	}
	var changed []string
	for id, used := range is.Datasets {
		if before := was.Datasets[id]; before == nil || before.Total != used.Total {
			changed = append(changed, id)
		}
	}
	sets, err := records.GetExisting[record.DatasetItem](ctx, p, store.Strong, changed, record.DatasetKey)
	return slices.ContainsFunc(sets, func(d *record.DatasetItem) bool { return d.Submissions.LimitsRuns() }), err
}

// decoded returns the record in the item. The record has the type of like. If the item is missing, the record is zero.
func decoded[R record.Record](like R, it store.Item) (R, error) {
	r := reflect.New(reflect.TypeOf(like).Elem()).Interface().(R)
	if !it.Exists() {
		return r, nil
	}
	return r, record.Decode(it, r)
}

type scopedRecord interface {
	record.Record
	Scope() access.Scope
}

// count adds n to the effect of the kind on the subject.
func (p *preview) count(kind EffectKind, subject string, n int64) {
	if n == 0 {
		return
	}
	i := slices.IndexFunc(p.effects, func(e Effect) bool { return e.Kind == kind && e.Subject == subject })
	if i < 0 {
		i = len(p.effects)
		p.effects = append(p.effects, Effect{Consequence: Consequence{Kind: kind, Subject: subject}})
	}
	e := &p.effects[i]
	e.Count += n
	e.Text = e.counted()
}

// notify adds an event, or counts it in the effect of another one that has the same notice.
func (p *preview) notify(of *record.Event) {
	notice, ofTeams := of.Notice(p.now, false), of.Notice(p.now, true)
	for i := range p.effects {
		e := &p.effects[i]
		if e.Kind != EffectNews || e.Detail != notice.Detail && e.Detail != ofTeams.Detail {
			continue
		}
		e.add()
		if p.told[notice.Detail] != of.RegistrationID {
			e.Text = ofTeams
		}
		return
	}
	p.told[notice.Detail] = of.RegistrationID
	p.effects = append(p.effects, Effect{Consequence{Kind: EffectNews, Subject: of.Subject, Count: 1}, notice})
}

// see counts a resource with its audience before and after the change. Resources of one kind with the same audiences have one effect.
// Evaluations count as their runs.
func (p *preview) see(r scopedRecord, before, after access.Audience) {
	s := seenAs(r)
	if s.noun == "" || before == after {
		return
	}
	g := group{noun: s.noun, baseline: s.baseline, before: before, after: after}
	if e, ok := r.(*record.EvaluationItem); ok {
		of := groupedRun{g, e.RunID}
		if p.runs[of] {
			return
		}
		p.runs[of] = true
	}
	i, found := p.seen[g]
	if !found {
		of := Consequence{Kind: EffectAudience, Subject: s.path, Count: 1, After: record.AudienceName(after)}
		if before != access.Nobody {
			of.Before = record.AudienceName(before)
		}
		p.seen[g] = len(p.effects)
		p.effects = append(p.effects, Effect{of, moves(problem.Sentence("Who sees the %s", s.words), before, after, s.baseline)})
		return
	}
	e := &p.effects[i]
	e.add()
	many := problem.Sentence("Who sees %s", plural.Count(e.Count, s.noun))
	if s.noun == "evaluation" {
		many = problem.Sentence("Who sees the evaluations of %s", plural.Count(e.Count, "run"))
	}
	if s.baseline {
		many.Append(problem.Sentence(" of baselines"))
	}
	e.Text = moves(many, before, after, s.baseline)
}

// seen is a resource that has an audience of its own.
type seen struct {
	path, noun string
	words      problem.Text
	baseline   bool // a baseline without a team
}

// seenAs returns how effects name the resource. The noun is empty for resources without an audience of their own.
func seenAs(r record.Record) seen {
	switch r := r.(type) {
	case *record.TaskItem:
		words := problem.Sentence("task %s", problem.Resource("task", r.ID).Named(r.Name))
		return seen{path: "/v1/tasks/" + r.ID, noun: "task", words: words}
	case *record.DatasetItem:
		words := problem.Sentence("dataset %s", r.Part())
		return seen{path: "/v1/datasets/" + r.ID, noun: "dataset", words: words}
	case *record.SubmissionItem:
		path := fmt.Sprintf("/v1/tasks/%s/submissions/%s", r.TaskID, r.ID)
		return entered(path, "submission", "", named("submission", r.ID, r.Title), &r.Access, r.Team)
	case *record.RunItem:
		return entered("/v1/runs/"+r.ID, "run", "", named("run", r.ID, r.Name()), &r.Access, r.Team)
	case *record.EvaluationItem:
		part := named("run", r.RunID, cmp.Or(r.Access.Title, r.Label, r.RunTag))
		return entered("/v1/evaluations/"+r.ID, "evaluation", " of the run", part, &r.Access, r.Team)
	default:
		return seen{}
	}
}

// entered returns how effects name a record of a submission. part names the record, or what of names.
func entered(path, noun, of string, part problem.Part, a *record.AccessAttributes, team string) seen {
	s := seen{path: path, noun: noun, baseline: a.Unregistered(), words: problem.Sentence("%s%s %s", noun, of, part)}
	if s.baseline {
		s.words.Append(problem.Sentence(" (a baseline)"))
	} else {
		s.words.Append(problem.Sentence(" of %s", a.TeamName(team)))
	}
	return s
}

// named returns the part for a resource, with its name if it has one.
func named(kind, id, name string) problem.Part {
	part := problem.Resource(kind, id)
	if name == "" {
		return part
	}
	return part.Named(name)
}

// unstored reads files, and discards writes. Links to objects that it did not store are empty.
type unstored struct{ blob.Store }

func (unstored) Put(context.Context, blob.Object, io.Reader) error { return nil }

func (unstored) Delete(context.Context, ...string) error { return nil }

func (unstored) SignGet(context.Context, string, string, string, time.Time) (link blob.Link, err error) {
	return link, nil
}

func (unstored) SignPut(context.Context, blob.Object, time.Time) (link blob.Link, err error) {
	return link, nil
}
