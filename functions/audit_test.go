package functions_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/service/records"
	"assay/shared/storage/store"
)

// Organizers cannot publish a team's private submissions. Their other changes of them are audited. Changes by teams are audited
// if leaderboards show them.
func TestAudit_KeepsChangesOfWhatTeamsOwn(t *testing.T) {
	s := newWithSubmission(t)
	before := len(s.entries(""))
	s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, s.submission, map[string]any{"visibility": "public"})
	s.change("olga", s.submission, map[string]any{"title": "Of an organizer"})
	s.change("olga", s.runPath, map[string]any{"label": "of an organizer"})
	s.change("tom", s.runPath, map[string]any{"label": "of its owner"})
	s.change("tom", s.submission, map[string]any{"visibility": "public"})
	s.change("olga", s.submission, map[string]any{"visibility": "private"})
	s.change("tom", s.registration, map[string]any{"anonymous": false})
	s.change("tom", s.registration, map[string]any{"contact": "tom@example.org"})
	s.change("olga", s.runPath, map[string]any{"state": "cancelled"})
	all := s.entries("")
	const want = "run.changed registration.changed submission.changed submission.changed run.changed submission.changed"
	if got := actions(all[:len(all)-before]); got != want {
		t.Fatalf("the entries are\n%s, want\n%s", got, want)
	}
	for i, sides := range [][2]string{
		{`"state":"queued"`, `"state":"cancelled"`}, {`"anonymous":true`, `"anonymous":false`},
		{`"visibility":"public"`, `"visibility":"private"`},
		{`"visibility":"private"`, `"visibility":"public"`}, {`"datasetId"`, `"label":"of an organizer"`},
		{`"title":""`, `"title":"Of an organizer"`},
	} {
		if e := all[i]; !strings.Contains(string(e.Before), sides[0]) || !strings.Contains(string(e.After), sides[1]) {
			t.Errorf("%s: before %s, after %s", e.Action, e.Before, e.After)
		}
	}
}

// Marks of final runs by teams and by organizers are audited. An entry says which run it is about after the run is deleted.
func TestAudit_RecordsMarksOfFinalRuns(t *testing.T) {
	f := newPhases(t, recordtest.Measures("nDCG@10"), func(d *record.DatasetItem) { d.FinalRuns = 1 })
	r := f.dataset.Run("ada", recordtest.Published, recordtest.Public, recordtest.Value("nDCG@10", 0.5))
	path := "/v1/runs/" + r.ID
	f.patch(http.StatusOK, "ada", path, map[string]any{"label": "bm25"})
	f.patch(http.StatusOK, "ada", path, map[string]any{"final": true})
	f.patch(http.StatusOK, "ada", path, map[string]any{"final": false, "label": "bm25 again"})
	f.patch(http.StatusOK, olga, path, map[string]any{"final": true})
	f.patch(http.StatusOK, olga, path+"/review", map[string]any{"published": false})
	f.Want(http.StatusNoContent, nil, olga, http.MethodDelete, path, nil)
	var got []string
	for _, e := range servertest.List[record.AuditEntry](f.Server, olga, "/v1/tasks/"+f.task.ID+"/audit-entries") {
		var before, after struct {
			record.AuditedRun
			Published bool
		}
		for side, text := range map[any][]byte{&before: e.Before, &after: e.After} {
			if err := json.Unmarshal(text, side); len(text) > 0 && err != nil {
				t.Fatal(err)
			}
		}
		if before.DatasetID != f.dataset.ID || before.Label == "" || before.RegistrationID != f.ada.ID {
			t.Errorf("%s does not say which run it is about: %s", e.Action, e.Before)
		}
		got = append(got, fmt.Sprint(e.Action, " ", e.ActorID == f.ada.UserID, before.Final, after.Final, before.Published))
	}
	want := []string{"run.deleted false true false false", "review.updated false false false true", "run.changed false false true false",
		"run.changed true true false false", "run.changed true false true false"}
	if !slices.Equal(got, want) {
		t.Errorf("the entries are\n%q, want\n%q", got, want)
	}
}

