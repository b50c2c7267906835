package functions_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/functions/users"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
)

// TestDeleteUser_LeavesNothing searches all stored data, and all answers to anybody, for texts of the user.
func TestDeleteUser_LeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		by   string
		open func() store.Store
	}{
		"embedded": {"root", func() store.Store { return nil }},
		"DynamoDB": {zebra, func() store.Store { return dynamotest.Open(t, dynamotest.Start(t)) }},
	} {
		t.Run(name, func(t *testing.T) {
			p := newWithPerson(t, c.open())
			before := 0
			for _, it := range p.table.items(t) {
				if holds(fmt.Sprint(it.Key, it.Indexes, string(it.Data))) {
					before++
				}
			}
			if before < 20 {
				t.Fatalf("only %d items have something of the user", before)
			}
			processes := p.delete(c.by)
			if processes < 20 {
				t.Errorf("%d processes deleted the user, and each of them died", processes)
			}
			p.checkNothingIsLeft()
			p.eachAnswer(func(user, path, accept string, body string) {
				if holds(body) {
					t.Errorf("GET %s as %q (%s) has something of the user:\n%s", path, user, accept, body)
				}
			})
		})
	}
}

// checkNothingIsLeft searches all stored data. Only answers to requests with an Idempotency-Key remain, for one day.
func (p *withPerson) checkNothingIsLeft() {
	p.t.Helper()
	for _, it := range p.table.items(p.t) {
		if !holds(fmt.Sprint(it.Key, it.Indexes, string(it.Data))) {
			continue
		}
		if !strings.HasPrefix(it.Partition, "IDEMPOTENCY#") || it.Expires.After(p.Now().Add(record.IdempotencyTime)) {
			p.t.Errorf("%s %s is left: %v %s", it.Partition, it.Sort, it.Indexes, it.Data)
		}
	}
}

func holds(text string) bool {
	return strings.Contains(strings.ToLower(text), zebra) || strings.Contains(text, recordtest.UserID(zebra))
}

// eachAnswer calls do with each answer to different users, for all resources as data, pages and tables.
func (p *withPerson) eachAnswer(do func(user, path, accept, body string)) {
	p.t.Helper()
	paths := []string{"/", "/v1/organizers", p.organizer, p.organizer + "/members", p.organizer + "/audit-entries?limit=200",
		p.organizer + "/todos", "/v1/users",
		"/v1/tasks", "/v1/datasets", p.ownDataset, "/v1/runs", "/v1/evaluations", p.review}
	for _, task := range []string{p.named, p.hidden} {
		paths = append(paths, task, task+"/registrations", task+"/submissions", task+"/evaluations", task+"/audit-entries?limit=200")
	}
	paths = append(paths, p.leaderboards...)
	for _, s := range []record.Submission{p.published, p.withdrawn, p.anonymous, p.baseline} {
		paths = append(paths, "/v1/tasks/"+s.TaskID+"/submissions/"+s.ID, "/v1/runs/"+s.RunIDs[0], "/v1/runs/"+s.RunIDs[0]+"/review")
	}
	for _, path := range paths {
		for _, user := range []string{"", "bob", "olga", "root"} {
			for _, accept := range []string{"application/json", "text/html", "text/csv"} {
				if a := p.Do(user, http.MethodGet, path, nil, "Accept", accept); a.Status < 300 {
					do(user, path, accept, string(a.Body))
				}
			}
		}
	}
}

// Published results keep their places under the alias. No other data of the user remains.
func TestDeleteUser_KeepsPublishedResults(t *testing.T) {
	p := newWithPerson(t, nil)
	type place struct {
		Rank     int
		Measures map[string]*float64
	}
	board := func(i int) (places []string) {
		for _, e := range servertest.List[place](p.Server, "bob", p.leaderboards[i]) {
			places = append(places, fmt.Sprint(e.Rank, *e.Measures["AP"]))
		}
		return places
	}
	before := [][]string{board(0), board(1)}
	p.delete("root")
	for i := range before {
		if after := board(i); len(after) != 1 || !slices.Equal(after, before[i]) {
			t.Errorf("leaderboard %d was %v, and is %v", i, before[i], after)
		}
	}
	e := servertest.List[record.Evaluation](p.Server, "olga", p.leaderboards[0])[0]
	if e.Team == "" || e.Team != e.Alias || e.User == nil || e.User.Name != "" || e.User.Email != "" {
		t.Errorf("organizers are shown %+v", e)
	}
	for _, s := range []record.Submission{p.published, p.anonymous, p.baseline} {
		p.Want(http.StatusOK, nil, "olga", http.MethodGet, "/v1/runs/"+s.RunIDs[0], nil)
	}
	p.Want(http.StatusNotFound, nil, "olga", http.MethodGet, "/v1/runs/"+p.withdrawn.RunIDs[0], nil)
	file := record.ObjectKey(record.HolderRuns, p.withdrawn.RunIDs[0], servertest.Digest("1 Q0 d1 1 0.5 zebra-tag\n"))
	if _, err := p.Files.Stat(t.Context(), file); err == nil {
		t.Error("the file of a deleted run is left")
	}

	// A new truth does not restore removed data, and the organizers can delete the remaining data.
	p.change("olga", "/v1/datasets/"+e.DatasetID, map[string]any{"truths": []any{servertest.Inline("qrels.txt", "1 0 d1 2\n1 0 d2 1\n")}})
	p.runDue()
	p.advance(time.Minute)
	p.runDue()
	p.evaluate(p.published.RunIDs[0])
	run := p.run("olga", p.published.RunIDs[0])
	if run.State != record.Completed || run.RunTag != "" || run.Team != e.Alias {
		t.Errorf("evaluated again: %+v", run)
	}
	p.Want(http.StatusConflict, nil, "olga", http.MethodDelete, p.hidden, nil)
	registration := p.hidden + "/registrations/" + servertest.List[record.Registration](p.Server, "olga", p.hidden+"/registrations")[0].ID
	p.Want(http.StatusConflict, nil, "olga", http.MethodDelete, registration, nil)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.hidden+"/submissions/"+p.anonymous.ID, nil)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, registration, nil)
	p.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, p.hidden, nil)
}

