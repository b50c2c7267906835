package server

import (
	"errors"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/access"
	"assay/shared/measure"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/visibility"
)

var (
	anonymous   = access.Caller{}
	stranger    = access.Caller{ID: "stranger"}
	participant = access.Caller{ID: "participant"}
	admin       = access.Caller{ID: "admin", Admin: true}
)

// register lets the participant take part in the run's task.
func (p *played) register() {
	p.commit(new(records.Tx).Create(&record.Registered{Meta: record.NewMeta(p.clock), UserID: participant.ID, TaskID: p.run.TaskID, State: record.Accepted}))
}

func TestWhoWatchesWhat(t *testing.T) {
	hidden, open := record.AccessAttributes{}, record.AccessAttributes{Public: true, Published: true}
	both, executed := []record.LogKind{record.ExecutionLog, record.EvaluationLog}, []record.LogKind{record.ExecutionLog}
	for _, tt := range []struct {
		name     string
		standing record.AccessAttributes
		caller   access.Caller
		sees     bool
		reads    []record.LogKind
	}{
		{"hidden", hidden, anonymous, false, nil},
		{"hidden", hidden, stranger, false, nil},
		{"hidden", hidden, participant, false, nil},
		{"hidden", hidden, owner, true, executed},
		{"hidden", hidden, organizer, true, both},
		{"hidden", hidden, admin, true, both},
		{"blinded", record.AccessAttributes{Blinded: true}, owner, true, nil},
		{"blinded", record.AccessAttributes{Blinded: true}, organizer, true, both},
		{"public and blinded", record.AccessAttributes{Public: true, Published: true, Blinded: true}, anonymous, true, nil},
		{"public and not published", record.AccessAttributes{Public: true}, anonymous, true, nil},
		{"shown", open, anonymous, true, executed},
		{"shown", open, stranger, true, executed},
		{"shown in a private task", record.AccessAttributes{Public: true, Published: true, PrivateTask: true}, stranger, false, nil},
		{"shown in a private task", record.AccessAttributes{Public: true, Published: true, PrivateTask: true}, participant, true, executed},
		{"anonymous", record.AccessAttributes{Public: true, Published: true, Anonymous: true, Alias: "heron"}, stranger, true, executed},
	} {
		g := newGallery(t, "embedded", 0)
		p := g.play(t)
		p.register()
		p.change(func(r *record.RunItem) {
			tt.standing.OrganizerID = r.Access.OrganizerID
			r.Access, r.Team, r.EvaluationID = tt.standing, "Lakeside", "an evaluation"
			r.Diagnostics = []measure.Diagnostic{{Severity: measure.Error, Message: "tells of the truth"}}
		})
		p.append(record.ExecutionLog, "executed")
		p.append(record.EvaluationLog, "evaluated")
		p.end(record.Failed)
		c := g.client(tt.caller, p.run.ID)
		c.watch(-1)
		err := c.ends(t)
		if !tt.sees {
			if !errors.Is(err, visibility.Missing) || c.messages > 0 {
				t.Errorf("%s: %s is told %v, after %d messages", tt.name, tt.caller.ID, err, c.messages)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %s: %v", tt.name, tt.caller.ID, err)
		}
		for _, k := range record.LogKinds {
			if got := len(c.lines[k]) == 1; got != slices.Contains(tt.reads, k) {
				t.Errorf("%s: %s reads the %s log: %v", tt.name, tt.caller.ID, k, got)
			}
		}
		r, roles, err := visibility.Get[record.RunItem](t.Context(), &visibility.Viewer{Store: g.store, Caller: tt.caller}, p.run.ID, record.RunKey)
		if err != nil {
			t.Fatal(err)
		}
		if want := r.For(roles); !reflect.DeepEqual(c.last, want) {
			t.Errorf("%s: %s is shown\n%+v, and over REST\n%+v", tt.name, tt.caller.ID, c.last, want)
		}
	}
}

func TestNobodyWatchesARunThatIsNot(t *testing.T) {
	g := newGallery(t, "embedded", 0)
	c := g.client(admin, record.NewID(time.Now()))
	c.watch(-1)
	if err := c.ends(t); !errors.Is(err, visibility.Missing) {
		t.Error(err)
	}
}

// TestLinesThatWereWithheldComeOnceTheyMay unblinds a run while its owner watches, and after the owner took it up again.
func TestLinesThatWereWithheldComeOnceTheyMay(t *testing.T) {
	for _, again := range []bool{false, true} {
		g := newGallery(t, "embedded", 0)
		p := g.play(t)
		p.change(func(r *record.RunItem) { r.Access.Blinded = true })
		p.append(record.ExecutionLog, "one")
		c := g.client(owner, p.run.ID)
		c.watch(-1)
		p.append(record.ExecutionLog, "two")
		p.append(record.EvaluationLog, "secret")
		c.sees(t, p.run.Version)
		if again {
			c.cut()
			_ = c.ends(t)
			c.watch(-1)
		}
		if len(c.lines) > 0 || c.last.LogTail != "" {
			t.Fatalf("a blinded run tells %v", c.lines)
		}
		p.change(func(r *record.RunItem) { r.Access.Blinded = false })
		c.until(t, "lines", func() bool { return len(c.lines[record.ExecutionLog]) == 2 })
		p.change(func(r *record.RunItem) { r.Access.Blinded = true })
		p.append(record.ExecutionLog, "three")
		p.end(record.Completed)
		if err := c.ends(t); err != nil || c.wrong != "" || len(c.lines[record.ExecutionLog]) != 2 || len(c.lines[record.EvaluationLog]) > 0 {
			t.Errorf("%v, %s, %v", err, c.wrong, c.lines)
		}
	}
}

func TestARunThatIsHiddenEndsTheStream(t *testing.T) {
	g := newGallery(t, "embedded", 0)
	for name, hide := range map[string]func(*played){
		"its submission":  func(p *played) { p.change(func(r *record.RunItem) { r.Access.Public = false }) },
		"its task, alone": func(p *played) { p.carry(func(r *record.RunItem) { r.Access.PrivateTask = true }) },
	} {
		p := g.play(t)
		p.change(func(r *record.RunItem) { r.Access.Public = true })
		c := g.client(stranger, p.run.ID)
		c.watch(-1)
		c.sees(t, p.run.Version)
		seen := c.messages
		hide(p)
		if err := c.ends(t); !errors.Is(err, visibility.Missing) || c.messages != seen {
			t.Errorf("%s: %v after %d messages more", name, err, c.messages-seen)
		}
	}
}

// TestOlderImagesAreShownByTheRightsOfNow has a watcher who is behind when the run is blinded.
func TestOlderImagesAreShownByTheRightsOfNow(t *testing.T) {
	g := newGallery(t, "embedded", 0)
	p := g.play(t)
	c := g.client(owner, p.run.ID)
	wait := make(chan struct{})
	c.mu.Lock() // so that it does not take its first message
	go func() {
		<-wait
		c.mu.Unlock()
	}()
	c.watch(-1)
	for deadline := time.Now().Add(20 * time.Second); len(g.watched(p.run.ID)) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody watches")
		}
	}
	p.append(record.ExecutionLog, "one")
	p.change(func(r *record.RunItem) { r.EvaluationID = "an evaluation" })
	p.change(func(r *record.RunItem) { r.Access.Blinded = true })
	p.end(record.Failed)
	close(wait)
	if err := c.ends(t); err != nil || len(c.lines) > 0 || c.last.EvaluationID != "" || slices.Contains(c.tails, "one") {
		t.Errorf("%v: a blinded run tells %v, %q", err, c.lines, c.tails)
	}
}

