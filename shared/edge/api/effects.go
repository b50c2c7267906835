package api

import (
	"context"
	"path"
	"reflect"
	"strings"

	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/language/plural"
	"assay/shared/language/problem"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// EffectKind names the area that an effect belongs to.
type EffectKind string

// The kinds of effects.
const (
	EffectAudience   EffectKind = "audience"
	EffectEvaluation EffectKind = "evaluation"
	EffectQuota      EffectKind = "quota"
	EffectWindow     EffectKind = "window"
	EffectAudit      EffectKind = "audit"
	EffectNews       EffectKind = "news"
	EffectTerms      EffectKind = "terms"
	EffectAdvice     EffectKind = "advice"
)

// Consequence is an effect without its text.
type Consequence struct {
	Kind    EffectKind `json:"kind" enum:"audience,evaluation,quota,window,audit,news,terms,advice" doc:"advice: organizers find new advice in the dataset; audience: the callers who see the subject, or what leaderboards show of it; evaluation: runs are evaluated again, and of a sample of them how many would fail, complete and change places; quota: the caller is charged, or a team may have another number of runs; window: until when a team can submit; audit: audit entries for organizers; news: people are notified of the subject by e-mail; terms: teams must accept the task's terms before they submit again, or download inputs for registrants"`
	Subject string     `json:"subject" doc:"path of the resource that the effect concerns, or of the collection of several. For a quota: its name in limits.quotas of GET /info, or the path of the task or dataset that sets it. For audit entries: their action"`
	Count   int64      `json:"count,omitempty" doc:"number of resources, runs, events, entries, registrations, or units of the quota; negative if the quota is refunded"`
	Before  string     `json:"before,omitempty" doc:"for an audience: who sees it now; absent for a new resource"`
	After   string     `json:"after,omitempty" doc:"for an audience: who would see it: everyone, registrants, owners (and the organizers) or organizers"`
}

// Effect is one consequence of a change, with a text in whole sentences that people read without the other members.
type Effect struct {
	Consequence
	problem.Text
}

// add counts another resource of the same collection.
func (of *Consequence) add() {
	of.Count++
	if of.Count == 2 {
		of.Subject = path.Dir(of.Subject)
	}
}

// storedBytes is the subject of effects on the quota of stored bytes.
const storedBytes = "storedBytes"

// audiences are the audiences in the sentences of effects.
var audiences = [...]string{
	access.Nobody: "nobody", access.Organizers: "the organizers", access.Owners: "the team and the organizers",
	access.Registrants: "the organizers and the teams that they accepted", access.Everyone: "everyone",
}

// moves says who gets or sees something before and after a change. who begins the sentence, such as "Who sees the task".
func moves(who problem.Text, before, after access.Audience) problem.Text {
	return problem.Sentence("%s: %s → %s.", who, audiences[before], audiences[after])
}

// EffectOfAudience adds an effect if other callers get or see something of the subject after the change. who begins its text, and more
// sentences follow.
func (c *Call) EffectOfAudience(subject string, who problem.Text, before, after access.Audience, more ...problem.Text) {
	if before == after {
		return
	}
	text := moves(who, before, after)
	for _, m := range more {
		text.Append(m)
	}
	c.Effect(Consequence{Kind: EffectAudience, Subject: subject, Before: record.AudienceName(before), After: record.AudienceName(after)}, text)
}

// counted returns the text of an effect on a quota or the audit trail, which counts something.
func (e *Effect) counted() problem.Text {
	n, change := e.Count, "more"
	if n < 0 {
		n, change = -n, "less"
	}
	switch {
	case e.Kind == EffectAudit:
		return problem.Sentence("The audit trail gets %s.", plural.Count(n, "entry"))
	case e.Subject == storedBytes:
		return problem.Sentence("Your stored files take %s %s.", problem.Size(n), change)
	case strings.HasPrefix(e.Subject, "/"):
		return problem.Sentence("The quota of the team counts %s %s.", plural.Count(n, "run"), change)
	}
	return problem.Sentence("Your limit of %s in 24 hours counts %d %s.", record.MadeInWords(e.Subject), n, change)
}

// EffectOfAdvice adds effects if the change of a dataset or its task gives organizers new advice, or if the dataset no longer opens.
func (c *Call) EffectOfAdvice(was, is *record.DatasetItem, before, after *record.TaskItem) {
	of := Consequence{Kind: EffectAdvice, Subject: "/v1/datasets/" + is.ID}
	if advice := is.Advise(after); advice != nil && !reflect.DeepEqual(was.Advise(before), advice) {
		c.Effect(of, advice.Text)
	}
	if is.NeverOpens(after) && !was.NeverOpens(before) {
		opens, closes := is.Window(after)
		c.Effect(of, problem.Sentence("The dataset %q opens at %s and closes at %s, which is no later: it takes no runs unless one of "+
			"the two changes.", is.Name, opens, closes))
	}
}

// EffectOfRelease adds an effect if the change moves who sees the scores of a dataset now, and one if it moves from when others than
// organizers see them.
func (c *Call) EffectOfRelease(d *record.DatasetItem, was, is record.Release) {
	if was == is {
		return
	}
	of := Consequence{Kind: EffectAudience, Subject: "/v1/datasets/" + d.ID}
	set := problem.Resource("dataset", d.ID).Named(d.Name)
	seers := map[bool]access.Audience{true: access.Organizers, false: d.Scope().Audience}
	before, after := was.Withholds(c.Now()), is.Withholds(c.Now())
	var leave []problem.Text
	if after {
		leave = append(leave, problem.Sentence(" The runs leave the leaderboard, which shows them now."))
	}
	who := problem.Sentence("Who sees the scores of published runs on %s now", set)
	c.EffectOfAudience(of.Subject, who, seers[before], seers[after], leave...)
	switch {
	case !after:
	case is.Unknown:
		c.Effect(of, problem.Sentence("The scores of published runs on %s are withheld without an end, because no window closes.", set))
	case before && !was.Unknown:
		c.Effect(of, problem.Sentence("The scores of published runs on %s are shown from %s on instead of %s, when the last window closes.", set,
			is.At, was.At))
	default:
		c.Effect(of, problem.Sentence("The scores of published runs on %s are shown from %s on, when the last window closes.", set, is.At))
	}
}

// EffectsOfReleases adds the effects of EffectOfRelease for each dataset of the task after a change of the task or its embargo. Handlers
// call it only for previews. The embargoes are nil if the task has none.
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

// CountEffect adds an effect on the records of the sources that counts accepts, unless there are none. say returns its text for a number
// with the noun.
func CountEffect[R any, P records.Pointer[R]](ctx context.Context, c *Call, of Consequence, noun string, sources []records.Source,
	counts func(P) bool, say func(counted string) problem.Text) error {
	n, err := records.Count(ctx, c.Store, countedAtOnce, maxCounted, sources, counts)
	if n == 0 || err != nil {
		return err
	}
	of.Count = int64(n)
	number := plural.Count(n, noun)
	if n == maxCounted {
		number += " or more"
	}
	c.Effect(of, say(number))
	return nil
}