// The user loses all rights with the first answer. A person who signs in afterwards is a new user who can take part again.
func TestDeleteUser_EndsRightsAtOnce(t *testing.T) {
	p := newWithPerson(t, nil)
	p.Want(http.StatusNoContent, nil, "root", http.MethodDelete, "/v1/users/"+recordtest.UserID(zebra), nil)
	run := "/v1/runs/" + p.published.RunIDs[0]
	for _, r := range []struct{ method, path, body string }{
		{http.MethodGet, "/v1/user", ""}, {http.MethodGet, p.named + "/registrations", ""}, {http.MethodPatch, "/v1/user", `{}`},
		{http.MethodPost, "/v1/organizers", `{"name":"Zebras"}`}, {http.MethodPost, tokensPath, `{"name":"a","scopes":["read"]}`},
		{http.MethodPatch, p.organizer, `{"name":"Zebras"}`}, {http.MethodPatch, p.review, `{"published":true}`},
		{http.MethodPost, p.named + "/registrations", `{"team":"Zebras"}`}, {http.MethodDelete, run, ""},
		{http.MethodPost, p.named + "/submissions", `{"type":"image","image":"zebra:2","datasetIds":["` + servertest.ID(p.dataset) + `"]}`},
		{http.MethodDelete, p.named + "/submissions/" + p.withdrawn.ID, ""},
	} {
		var body any
		if r.body != "" {
			body = r.body
		}
		p.Want(http.StatusUnauthorized, nil, zebra, r.method, r.path, body)
	}
	shown := servertest.Get[users.Profile](p.Server, "root", "/v1/users/"+recordtest.UserID(zebra))
	if shown.Name != "" || shown.Email != "" || !shown.Deleting {
		t.Errorf("%+v", shown)
	}
	p.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, p.organizer,
		map[string]any{"owners": []string{recordtest.UserID("olga"), recordtest.UserID(zebra)}})
	p.Want(http.StatusUnauthorized, nil, zebra, http.MethodPost, "/v1/user/memberships",
		map[string]any{"secret": p.Invite("olga", p.organizer, nil)})
	p.delete("root")
	p.Want(http.StatusForbidden, nil, zebra, http.MethodPatch, p.organizer, map[string]any{"name": "Zebras"})
	p.Want(http.StatusNoContent, nil, zebra, http.MethodGet, p.named+"/registrations", nil)
	p.Want(http.StatusNoContent, nil, zebra, http.MethodGet, "/v1/users/"+recordtest.UserID(zebra)+"/submissions", nil)
	p.Want(http.StatusNotFound, nil, zebra, http.MethodDelete, run, nil)
	p.register(zebra, map[string]any{"team": "Zebra Quartet"})
}

// Only administrators delete other users, and an organizer keeps an owner.
func TestDeleteUser_Refusals(t *testing.T) {
	p := newPlatform(t, nil)
	olga := "/v1/users/" + recordtest.UserID("olga")
	for user, status := range map[string]int{
		"": http.StatusUnauthorized, "bob": http.StatusForbidden, "olga": http.StatusForbidden, "robot": http.StatusForbidden,
		"root": http.StatusConflict,
	} {
		a := p.Want(status, nil, user, http.MethodDelete, olga, nil)
		if user == "root" && !strings.Contains(string(a.Body), "Lab ("+strings.TrimPrefix(p.organizer, "/v1/organizers/")+")") {
			t.Errorf("the refusal does not name %s: %s", p.organizer, a.Body)
		}
	}
	p.Want(http.StatusNotFound, nil, "root", http.MethodDelete, "/v1/users/"+recordtest.UserID("bob"), nil)
	p.Join("bob", p.Invite("olga", p.organizer, map[string]any{"role": "owner"}), nil)
	p.Want(http.StatusNoContent, nil, "root", http.MethodDelete, olga, nil)
	p.Want(http.StatusConflict, nil, "root", http.MethodDelete, "/v1/users/"+recordtest.UserID("bob"), nil)

	p.change("root", "/v1/user", map[string]any{})
	p.Want(http.StatusNoContent, nil, "root", http.MethodDelete, "/v1/users/"+recordtest.UserID("root"), nil)
	p.change("zoe", "/v1/user", map[string]any{})
	p.Want(http.StatusUnauthorized, nil, "root", http.MethodDelete, "/v1/users/"+recordtest.UserID("zoe"), nil)
}

// A request that was in progress when the deletion began can still write data that the first pass does not find.
func TestDeleteUser_AwaitsRequestsUnderWay(t *testing.T) {
	p := newWithPerson(t, nil)
	user := "/v1/users/" + recordtest.UserID(zebra)
	p.Want(http.StatusNoContent, nil, "root", http.MethodDelete, user, nil)
	p.runDue()
	b := p.Records()
	b.Organizer("olga", zebra)
	late := b.Task()
	late.Register(zebra)
	late.Dataset().Run(zebra, recordtest.Published)
	p.advance(record.RequestTime - time.Second)
	p.runDue()
	p.Want(http.StatusOK, nil, "root", http.MethodGet, user, nil)
	p.advance(time.Second)
	p.runDue()
	p.Want(http.StatusNotFound, nil, "root", http.MethodGet, user, nil)
	p.checkNothingIsLeft()
}
