package server

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/service/records"
	"assay/shared/service/visibility"

	"google.golang.org/protobuf/proto"
)

var (
	anonymous   = access.Caller{}
	unrelated   = access.Caller{ID: recordtest.UserID("eve")}
	participant = access.Caller{ID: recordtest.UserID("bob")}
	admin       = access.Caller{ID: "admin", Admin: true}
)

func TestWatch_ShowsTheSameAsREST(t *testing.T) {
	hidden := record.AccessAttributes{}
	shown := record.AccessAttributes{Public: true, Published: true}
	inPrivateTask := record.AccessAttributes{Public: true, Published: true, PrivateTask: true}
	ofTeam := record.AccessAttributes{RegistrationID: "bob and mia"}
	both := []record.LogKind{record.ExecutionLog, record.EvaluationLog}
	executed := []record.LogKind{record.ExecutionLog}
	for _, tt := range []struct {
		name   string
		access record.AccessAttributes
		caller access.Caller
		sees   bool
		reads  []record.LogKind
	}{
		{"hidden", hidden, unrelated, false, nil},
		{"hidden", hidden, owner, true, executed},
		{"hidden", hidden, organizer, true, both},
		{"hidden", hidden, admin, true, both},
		{"of a team", ofTeam, participant, true, executed},
		{"of a team", ofTeam, access.Caller{ID: recordtest.UserID("mia")}, true, executed},
		{"of a team that its user left", ofTeam, owner, false, nil},
		{"blinded", record.AccessAttributes{Blinded: true}, owner, true, nil},
		{"blinded", record.AccessAttributes{Blinded: true}, organizer, true, both},
		{"public and blinded", record.AccessAttributes{Public: true, Published: true, Blinded: true}, anonymous, true, nil},
		{"public and not published", record.AccessAttributes{Public: true}, anonymous, true, nil},
		{"shown", shown, anonymous, true, executed},
		{"shown", shown, unrelated, true, executed},
		{"shown in a private task", inPrivateTask, unrelated, false, nil},
		{"shown in a private task", inPrivateTask, participant, true, executed},
		{"anonymous", record.AccessAttributes{Public: true, Published: true, Anonymous: true, Alias: "heron"}, unrelated, true, executed},
	} {
		r := newTestRun(t)
		team := r.dataset.Task.Register("bob", recordtest.With("mia"))
		r.change(func(run *record.RunItem) {
			tt.access.OrganizerID = run.Access.OrganizerID
			run.Access = tt.access
			run.Team = "Lakeside"
			run.EvaluationID = "an evaluation"
			if tt.access.RegistrationID != "" {
				run.Access.RegistrationID = team.ID
			}
			run.Diagnostics = []measure.Diagnostic{{Severity: measure.Error, Message: "reveals the truth"}}
		})
		r.append(record.ExecutionLog, "executed")
		r.append(record.EvaluationLog, "evaluated")
		r.setState(record.Failed)
		c := r.client(tt.caller)
		c.watch(-1)
		err := c.ends()
		if !tt.sees {
			if !errors.Is(err, visibility.Missing) || c.messages > 0 {
				t.Errorf("%s: %s gets %v, after %d messages", tt.name, tt.caller.ID, err, c.messages)
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
		stored, roles, err := visibility.Get[record.RunItem](t.Context(), &visibility.Viewer{Store: r.Store, Caller: tt.caller}, r.run.ID,
			record.RunKey)
		must(t, err)
		if want := protoRun(stored.For(recordtest.SightOf(stored, roles))); !proto.Equal(c.last, want) {
			t.Errorf("%s: %s is shown\n%v, and over REST\n%v", tt.name, tt.caller.ID, c.last, want)
		}
	}
}

// TestWatch_SendsWithheldLinesOnceTheRunIsUnblinded unblinds a run while its owner watches, and after the owner has resumed.
func TestWatch_SendsWithheldLinesOnceTheRunIsUnblinded(t *testing.T) {
	for _, resume := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newTestRun(t)
			blind := func(blinded bool) { r.change(func(run *record.RunItem) { run.Access.Blinded = blinded }) }
			blind(true)
			r.append(record.ExecutionLog, "one")
			c := r.watch(owner)
			r.append(record.ExecutionLog, "two")
			r.append(record.EvaluationLog, "secret")
			synctest.Wait()
			if resume {
				c.leave()
				c.watch(-1)
				synctest.Wait()
			}
			if len(c.lines) > 0 || c.last.GetLogTail() != "" {
				t.Fatalf("a blinded run reveals %v", c.lines)
			}
			blind(false)
			synctest.Wait()
			if len(c.lines[record.ExecutionLog]) != 2 {
				t.Errorf("after unblinding: %v", c.lines)
			}
			blind(true)
			r.append(record.ExecutionLog, "three")
			r.setState(record.Completed)
			if err := c.ends(); err != nil || c.fault != "" || len(c.lines[record.ExecutionLog]) != 2 || len(c.lines[record.EvaluationLog]) > 0 {
				t.Errorf("%v, %s, %v", err, c.fault, c.lines)
			}
		})
	}
}

// TestWatch_AsksTheDatasetWhichLinesItHides makes the dataset of a run wait for its close. The copies in the run do not say so yet.
func TestWatch_AsksTheDatasetWhichLinesItHides(t *testing.T) {
	for _, hides := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newTestRun(t)
			d := *r.dataset.DatasetItem
			if hides {
				recordtest.AfterClose(&d)
			}
			r.Replace(&d)
			r.append(record.ExecutionLog, "secret")
			r.setState(record.Completed)
			c := r.client(owner)
			c.watch(-1)
			err := c.ends()
			if err != nil || (len(c.lines) == 0) != hides || strings.Contains(c.last.GetLogTail(), "secret") == hides {
				t.Errorf("hides %t: %v, lines %v, tail %q", hides, err, c.lines, c.last.GetLogTail())
			}
		})
	}
}

