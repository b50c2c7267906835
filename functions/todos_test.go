package functions_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"assay/functions/background"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
	"assay/shared/language/lists"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo/dynamotest"
)

// withTodos is a platform with a task whose registrations wait for approval, and a dataset whose runs label two items.
type withTodos struct{ *platform }

// onBothStores runs the test on a platform with each of the stores.
func onBothStores(t *testing.T, test func(*testing.T, withTodos)) {
	t.Helper()
	for name, open := range map[string]func(*testing.T, store.Store) store.Store{
		"embedded": func(_ *testing.T, own store.Store) store.Store { return own },
		"DynamoDB": func(t *testing.T, _ store.Store) store.Store {
			t.Helper()
			return dynamotest.Open(t, dynamotest.Start(t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.Use(open(t, s.Store))
			w := withTodos{newPlatformOf(t, s, map[string]any{"registration": map[string]any{"mode": "approval"}})}
			w.newDataset(twoLabels)
			test(t, w)
		})
	}
}

func (w withTodos) list(query string) []record.Todo {
	w.t.Helper()
	if w.Do("olga", http.MethodGet, w.organizer+"/todos"+query, nil).Status == http.StatusNoContent {
		return nil
	}
	return servertest.List[record.Todo](w.Server, "olga", w.organizer+"/todos"+query)
}

// want requires that the list has these kinds and teams, the newest first.
func (w withTodos) want(when string, want ...string) {
	w.t.Helper()
	got := lists.Map(w.list(""), func(e record.Todo) string { return string(e.Kind) + " " + e.Team })
	if !slices.Equal(got, want) {
		w.t.Fatalf("%s: %v, want %v", when, got, want)
	}
}

// team registers the user, whom the organizers accept.
func (w withTodos) team(user string) {
	w.t.Helper()
	w.change("olga", w.register(user, nil), map[string]any{"state": "accepted"})
}

// entry submits a run of the user, waits for its evaluation, and returns its id.
func (w withTodos) entry(user string) string {
	w.t.Helper()
	s := w.submit(user, servertest.Upload(servertest.ID(w.dataset), servertest.Inline("run.csv", twoRuns[0])))
	w.evaluate(s.RunIDs[0])
	return s.RunIDs[0]
}

// dueSoon does the due work and the work that is due a few seconds later.
func (w withTodos) dueSoon() {
	w.t.Helper()
	for range 4 {
		w.runDue()
		w.advance(record.RequestTime)
	}
}

func TestTodos_HaveRegistrationsUntilTheyAreDecided(t *testing.T) {
	onBothStores(t, func(t *testing.T, w withTodos) {
		w.want("at first")
		tom := w.register("tom", map[string]any{"anonymous": true})
		w.register("una", nil)
		w.want("two wait", "registration.pending Team of una", "registration.pending Team of tom")
		e := w.list("")[1]
		if e.ID != servertest.ID(tom) || e.RegistrationID != e.ID || e.TaskID != servertest.ID(w.task) || e.TaskName != "Lakes" ||
			e.OrganizerID != servertest.ID(w.organizer) || e.RunID != "" || e.DatasetID != "" || time.Since(e.Since.Time) > time.Minute {
			t.Errorf("%+v", e)
		}
		w.change("tom", tom, map[string]any{"team": "Grebes"})
		w.want("renamed, not propagated", "registration.pending Team of una", "registration.pending Grebes")
		w.dueSoon()
		w.change("olga", tom, map[string]any{"state": "rejected"})
		w.want("one is rejected", "registration.pending Team of una")
		w.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, w.task, nil)
		w.dueSoon()
		w.want("the task is deleted")
		w.Want(http.StatusNoContent, nil, "olga", http.MethodDelete, "/v1/deletions/"+deletionOf(w.platform, "olga", w.task).ID, nil)
		w.dueSoon()
		w.want("the task is restored", "registration.pending Team of una")
	})
}

