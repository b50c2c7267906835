package functions_test

import (
	"encoding/base64"
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"testing"

	"assay/functions"
	"assay/shared/api/servertest"
	"assay/shared/record"
	"assay/shared/records"
	"assay/shared/store"
)

// audited is a task of olivia's with a dataset, in which tom took part, and everything below it that an organizer may see.
type audited struct {
	*servertest.Server
	lab, task, dataset, registration, submission, run string // paths
}

func newAudited(t *testing.T) *audited {
	t.Helper()
	s := &audited{Server: servertest.New(t, functions.Operations()...)}
	s.lab = s.Create("olivia", "/v1/organizers", map[string]any{"name": "Lab"})
	s.task = s.Create("olivia", "/v1/tasks", map[string]any{"organizerId": s.id(s.lab), "name": "Lakes", "submissions": map[string]any{"perDay": 3, "total": 5}})
	s.dataset = s.Create("olivia", "/v1/datasets", newDatasetBody(s.id(s.task)))
	s.registration = s.Create("tom", s.task+"/registrations", map[string]any{"team": "Heron", "anonymous": true})
	s.submission = s.task + "/submissions/" + s.submit("tom", nil).ID
	var shown record.Submission
	s.Want(http.StatusOK, &shown, "tom", http.MethodGet, s.submission, nil)
	s.run = "/v1/runs/" + shown.RunIDs[0]
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.run+"/review", map[string]any{"comment": "late"})
	return s
}

func (s *audited) id(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// submit submits an image, with the members.
func (s *audited) submit(user string, members map[string]any) (made record.Submission) {
	body := map[string]any{"type": "image", "image": "registry.example.org/a:1", "datasetIds": []string{s.id(s.dataset)}}
	for name, value := range members {
		body[name] = value
	}
	s.Want(http.StatusCreated, &made, user, http.MethodPost, s.task+"/submissions", body)
	return made
}

func (s *audited) entries(user, query string) (list []record.AuditEntry) {
	var p struct{ Data []record.AuditEntry }
	s.Want(http.StatusOK, &p, user, http.MethodGet, s.lab+"/audit-entries"+query, nil)
	return p.Data
}

func actions(list []record.AuditEntry) string {
	var all []string
	for _, e := range list {
		all = append(all, e.Action)
	}
	return strings.Join(all, " ")
}

// Organizers cannot publish what is a team's, and whatever else they change of it is kept, as is what teams change that
// leaderboards show.
func TestAudit_KeepsChangesOfWhatTeamsOwn(t *testing.T) {
	s := newAudited(t)
	before := len(s.entries("olivia", ""))
	s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPatch, s.submission, map[string]any{"visibility": "public"})
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.submission, map[string]any{"title": "Of an organizer"})
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.run, map[string]any{"label": "of an organizer"})
	s.Want(http.StatusOK, nil, "tom", http.MethodPatch, s.run, map[string]any{"label": "of its owner"})
	s.Want(http.StatusOK, nil, "tom", http.MethodPatch, s.submission, map[string]any{"visibility": "public"})
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.submission, map[string]any{"visibility": "private"})
	s.Want(http.StatusOK, nil, "tom", http.MethodPatch, s.registration, map[string]any{"anonymous": false})
	s.Want(http.StatusOK, nil, "tom", http.MethodPatch, s.registration, map[string]any{"contact": "tom@example.org"})
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.run, map[string]any{"state": "cancelled"})
	all := s.entries("olivia", "")
	const want = "run.changed registration.changed submission.changed submission.changed run.changed submission.changed"
	if got := actions(all[:len(all)-before]); got != want {
		t.Fatalf("the entries are\n%s, want\n%s", got, want)
	}
	for i, sides := range [][2]string{
		{`"state":"queued"`, `"state":"cancelled"`}, {`"anonymous":true`, `"anonymous":false`}, {`"visibility":"public"`, `"visibility":"private"`},
		{`"visibility":"private"`, `"visibility":"public"`}, {`"datasetId"`, `"label":"of an organizer"`}, {`"title":""`, `"title":"Of an organizer"`},
	} {
		if e := all[i]; !strings.Contains(string(e.Before), sides[0]) || !strings.Contains(string(e.After), sides[1]) {
			t.Errorf("%s: before %s, after %s", e.Action, e.Before, e.After)
		}
	}
}

