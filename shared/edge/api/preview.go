package api

import (
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

// EffectKind names the area that an effect belongs to.
type EffectKind string

// The kinds of effects.
const (
	EffectAudience   EffectKind = "audience"
	EffectEvaluation EffectKind = "evaluation"
	EffectQuota      EffectKind = "quota"
	EffectAudit      EffectKind = "audit"
	EffectNews       EffectKind = "news"
	EffectTerms      EffectKind = "terms"
	EffectAdvice     EffectKind = "advice"
)

// Effect is one consequence of a change.
type Effect struct {
	Kind    EffectKind `json:"kind" enum:"audience,evaluation,quota,audit,news,terms,advice" doc:"advice: organizers find new advice in the dataset; audience: the callers who see the subject; evaluation: runs are evaluated again, and of a sample of them how many would fail, complete and change places; quota: the caller is charged; audit: audit entries for organizers; news: people are notified of the subject by e-mail; terms: teams must accept the task's terms before they submit again, or download inputs for registrants"`
	Subject string     `json:"subject" doc:"path of the resource that the effect concerns. For a quota: its name in limits.quotas of GET /info, or the path of the task that sets it. For audit entries: their action"`
	Count   int64      `json:"count,omitempty" doc:"number of runs, entries, registrations, or units of the quota; negative if the quota is refunded"`
	Before  string     `json:"before,omitempty" doc:"for an audience: who sees it now; absent for a new resource"`
	After   string     `json:"after,omitempty" doc:"for an audience: who would see it: everyone, registrants, owners (and the organizers) or organizers"`
	// Detail and Parts are a problem.Text, which Saying sets.
	Detail string         `json:"detail,omitempty" doc:"description in the words of the API"`
	Parts  []problem.Part `json:"parts,omitempty" doc:"the parts of detail, in order; their values together equal detail. Missing if all of it is plain text"`
}

// Saying returns the effect with a description.
func (e Effect) Saying(text problem.Text) Effect {
	e.Detail, e.Parts = text.Detail, text.Parts
	return e
}

// preview is a store that records what a change would write, and writes nothing.
type preview struct {
	store.Store
	userID  string // of the caller
	mail    bool   // whether the server sends e-mails
	written map[store.Key]bool
	effects []Effect
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
	c.preview = &preview{Store: c.Store, userID: c.Caller.ID, mail: c.Info.Mail, written: map[store.Key]bool{}, effects: []Effect{}}
	env := *c.Env
	env.Store, env.Files = c.preview, unstored{env.Files}
	c.Env = &env
	c.Store = c.preview
	c.Viewer.Store = c.preview
}

// Previewing reports whether the call is a preview. Handlers compute effects only for previews.
func (c *Call) Previewing() bool { return c.preview != nil }

// Effect adds an effect of the change in c.Tx to the preview.
func (c *Call) Effect(e Effect) { c.effects = append(c.effects, e) }

// EffectOfAdvice adds effects if the change of a dataset or its task gives organizers new advice, or if the dataset no longer opens.
func (c *Call) EffectOfAdvice(was, is *record.DatasetItem, before, after *record.TaskItem) {
	e := Effect{Kind: EffectAdvice, Subject: "/v1/datasets/" + is.ID}
	if advice := is.Advise(after); advice != nil && !reflect.DeepEqual(was.Advise(before), advice) {
		c.Effect(e.Saying(advice.Text))
	}
	if is.NeverOpens(after) && !was.NeverOpens(before) {
		opens, closes := is.Window(after)
		c.Effect(e.Saying(problem.Sentence("The dataset %q opens at %s and closes at %s, which is no later: it takes no runs unless one of "+
			"both changes.", is.Name, opens, closes)))
	}
}

// EffectOfRelease adds an effect if the change moves the time from which others than organizers see the scores of a dataset.
func (c *Call) EffectOfRelease(d *record.DatasetItem, was, is record.Release) {
	if was == is {
		return
	}
	seers := map[bool]string{true: record.AudienceName(access.Organizers), false: record.AudienceName(d.Scope().Audience)}
	before, after := was.Withholds(c.Now()), is.Withholds(c.Now())
	e := Effect{Kind: EffectAudience, Subject: "/v1/datasets/" + d.ID, Before: seers[before], After: seers[after]}
	set := problem.Resource("dataset", d.ID).Named(d.Name)
	text := problem.Sentence("The scores of published runs on %s are withheld until its last window closes at %s.", set, is.At)
	switch {
	case !after:
		text = problem.Sentence("The scores of published runs on %s are shown: its last window closed at %s.", set, is.At)
	case is.Unknown:
		text = problem.Sentence("The scores of published runs on %s are withheld without an end, because no window closes.", set)
	}
	if after && !before {
		text.Append(problem.Sentence(" They leave the leaderboard, which shows them now."))
	}
	c.Effect(e.Saying(text))
}

// EffectsOfReleases adds an effect for each dataset of the task whose scores are shown at another time after a change of the task or its
// embargo. Handlers call it only for previews. The embargoes are nil if the task has none.
func (c *Call) EffectsOfReleases(ctx context.Context, t, changed *record.TaskItem, was, is *record.Embargo) error {
	datasets := store.Query{Index: record.ByTask, Partition: record.TaskDatasets(t.ID), Limit: record.MaxTaskDatasets}
	found, err := records.Query[record.DatasetItem](ctx, c.Store, datasets)
	for _, d := range found {
		c.EffectOfRelease(d, d.Release(t, was), d.Release(changed, is))
	}
	return err
}

// maxCounted bounds the records that a preview counts. countedAtOnce is the number of records that it reads at once.
const (
	maxCounted    = 2000
	countedAtOnce = 200
)

// CountEffect adds the effect e with the number of records of the sources that counts accepts. noun names one of them, such as run.
func CountEffect[R any, P records.Pointer[R]](ctx context.Context, c *Call, e Effect, noun string, sources []records.Source,
	counts func(P) bool) error {
	n, err := records.Count(ctx, c.Store, countedAtOnce, maxCounted, sources, counts)
	e.Count = int64(n)
	number := plural.Count(n, noun)
	if n == maxCounted {
		number += " or more"
	}
	text := problem.Text{Detail: e.Detail, Parts: e.Parts}
	text.Append(problem.Sentence(" That concerns %s.", number))
	c.Effect(e.Saying(text))
	return err
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
		if err := p.addEffect(w.Record, stored[i]); err != nil {
			return err
		}
	}
	return nil
}

