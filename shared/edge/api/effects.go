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
	After   string     `json:"after,omitempty" doc:"for an audience: who would see it: everyone, registrants, team (and the organizers) or organizers"`
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

// moves says who gets or sees something before and after a change. who begins the sentence, such as "Who sees the task". Baselines have no
// team.
func moves(who problem.Text, before, after access.Audience, baseline bool) problem.Text {
	seers := func(a access.Audience) string {
		if baseline && a == access.Owners {
			return "the submitter and the organizers"
		}
		return audiences[a]
	}
	return problem.Sentence("%s: %s → %s.", who, seers(before), seers(after))
}

// EffectOfAudience adds an effect if other callers get or see something of the subject after the change. who begins its text, and more
// sentences follow.
func (c *Call) EffectOfAudience(subject string, who problem.Text, before, after access.Audience, more ...problem.Text) {
	if before == after {
		return
	}
	text := moves(who, before, after, false)
	for _, m := range more {
		text.Append(m)
	}
	of := Consequence{Kind: EffectAudience, Subject: subject, After: record.AudienceName(after)}
	if before != access.Nobody {
		of.Before = record.AudienceName(before)
	}
	c.Effect(of, text)
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
	if advice := is.Advise(after, c.Now()); advice != nil && !reflect.DeepEqual(was.Advise(before, c.Now()), advice) {
		c.Effect(of, advice.Text)
	}
	if is.NeverOpens(after) && !was.NeverOpens(before) {
		opens, closes := is.Window(after)
		c.Effect(of, problem.Sentence("The dataset %q opens at %s and closes at %s, which is no later: it takes no runs unless one of "+
			"the two changes.", is.Name, opens, closes))
	}
}

// maxCounted is the most records that a preview counts for one effect. maxRead is the most that it reads to count for all effects, and
// countedAtOnce how many it reads at once.
const (
	maxCounted    = 2000
	maxRead       = 20_000
	countedAtOnce = 200
)

// EachCounted calls do with the records of the sources, newest first, for an effect of a preview. It ends when do returns false, or when
// the preview has read maxRead records. whole reports whether it called do with all records. It holds a slot of Counting
// meanwhile.
func EachCounted[R any, P records.Pointer[R]](ctx context.Context, c *Call, sources []records.Source, do func(P) (more bool)) (
	whole bool, err error) {
	if c.preview.read == maxRead {
		return false, nil
	}
	whole = true
	err = c.Counting(ctx, func() error {
		return records.While(ctx, c.Store, countedAtOnce, sources, func(r P) bool {
			whole = c.preview.read < maxRead
			if !whole {
				return false
			}
			c.preview.read++
			whole = do(r)
			return whole
		})
	})
	return whole, err
}

// count returns how many of the records counts accepts, at most maxCounted, and whether the number is exact.
func count[R any, P records.Pointer[R]](ctx context.Context, c *Call, sources []records.Source, counts func(P) bool) (n int, exact bool,
	err error) {
	exact, err = EachCounted(ctx, c, sources, func(r P) bool {
		if counts(r) {
			n++
		}
		return n < maxCounted
	})
	return n, exact, err
}

// CountEffect adds an effect on the records of the sources that counts accepts, unless it finds none. say returns its text for a number
// with the noun.
func CountEffect[R any, P records.Pointer[R]](ctx context.Context, c *Call, of Consequence, noun string, sources []records.Source,
	counts func(P) bool, say func(counted string) problem.Text) error {
	n, exact, err := count(ctx, c, sources, counts)
	if n == 0 || err != nil {
		return err
	}
	of.Count = int64(n)
	c.Effect(of, say(Counted(n, exact, noun)))
	return nil
}

// CountRuns returns how many runs on the dataset counts accepts, with their noun, or "" if there are none.
func (c *Call) CountRuns(ctx context.Context, datasetID, noun string, counts func(*record.RunItem) bool) (string, error) {
	n, exact, err := count(ctx, c, records.Of(record.KindDataset, datasetID, record.KindRun), counts)
	if n == 0 && exact || err != nil {
		return "", err
	}
	return Counted(n, exact, noun), nil
}

// Counted returns the number of records with their noun. If it is not exact, there can be more.
func Counted(n int, exact bool, noun string) string {
	switch {
	case exact:
		return plural.Count(n, noun)
	case n == 0:
		return plural.Noun(noun)
	}
	return plural.Count(n, noun) + " or more"
}