// What was created, changed and deleted is told by the organizer's entries when all of it is gone.
func TestAudit_EntriesOutliveWhatTheyAreAbout(t *testing.T) {
	s := newAudited(t)
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.dataset, map[string]any{"split": "validation"})
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, s.run, nil)
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, s.submission, nil)
	s.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, s.registration, nil)
	s.Want(http.StatusNoContent, nil, "olivia", http.MethodDelete, s.dataset, nil)
	of := s.Do("olivia", http.MethodGet, s.task+"/audit-entries", nil)
	s.Want(http.StatusNoContent, nil, "olivia", http.MethodDelete, s.task, nil)
	s.Want(http.StatusNotFound, nil, "olivia", http.MethodGet, s.task+"/audit-entries", nil)
	const want = "task.deleted dataset.deleted registration.deleted submission.deleted run.deleted dataset.changed review.updated " +
		"submission.created registration.created dataset.created task.created organizer.created"
	all := s.entries("olivia", "")
	if got := actions(all); got != want {
		t.Fatalf("the entries are\n%s, want\n%s", got, want)
	}
	subjects := []string{s.task, s.dataset, s.registration, s.submission, s.run, s.dataset, s.run + "/review", s.submission, s.registration, s.dataset, s.task, s.lab}
	for i, e := range all {
		if e.Subject != subjects[i] || e.OrganizerID != s.id(s.lab) || strings.HasSuffix(e.Action, ".created") != (e.Before == nil) || strings.HasSuffix(e.Action, ".deleted") != (e.After == nil) {
			t.Errorf("%s: %+v", e.Action, e)
		}
		if e.Action != "task.deleted" && !strings.Contains(string(of.Body), e.ID) {
			t.Errorf("the task's own list has no %s", e.Action)
		}
	}
	for _, user := range []string{"", "tom"} {
		s.Want(map[string]int{"": http.StatusUnauthorized, "tom": http.StatusForbidden}[user], nil, user, http.MethodGet, s.lab+"/audit-entries", nil)
	}
	tom := servertest.UserID("tom")
	for query, want := range map[string]string{
		"?filter[action]=task.created,task.deleted":                      "task.deleted task.created",
		"?filter[actorId]=" + tom:                                        "registration.deleted submission.deleted run.deleted submission.created registration.created",
		"?filter[userId]=" + tom:                                         "registration.deleted submission.deleted run.deleted review.updated submission.created registration.created",
		"?filter[taskId]=" + s.id(s.task) + "&filter[userId]=" + tom:     "registration.deleted submission.deleted run.deleted review.updated submission.created registration.created",
		"?filter[taskId]=" + s.id(s.lab) + "&filter[action]=run.deleted": "",
	} {
		if want == "" {
			s.Want(http.StatusNoContent, nil, "olivia", http.MethodGet, s.lab+"/audit-entries"+query, nil)
		} else if got := actions(s.entries("olivia", query)); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// Entries keep ids; names come from the profiles, and addresses to those whom the person told them.
func TestAudit_NamesAreJoinedWhenRead(t *testing.T) {
	s := newAudited(t)
	s.Want(http.StatusOK, nil, "root", http.MethodPatch, s.task, map[string]any{"featured": true, "visibility": "private"})
	items, err := s.Store.Query(t.Context(), store.Query{Partition: record.AuditPartition(s.id(s.lab)), Limit: 100})
	if err != nil || len(items) < 6 {
		t.Fatal(len(items), err)
	}
	for _, it := range items {
		for _, name := range []string{"@", "olivia", "tom", "root", "Heron"} {
			if strings.Contains(string(it.Data), name) {
				t.Errorf("an entry keeps %q: %s", name, it.Data)
			}
		}
	}
	for _, e := range s.entries("olivia", "") {
		want := map[string]record.Person{
			servertest.UserID("olivia"): {Name: "olivia", Email: "olivia@example.org"},
			servertest.UserID("tom"):    {Name: "tom", Email: "tom@example.org"},
			servertest.UserID("root"):   {Name: "root"}, // neither a member nor registered
		}[e.ActorID]
		if e.Actor == nil || e.Actor.Name != want.Name || e.Actor.Email != want.Email || len(e.Users) != len(e.UserIDs) {
			t.Errorf("%s by %s: %+v", e.Action, e.ActorID, e.Actor)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(string(s.Want(http.StatusOK, nil, "olivia", http.MethodGet, s.task+"/audit-entries", nil, "Accept", "text/csv").Body))).ReadAll()
	if err != nil || len(rows) != len(items)+1 || !slices.Equal(rows[0][:6], []string{"id", "createdAt", "actorId", "actorName", "actorEmail", "action"}) {
		t.Fatalf("%d rows: %q, %v", len(rows), rows, err)
	}
	if last := rows[2]; last[3] != "olivia" || last[4] != "olivia@example.org" || last[5] != "review.updated" || last[9] != "tom" {
		t.Errorf("%q", last)
	}
	if err := new(records.Tx).DeleteKey(record.UserKey(servertest.UserID("tom"))).Commit(t.Context(), s.Store); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{s.lab + "/audit-entries", s.registration, s.run, s.submission} {
		if a := s.Want(http.StatusOK, nil, "olivia", http.MethodGet, path, nil); strings.Contains(string(a.Body), "tom") {
			t.Errorf("%s names a person who was removed: %s", path, a.Body)
		}
	}
}

// evaluated gives tom's run an evaluation, and returns its path.
func (s *audited) evaluated(t *testing.T) string {
	t.Helper()
	r, err := records.Get[record.RunItem](t.Context(), s.Store, store.Strong, record.RunKey(s.id(s.run)))
	if err != nil {
		t.Fatal(err)
	}
	e := &record.EvaluationItem{Access: r.Access}
	e.Meta, e.RunID, e.SubmissionID, e.TaskID, e.DatasetID, e.UserID, e.Team = record.NewMeta(s.Now()), r.ID, r.SubmissionID, r.TaskID, r.DatasetID, r.UserID, r.Team
	e.TruthVersion, e.PrimaryMeasure, e.Measures = 1, "Accuracy", map[string]*float64{"Accuracy": new(0.5)}
	s.Put(e)
	return "/v1/evaluations/" + e.ID
}

func TestRegistration_SaysWhatIsLeftOfTheQuota(t *testing.T) {
	s := newAudited(t)
	for _, user := range []string{"tom", "olivia"} {
		var shown record.Registration
		s.Want(http.StatusOK, &shown, user, http.MethodGet, s.registration, nil)
		if q := shown.Quota; q == nil || *q.PerDay != 3 || *q.RemainingToday != 2 || *q.Total != 5 || *q.Remaining != 4 || q.ResetsAt == nil {
			t.Errorf("%s sees %+v", user, q)
		}
	}
	fresh := s.Create("uma", s.task+"/registrations", map[string]any{"team": "Otter"})
	var shown map[string]any
	s.Want(http.StatusOK, &shown, "uma", http.MethodGet, fresh, nil)
	if q, ok := shown["quota"].(map[string]any); !ok || q["remainingToday"] != 3.0 || q["remaining"] != 5.0 {
		t.Errorf("%v", shown)
	}
	shown["country"] = "Norway"
	s.Want(http.StatusOK, nil, "uma", http.MethodPatch, fresh, shown)
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.task, map[string]any{"submissions": map[string]any{"perDay": 0, "total": 0}})
	shown = nil
	s.Want(http.StatusOK, &shown, "uma", http.MethodGet, fresh, nil)
	if q, ok := shown["quota"].(map[string]any); !ok || len(q) != 0 {
		t.Errorf("without limits: %v", shown)
	}
}

func TestReview_RefusesContradictingFlags(t *testing.T) {
	s := newAudited(t)
	for _, flag := range []string{"missingOutput", "extraneousOutput", "invalidOutput", "hasErrorOutput", "otherErrors"} {
		a := s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPatch, s.run+"/review", map[string]any{"noErrors": true, flag: true})
		if !strings.Contains(string(a.Body), `"pointer":"/`+flag+`"`) {
			t.Errorf("%s", a.Body)
		}
		s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.run+"/review", map[string]any{flag: true})
		s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPatch, s.run+"/review", map[string]any{"noErrors": true})
		s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.run+"/review", map[string]any{flag: false})
	}
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.run+"/review", map[string]any{"noErrors": true})
}