// TestWatch_AsksTheDatasetForEachMessage makes the dataset wait for its close while the owner of a run watches.
func TestWatch_AsksTheDatasetForEachMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRun(t)
		r.append(record.ExecutionLog, "shown")
		c := r.watch(owner)
		synctest.Wait()
		d := *r.dataset.DatasetItem
		recordtest.AfterClose(&d)
		r.Replace(&d)
		r.append(record.ExecutionLog, "secret")
		r.change(func(run *record.RunItem) { run.EvaluationID = "an evaluation" })
		r.setState(record.Completed)
		if err := c.ends(); err != nil || len(c.lines[record.ExecutionLog]) != 1 || c.last.GetEvaluationId() != "" ||
			strings.Contains(c.last.GetLogTail(), "secret") {
			t.Errorf("%v: lines %v, tail %q, evaluation %q", err, c.lines, c.last.GetLogTail(), c.last.GetEvaluationId())
		}
	})
}

func TestWatch_HidingTheRunEndsTheStream(t *testing.T) {
	for name, hide := range map[string]func(*testRun){
		"its submission":  func(r *testRun) { r.change(func(run *record.RunItem) { run.Access.Public = false }) },
		"its task, alone": func(r *testRun) { r.write(func(run *record.RunItem) { run.Access.PrivateTask = true }) },
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newTestRun(t)
			r.change(func(run *record.RunItem) { run.Access.Public = true })
			c := r.watch(unrelated)
			synctest.Wait()
			hide(r)
			if err := c.ends(); !errors.Is(err, visibility.Missing) || c.messages != 1 {
				t.Errorf("%s: %v after %d messages", name, err, c.messages)
			}
		})
	}
}

// TestWatch_ShowsNothingThatWasHiddenMeanwhile blinds the run while a client is behind.
func TestWatch_ShowsNothingThatWasHiddenMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRun(t)
		c := r.client(owner)
		c.resume = make(chan struct{})
		c.watch(-1)
		synctest.Wait()
		r.append(record.ExecutionLog, "one")
		r.change(func(run *record.RunItem) { run.EvaluationID = "an evaluation" })
		r.change(func(run *record.RunItem) { run.Access.Blinded = true })
		r.setState(record.Failed)
		close(c.resume)
		if err := c.ends(); err != nil || len(c.lines) > 0 || c.last.GetEvaluationId() != "" || slices.Contains(c.tails, "one") {
			t.Errorf("%v: a blinded run reveals %v, %q", err, c.lines, c.tails)
		}
	})
}

// TestWatch_ReadsGrantsAgainAfterAMinute removes an organizer who watches from the members.
func TestWatch_ReadsGrantsAgainAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRun(t)
		c := r.watch(organizer)
		synctest.Wait()
		r.Commit(new(records.Tx).DeleteKeys(record.MembershipKey(organizer.ID, r.dataset.OrganizerID)))
		time.Sleep(maxGrantsAge)
		r.append(record.EvaluationLog, "one")
		synctest.Wait()
		time.Sleep(time.Second)
		r.append(record.EvaluationLog, "two")
		if err := c.ends(); !errors.Is(err, visibility.Missing) || len(c.lines[record.EvaluationLog]) != 1 {
			t.Errorf("%v, %v", err, c.lines)
		}
	})
}

// TestWatch_SaysWhenNoWorkerServes passes the minute after a worker was seen, without any change of the run.
func TestWatch_SaysWhenNoWorkerServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRun(t)
		r.setState(record.Queued)
		r.write(func(run *record.RunItem) { run.Access.Public = true })
		serving := &record.Serving{Meta: record.NewMeta(time.Now())}
		serving.Note(time.Now(), []record.Subqueue{r.run.Subqueue()})
		r.Put(serving)
		o, other := r.watch(owner), r.watch(participant)
		synctest.Wait()
		if len(o.shown().GetDiagnostics()) != 0 {
			t.Errorf("with a worker the run has %v", o.shown().GetDiagnostics())
		}
		time.Sleep(time.Minute + servingInterval + time.Second)
		synctest.Wait()
		want := protoDiagnostic(record.Unserved("", record.ExecuteImage))
		if got := o.shown(); len(got.GetDiagnostics()) != 1 || !proto.Equal(got.GetDiagnostics()[0], want) || got.GetVersion() != r.run.Version {
			t.Errorf("version %d has %v, want version %d and %v", got.GetVersion(), got.GetDiagnostics(), r.run.Version, want)
		}
		serving.Note(time.Now(), []record.Subqueue{r.run.Subqueue()})
		r.Replace(serving)
		time.Sleep(servingInterval + time.Second)
		synctest.Wait()
		if len(o.shown().GetDiagnostics()) != 0 {
			t.Errorf("with a worker again the run has %v", o.shown().GetDiagnostics())
		}
		r.setState(record.Failed)
		for _, c := range []*watchClient{o, other} {
			if err := c.ends(); err != nil || c.fault != "" {
				t.Error(err, c.fault)
			}
		}
		if other.messages != 2 || o.messages != 4 {
			t.Errorf("%d messages to another user, %d to the owner", other.messages, o.messages)
		}
	})
}