// addEffect adds the effects of writing a record over the stored item, which may be missing.
func (p *preview) addEffect(written any, stored store.Item) error {
	switch r := written.(type) {
	case *record.Usage:
		if r.ID == p.userID {
			p.count(EffectQuota, r.Took.Kind, r.Took.Count)
			p.count(EffectQuota, "storedBytes", r.Took.Bytes)
		}
	case *record.Allowance:
		was, err := decoded(r, stored)
		if err != nil {
			return err
		}
		p.count(EffectQuota, "/v1/tasks/"+r.TaskID, int64(r.Total-was.Total))
	case *record.AuditEntry:
		p.count(EffectAudit, r.Action, 1)
	case *record.Event:
		if notice := r.Notice(); p.mail && notice.Detail != "" {
			p.effects = append(p.effects, Effect{Kind: EffectNews, Subject: r.Subject}.Saying(notice))
		}
	case scopedRecord:
		was, err := decoded(r, stored)
		if err != nil {
			return err
		}
		e := Effect{Kind: EffectAudience, Subject: pathOf(r), After: record.AudienceName(r.Scope().Audience)}
		if stored.Exists() {
			e.Before = record.AudienceName(was.Scope().Audience)
		}
		if e.Subject != "" && e.Before != e.After {
			p.effects = append(p.effects, e)
		}
	}
	return nil
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
	i := slices.IndexFunc(p.effects, func(e Effect) bool { return e.Kind == kind && e.Subject == subject })
	switch {
	case n == 0:
	case i < 0:
		p.effects = append(p.effects, Effect{Kind: kind, Subject: subject, Count: n})
	default:
		p.effects[i].Count += n
	}
}

// pathOf returns the path of the resource; empty: its kind has no audience of its own.
func pathOf(r record.Record) string {
	switch r := r.(type) {
	case *record.TaskItem:
		return "/v1/tasks/" + r.ID
	case *record.DatasetItem:
		return "/v1/datasets/" + r.ID
	case *record.SubmissionItem:
		return fmt.Sprintf("/v1/tasks/%s/submissions/%s", r.TaskID, r.ID)
	case *record.RunItem:
		return "/v1/runs/" + r.ID
	case *record.EvaluationItem:
		return "/v1/evaluations/" + r.ID
	default:
		return ""
	}
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