func TestReview_SaysWhatLeaderboardsDoNotShow(t *testing.T) {
	s := newAudited(t)
	type patch = map[string]any
	review := s.run + "/review"
	for _, c := range []struct {
		path   string
		patch  patch
		notice string // a part of it; "" for none
	}{
		{review, patch{"comment": "good"}, ""},
		{review, patch{"published": true}, "the run is blinded"}, // a run on a test split is blinded from the start
		{review, patch{"blinded": false}, "anonymous and the submission private, so leaderboards show the values under the alias anonymous-"},
		{s.submission, patch{"visibility": "public"}, "files of the run are shown, and what stands in them can name the team"},
		{review, patch{"blinded": true}, "the run is blinded"},
		{review, patch{"blinded": false}, "others are shown the alias anonymous-"},
		{s.registration, patch{"anonymous": false}, ""},
		{s.submission, patch{"visibility": "private"}, "without title, label, run tag and paper"},
		{s.submission, patch{"visibility": "public"}, ""},
		{s.run, patch{"state": "cancelled"}, "the run is cancelled, so leaderboards show nothing of it"},
		{review, patch{"published": false}, ""},
		{review, patch{"published": true}, "the run is cancelled, so leaderboards show nothing of it"},
	} {
		var answered, shown map[string]any
		user := "olivia"
		if c.path == s.registration || c.path == s.submission {
			user = "tom"
		}
		s.Want(http.StatusOK, &answered, user, http.MethodPatch, c.path, c.patch)
		s.Want(http.StatusOK, &shown, "olivia", http.MethodGet, review, nil)
		notice, _ := shown["notice"].(string)
		if c.path == review && answered["notice"] != shown["notice"] || !strings.Contains(notice, c.notice) || (notice == "") != (c.notice == "") {
			t.Errorf("%s %v: %v, answered %v", c.path, c.patch, shown, answered)
		}
	}
}