// The audit entries of the organizer record what was created, changed and deleted, even after all of it is deleted.
func TestAudit_EntriesOutliveTheirResources(t *testing.T) {
	s := newWithSubmission(t)
	s.change("olga", s.dataset, map[string]any{"split": "validation"})
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, s.runPath, nil)
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, s.submission, nil)
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, s.registration, nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, s.dataset, nil)
	of := s.Do("olga", http.MethodGet, s.task+"/audit-entries", nil)
	s.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, s.task, nil)
	s.Want(http.StatusNotFound, nil, "olga", http.MethodGet, s.task+"/audit-entries", nil)
	const want = "task.deleted dataset.deleted registration.deleted submission.deleted run.deleted dataset.changed review.updated " +
		"submission.created registration.created dataset.created task.created organizer.created"
	all := s.entries("")
	if got := actions(all); got != want {
		t.Fatalf("the entries are\n%s, want\n%s", got, want)
	}
	subjects := []string{s.task, s.dataset, s.registration, s.submission, s.runPath, s.dataset, s.runPath + "/review", s.submission,
		s.registration, s.dataset, s.task, s.organizer}
	for i, e := range all {
		if e.Subject != subjects[i] || e.OrganizerID != servertest.ID(s.organizer) ||
			strings.HasSuffix(e.Action, ".created") != (e.Before == nil) || strings.HasSuffix(e.Action, ".deleted") != (e.After == nil) {
			t.Errorf("%s: %+v", e.Action, e)
		}
		if e.Action != "task.deleted" && !strings.Contains(string(of.Body), e.ID) {
			t.Errorf("the task's own list has no %s", e.Action)
		}
	}
	tom := recordtest.UserID("tom")
	for query, want := range map[string]string{
		"?filter[action]=task.created,task.deleted": "task.deleted task.created",
		"?filter[actorId]=" + tom: "registration.deleted submission.deleted run.deleted " +
			"submission.created registration.created",
		"?filter[userId]=" + tom: "registration.deleted submission.deleted run.deleted " +
			"review.updated submission.created registration.created",
		"?filter[taskId]=" + servertest.ID(s.task) + "&filter[userId]=" +
			tom: "registration.deleted submission.deleted run.deleted review.updated submission.created registration.created",
		"?filter[taskId]=" + servertest.ID(s.organizer) + "&filter[action]=run.deleted": "",
	} {
		if got := actions(s.entries(query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// Entries store ids. Names come from the profiles. Only callers to whom the user gave the address see it.
func TestAudit_NamesAreJoinedWhenRead(t *testing.T) {
	s := newWithSubmission(t)
	s.change("root", s.task, map[string]any{"featured": true, "visibility": "private"})
	items, err := s.Store.Query(t.Context(), store.Query{Partition: record.AuditPartition(servertest.ID(s.organizer)), Limit: 100})
	if err != nil || len(items) < 6 {
		t.Fatal(len(items), err)
	}
	for _, it := range items {
		for _, name := range []string{"@", "olga", "tom", "root", "Heron"} {
			if strings.Contains(string(it.Data), name) {
				t.Errorf("an entry has %q: %s", name, it.Data)
			}
		}
	}
	for _, e := range s.entries("") {
		want := map[string]record.Person{
			recordtest.UserID("olga"): {Name: "olga", Email: "olga@example.org"},
			recordtest.UserID("tom"):  {Name: "tom", Email: "tom@example.org"},
			recordtest.UserID("root"): {Name: "root"}, // neither a member nor registered
		}[e.ActorID]
		if e.Actor == nil || e.Actor.Name != want.Name || e.Actor.Email != want.Email || len(e.Users) != len(e.UserIDs) {
			t.Errorf("%s by %s: %+v", e.Action, e.ActorID, e.Actor)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(string(s.Want(http.StatusOK, nil, "olga", http.MethodGet, s.task+"/audit-entries", nil,
		"Accept", "text/csv").Body))).ReadAll()
	if err != nil || len(rows) != len(items)+1 ||
		!slices.Equal(rows[0][:6], []string{"id", "createdAt", "actorId", "actorName", "actorEmail", "action"}) {
		t.Fatalf("%d rows: %q, %v", len(rows), rows, err)
	}
	if last := rows[2]; last[3] != "olga" || last[4] != "olga@example.org" || last[5] != "review.updated" || last[9] != "tom" {
		t.Errorf("%q", last)
	}
	if err := new(records.Tx).DeleteKeys(record.UserKey(recordtest.UserID("tom"))).Commit(t.Context(), s.Store); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{s.organizer + "/audit-entries", s.registration, s.runPath, s.submission} {
		if a := s.Want(http.StatusOK, nil, "olga", http.MethodGet, path, nil); strings.Contains(string(a.Body), "tom") {
			t.Errorf("%s names a person who was removed: %s", path, a.Body)
		}
	}
}

// Each task of an organizer lists the changes of members. No entries remain after the organizer is deleted.
func TestAudit_HasChangesOfMembersInEachTask(t *testing.T) {
	p := newPlatform(t, nil)
	tasks := []string{p.task}
	for range 6 {
		tasks = append(tasks, p.newTask(nil))
	}
	tom := recordtest.UserID("tom")
	p.Join("tom", p.Invite("olga", p.organizer, map[string]any{"role": "owner"}), nil)
	p.change("tom", tasks[0], map[string]any{"submissions": map[string]any{"total": 3}})
	p.change("tom", p.organizer, map[string]any{"members": []string{tom}})
	for i, task := range tasks {
		want := "members.changed members.changed invitation.created task.created organizer.created"
		if i == 0 {
			want = "members.changed task.rules-changed members.changed invitation.created task.created organizer.created"
		}
		var got []string
		for next := task + "/audit-entries?limit=1"; next != ""; { // the pages continue across both partitions
			var list []record.AuditEntry
			list, next = servertest.Page[record.AuditEntry](p.Server, "tom", next)
			got = append(got, list[0].Action)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("task %d has %s, want %s", i, got, want)
		}
		p.Want(http.StatusForbidden, nil, "olga", http.MethodGet, task+"/audit-entries", nil)
		p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, task, nil)
	}
	p.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, p.organizer, nil)
	for _, partition := range []string{
		record.AuditPartition(servertest.ID(p.organizer)), record.OrganizerKey(servertest.ID(p.organizer)).Partition} {
		left, err := p.Store.Query(t.Context(), store.Query{Partition: partition, Limit: 10, Consistency: store.Strong})
		if err != nil || len(left) > 0 {
			t.Errorf("%d items are left in %s: %v", len(left), partition, err)
		}
	}
}