func TestTodos_HaveRunsUntilTheyAreReviewed(t *testing.T) {
	onBothStores(t, func(t *testing.T, w withTodos) {
		w.team("tom")
		one, two := w.entry("tom"), w.entry("tom")
		w.change("tom", "/v1/runs/"+one, map[string]any{"label": "First"})
		w.want("two are completed", "run.unreviewed Team of tom", "run.unreviewed Team of tom")
		if e := w.list("")[1]; e.ID != one || e.RunID != one || e.DatasetID != servertest.ID(w.dataset) || e.TaskName != "Lakes" ||
			e.RegistrationID == "" || e.Run != "First" || !e.Since.Equal(w.run("olga", one).FinishedAt.Time) || e.Again {
			t.Errorf("%+v", e)
		}
		w.change("tom", w.task+"/submissions/"+w.run("tom", one).SubmissionID, map[string]any{"visibility": "public"})
		w.change("olga", w.task, map[string]any{"visibility": "private"})
		w.dueSoon()
		w.want("one is public, in a task that is private", "run.unreviewed Team of tom", "run.unreviewed Team of tom")

		version := w.run("olga", one).Version
		w.change("olga", "/v1/runs/"+one+"/review", map[string]any{"comment": "Good"})
		if after := w.run("olga", one).Version; after != version {
			t.Errorf("a comment made the version of the run %d, which was %d", after, version)
		}
		w.want("one is reviewed", "run.unreviewed Team of tom")
		w.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, "/v1/runs/"+two, nil)
		w.want("the other is deleted")
		w.Want(http.StatusNoContent, nil, "tom", http.MethodDelete, "/v1/deletions/"+deletionOf(w.platform, "tom", "/v1/runs/"+two).ID, nil)
		w.want("and restored", "run.unreviewed Team of tom")
		w.change("olga", w.dataset+"/reviews", map[string]any{"runIds": []string{two}, "review": map[string]any{"published": false}})
		w.want("both are reviewed")
		of, review := "/v1/runs/"+two+"/review", record.Review{}
		w.change("olga", of, map[string]any{"waits": true})
		w.want("one waits again", "run.unreviewed Team of tom")
		w.Want(http.StatusOK, &review, "olga", http.MethodGet, of, nil)
		if review.ReviewedAt != nil || review.ReviewerID != "" {
			t.Errorf("it is reviewed: %+v", review)
		}
		waits := func(is bool) map[string]any {
			return map[string]any{"runIds": []string{two}, "review": map[string]any{"waits": is}}
		}
		w.change("olga", w.dataset+"/reviews", waits(false))
		w.want("somebody has looked at it")
		w.change("olga", w.dataset+"/reviews", waits(true))
		w.want("and it waits again", "run.unreviewed Team of tom")
		w.change("olga", of, map[string]any{"comment": "Good"})
		w.want("it has a comment")

		w.change("olga", w.dataset, map[string]any{"publish": "onCompletion"})
		w.entry("tom")
		w.want("one is published by itself")
	})
}

// Organizers find a reviewed run that fails against a changed truth without opening runs: in this list and in the list of runs.
func TestTodos_HaveRunsThatFailUntilTheyAreReviewed(t *testing.T) {
	onBothStores(t, func(t *testing.T, w withTodos) {
		w.team("tom")
		run := w.entry("tom")
		review := "/v1/runs/" + run + "/review"
		w.change("olga", review, map[string]any{"published": true})
		w.change("olga", w.dataset, map[string]any{"truths": []any{servertest.Inline("truth.csv", "id,label\n7,a\n8,b\n")}})
		w.dueSoon()
		w.evaluate(run)
		w.want("it failed", "run.failed Team of tom")
		if got := w.IDs("olga", "/v1/runs?filter[state]=failed&filter[datasetId]="+servertest.ID(w.dataset)); !slices.Equal(got, []string{run}) {
			t.Errorf("%v failed, want %s", got, run)
		}
		w.change("olga", w.dataset+"/reviews", map[string]any{"runIds": []string{run}, "review": map[string]any{"published": true}})
		w.want("it is reviewed")
		w.change("olga", w.dataset, twoLabels)
		w.dueSoon()
		w.evaluate(run)
		if r := w.run("olga", run); r.State != record.Completed {
			t.Fatalf("%+v", r)
		}
		w.want("it is evaluated again")

		w.change("olga", review, map[string]any{"published": false})
		w.entry("tom")
		w.want("one more", "run.unreviewed Team of tom")
		w.Want(http.StatusNoContent, nil, "root", http.MethodDelete, "/v1/users/"+recordtest.UserID("tom"), nil)
		w.dueSoon()
		w.want("its user is deleted")
	})
}