// truthOf is a dataset for training whose truth everyone may have.
func (s *audited) truthOf(split string, public bool, content string) map[string]any {
	body := newDatasetBody(s.id(s.task))
	body["split"], body["truthsPublic"] = split, public
	body["truths"] = []any{map[string]any{"name": "labels.csv", "content": base64.StdEncoding.EncodeToString([]byte(content))}}
	return body
}

func TestDataset_TrainingTruthCanBePublic(t *testing.T) {
	const labels, others = "id,label\n1,a\n", "id,label\n1,a\n2,b\n"
	s := newAudited(t)
	for _, split := range []string{"validation", "test"} {
		s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPost, "/v1/datasets", s.truthOf(split, true, labels))
	}
	path := s.Create("olivia", "/v1/datasets", s.truthOf("training", false, labels))
	truths := func(user string) []record.File {
		var d record.Dataset
		s.Want(http.StatusOK, &d, user, http.MethodGet, path, nil)
		return d.Truths
	}
	evaluate := map[string]any{
		"runs":  []any{map[string]any{"files": []any{map[string]any{"name": "run.csv", "text": labels}}}},
		"truth": map[string]any{"datasetId": s.id(path)}, "measures": []string{"Accuracy"},
	}
	const tool = "/v1/tools/evaluator"
	if shown := truths(""); shown != nil {
		t.Fatalf("a hidden truth is shown: %+v", shown)
	}
	s.Want(http.StatusForbidden, nil, "tom", http.MethodPost, tool, evaluate)
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, path, map[string]any{"truthsPublic": true})
	for _, user := range []string{"", "tom", "olivia"} {
		shown := truths(user)
		if len(shown) != 1 || shown[0].URL == "" {
			t.Fatalf("%q sees %+v", user, shown)
		}
		if a := s.Want(http.StatusOK, nil, "", http.MethodGet, shown[0].URL, nil); string(a.Body) != labels {
			t.Errorf("%q gets %s", user, a.Body)
		}
	}
	s.Want(http.StatusOK, nil, "tom", http.MethodPost, tool, evaluate)
	if e := s.entries("olivia", "?filter[action]=dataset.changed"); len(e) != 1 || !strings.Contains(string(e[0].Before), `"truthsPublic":false`) || !strings.Contains(string(e[0].After), `"truthsPublic":true`) {
		t.Errorf("%+v", e)
	}
	// What everyone may have does not become hidden again, and so not the truth of a test.
	for _, patch := range []map[string]any{{"truthsPublic": false}, {"split": "test"}, {"split": "test", "truthsPublic": false}} {
		s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPatch, path, patch)
	}
	// While a new truth is on its way, the one in use was never public.
	hidden := s.Create("olivia", "/v1/datasets", s.truthOf("training", false, others))
	announced := []any{map[string]any{"name": "labels.csv", "size": len(labels), "sha256": truths("olivia")[0].SHA256}}
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, hidden, map[string]any{"truthsPublic": true, "truths": announced})
	evaluate["truth"] = map[string]any{"datasetId": s.id(hidden)}
	evaluate["runs"] = []any{map[string]any{"files": []any{map[string]any{"name": "run.csv", "text": others}}}}
	s.Want(http.StatusForbidden, nil, "tom", http.MethodPost, tool, evaluate)
	s.Want(http.StatusOK, nil, "olivia", http.MethodPost, tool, evaluate)

	body := s.truthOf("test", false, others)
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, path, map[string]any{"split": "test", "truthsPublic": false, "truths": body["truths"]})
	if shown := truths("tom"); shown != nil {
		t.Errorf("the truth of a test is shown: %+v", shown)
	}
}