// TestGrantsAreReadAnewAfterAMinute takes the membership of an organizer who watches.
func TestGrantsAreReadAnewAfterAMinute(t *testing.T) {
	g := newGallery(t, "embedded", 0)
	p := g.play(t)
	var late atomic.Int64
	c := g.client(organizer, p.run.ID)
	c.watchFor(-1, time.Hour, func() time.Time { return p.clock.Add(time.Duration(late.Load())) })
	c.sees(t, 1)
	p.commit(new(records.Tx).DeleteKey(p.membership()))
	late.Store(int64(maxGrantsAge))
	p.append(record.EvaluationLog, "one")
	c.sees(t, 2)
	late.Store(int64(maxGrantsAge + time.Second))
	p.append(record.EvaluationLog, "two")
	if err := c.ends(t); !errors.Is(err, visibility.Missing) || len(c.lines[record.EvaluationLog]) != 1 {
		t.Errorf("%v, %v", err, c.lines)
	}
}

// TestWatch_SaysWhenNoWorkerServes has the clock pass the minute after a worker was seen, without any change of the run.
func TestWatch_SaysWhenNoWorkerServes(t *testing.T) {
	g := newGallery(t, "embedded", 0)
	p := g.play(t)
	at := record.At(p.clock)
	p.change(func(r *record.RunItem) { r.State, r.QueuedAt, r.Type = record.Queued, &at, record.ImageType })
	seen := &record.Serving{Meta: record.NewMeta(p.clock)}
	seen.Note(p.clock, []record.Subqueue{p.run.Subqueue()})
	p.commit(new(records.Tx).Create(seen))
	var late atomic.Int64
	now := func() time.Time { return p.clock.Add(time.Duration(late.Load())) }
	o, everyone := g.client(owner, p.run.ID), g.client(participant, p.run.ID)
	p.carry(func(r *record.RunItem) { r.Access.Public = true })
	for _, c := range []*client{o, everyone} {
		c.watchFor(-1, time.Hour, now)
		c.sees(t, p.run.Version)
		t.Cleanup(c.cut)
	}
	says := func(want int) func() bool { return func() bool { return len(o.last.Diagnostics) == want } }
	o.until(t, "the run with a worker", says(0))
	late.Store(int64(time.Minute))
	o.until(t, "the run without a worker", says(1))
	if want := record.Unserved("", record.ExecuteImage); o.last.Diagnostics[0] != want || o.last.Version != p.run.Version {
		t.Errorf("version %d says %v, want version %d and %v", o.last.Version, o.last.Diagnostics, p.run.Version, want)
	}
	late.Store(0)
	o.until(t, "the run with a worker again", says(0))
	p.end(record.Failed)
	for _, c := range []*client{o, everyone} {
		if err := c.ends(t); err != nil || c.wrong != "" {
			t.Error(err, c.wrong)
		}
	}
	if everyone.messages != 2 || o.messages != 4 {
		t.Errorf("%d messages to everyone, %d to the owner", everyone.messages, o.messages)
	}
}