func TestTodos_HaveRunsThatNoWorkerServes(t *testing.T) {
	onBothStores(t, func(t *testing.T, w withTodos) {
		w.team("tom")
		w.background = background.New(w.Store, w.Files, w.Now, w.Log)
		look := func() {
			t.Helper()
			if err := w.background.FailUnserved(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		one := w.submit("tom", servertest.Image(servertest.ID(w.dataset))).RunIDs[0]
		w.submit("tom", servertest.Image(servertest.ID(w.dataset)))
		look()
		w.want("at first")
		w.advance(record.WorkersNotice)
		look()
		w.want("after an hour", "workers.missing Team of tom")
		if e := w.list("")[0]; e.RunID != one || !e.Since.Equal(w.run("olga", one).QueuedAt.Time) {
			t.Errorf("%+v, want the run %s", e, one)
		}
		w.advance(record.Day)
		look()
		w.want("after another day", "workers.missing Team of tom")
		serving := new(record.Serving)
		serving.Note(w.Now(), []record.Subqueue{record.WorkerSubqueue("", record.ExecuteImage)})
		w.Records().Put(serving)
		w.want("a worker is seen")
		w.advance(2 * time.Minute)
		w.want("and no longer", "workers.missing Team of tom")
		w.change("tom", "/v1/runs/"+one, map[string]any{"state": "cancelled"})
		w.want("it is cancelled")
		w.advance(record.Day)
		look()
		w.want("another day, with the other", "workers.missing Team of tom")
		w.advance(2 * record.Day)
		w.want("nobody looks any more")
	})
}

func TestTodos_ArePagedAndFiltered(t *testing.T) {
	onBothStores(t, func(t *testing.T, w withTodos) {
		first := w.task
		w.team("tom")
		w.entry("tom")
		w.register("una", nil)
		w.task = w.newTask(map[string]any{"name": "Rivers", "registration": map[string]any{"mode": "approval"}})
		w.newDataset(twoLabels)
		w.register("una", nil)
		w.team("tom")
		w.entry("tom")
		all := w.list("")
		names := lists.Map(all, func(e record.Todo) string { return string(e.Kind) + " " + e.TaskName })
		if !slices.Equal(names, []string{"run.unreviewed Rivers", "registration.pending Rivers", "registration.pending Lakes",
			"run.unreviewed Lakes"}) {
			t.Fatal(names)
		}
		path := w.organizer + "/todos"
		var paged []record.Todo
		for next := path + "?limit=1"; next != ""; {
			var some []record.Todo
			some, next = servertest.Page[record.Todo](w.Server, "olga", next)
			paged = append(paged, some...)
		}
		if !slices.Equal(paged, all) {
			t.Errorf("by pages %+v, want %+v", paged, all)
		}
		for query, want := range map[string][]record.Todo{
			"?filter[kind]=registration.pending":                                   all[1:3],
			"?filter[kind]=run.unreviewed,run.failed":                              {all[0], all[3]},
			"?filter[kind]=run.failed":                                             nil,
			"?filter[kind]=workers.missing":                                        nil,
			"?filter[taskId]=" + servertest.ID(first):                              all[2:],
			"?filter[kind]=run.unreviewed&filter[taskId]=" + servertest.ID(w.task): all[:1],
		} {
			if got := w.list(query); !slices.Equal(got, want) {
				t.Errorf("%s: %+v, want %+v", query, got, want)
			}
		}
		for user, status := range map[string]int{"": http.StatusUnauthorized, "tom": http.StatusForbidden, "root": http.StatusOK} {
			w.Want(status, nil, user, http.MethodGet, path, nil)
		}
		w.Want(http.StatusBadRequest, nil, "olga", http.MethodGet, path+"?filter[kind]=run.completed", nil)
		w.Want(http.StatusBadRequest, nil, "olga", http.MethodGet, path+"?cursor="+servertest.ID(first), nil)
	})
}