// Organizers need no team for a baseline, and no quota or window of the task holds for it.
func TestSubmission_BaselineNeedsNoTeamAndNoQuota(t *testing.T) {
	s := newAudited(t)
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, s.task, map[string]any{"submissions": map[string]any{"perDay": 1, "total": 1, "closesAt": "2020-01-01T00:00:00Z"}})
	image := map[string]any{"type": "image", "image": "registry.example.org/a:1", "datasetIds": []string{s.id(s.dataset)}}
	s.Want(http.StatusForbidden, nil, "olivia", http.MethodPost, s.task+"/submissions", image)
	s.Want(http.StatusForbidden, nil, "tom", http.MethodPost, s.task+"/submissions", image) // the window has closed
	image["baseline"] = true
	s.Want(http.StatusUnprocessableEntity, nil, "tom", http.MethodPost, s.task+"/submissions", image)
	s.Want(http.StatusForbidden, nil, "uma", http.MethodPost, s.task+"/submissions", image)
	var made [3]record.Submission
	for i, members := range []map[string]any{{"baseline": true}, {"baseline": true, "visibility": "public"}, {"baseline": true, "visibility": "private"}} {
		made[i] = s.submit("olivia", members)
		if (made[i].Visibility == record.Public) != (i < 2) || made[i].Team != record.BaselineTeam || !made[i].Baseline || made[i].Quota != nil {
			t.Errorf("%+v", made[i])
		}
	}
	a, err := records.Get[record.Allowance](t.Context(), s.Store, store.Strong, record.AllowanceKey(s.id(s.task), servertest.UserID("olivia")))
	if err != nil || a.Total != 0 || a.Submissions != 0 || a.Runs[s.id(s.dataset)] != 3 {
		t.Errorf("%+v, %v", a, err)
	}
	path := s.task + "/submissions/" + made[0].ID
	s.Want(http.StatusUnprocessableEntity, nil, "olivia", http.MethodPatch, path, map[string]any{"baseline": false})
	s.Want(http.StatusUnprocessableEntity, nil, "uma", http.MethodPost, s.task+"/registrations", map[string]any{"team": "BaseLine"})

	// A registration of the organizer, later and under another name, has nothing to do with them.
	own := s.Create("olivia", s.task+"/registrations", map[string]any{"team": "Organizers"})
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, own, map[string]any{"team": "Renamed", "anonymous": true})
	var shown record.Submission
	if s.Want(http.StatusOK, &shown, "", http.MethodGet, path, nil); shown.Team != record.BaselineTeam {
		t.Errorf("a baseline became %q", shown.Team)
	}
	s.Want(http.StatusNoContent, nil, "olivia", http.MethodDelete, own, nil)

	// Neither the dataset nor the task goes while they are there.
	for _, path := range []string{s.submission, s.task + "/submissions/" + made[1].ID, s.task + "/submissions/" + made[2].ID} {
		s.Want(http.StatusNoContent, nil, "olivia", http.MethodDelete, path, nil)
	}
	s.Want(http.StatusConflict, nil, "olivia", http.MethodDelete, s.dataset, nil)
	s.Want(http.StatusConflict, nil, "olivia", http.MethodDelete, s.task, nil)
	s.Want(http.StatusOK, nil, "olivia", http.MethodPatch, "/v1/runs/"+made[0].RunIDs[0], map[string]any{"state": "cancelled"})
	s.Want(http.StatusNoContent, nil, "olivia", http.MethodDelete, path, nil)
	s.Want(http.StatusNoContent, nil, "olivia", http.MethodDelete, s.dataset, nil)
	s.Want(http.StatusNoContent, nil, "olivia", http.MethodDelete, s.task, nil)
}
