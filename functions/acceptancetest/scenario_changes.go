package acceptancetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"assay/shared/problem"
	"assay/shared/record"
)

func (st *scenario) patches() {
	var before, after record.Task
	a := st.get(st.olivia, st.limited, &before)
	tag := a.header.Get("ETag")
	edit := func(kind *problem.Kind, operations any) problem.Document {
		st.t.Helper()
		return st.refused(kind, st.olivia, http.MethodPatch, st.limited, operations, "Content-Type", jsonPatch)
	}
	edit(problem.PatchFailed, append(edits("replace", "/name", "Half done"), edits("test", "/website", "https://other.example")...))
	st.names(edit(problem.Invalid, edits("replace", "/version", 7)), "/version", "")
	_, header := st.refusal(problem.UnsupportedMedia, st.olivia, http.MethodPatch, st.limited, `{"name":"Plain"}`, "Content-Type",
		"application/json")
	if header.Get("Accept-Patch") != "application/json-patch+json, application/merge-patch+json" {
		st.t.Errorf("Accept-Patch is %q", header.Get("Accept-Patch"))
	}
	if st.get(st.olivia, st.limited, &after); after.Version != before.Version || after.Name != before.Name {
		st.t.Fatalf("%+v, want nothing changed by patches that were refused", after)
	}

	a = st.want(http.StatusOK, &after, st.olivia, http.MethodPatch, st.limited, append(edits("test", "/name", before.Name), append(
		edits("replace", "/description", "New rules."), edits("add", "/submissions/types/-", "upload")...)...), "Content-Type", jsonPatch,
		"If-Match", tag)
	if after.Version != before.Version+1 || after.Description != "New rules." ||
		!slices.Equal(after.Submissions.Types, []record.SubmissionType{"image", "upload"}) {
		st.t.Errorf("%+v, want description and types changed", after)
	}
	for _, method := range []string{http.MethodPatch, http.MethodDelete} {
		var body any
		if method == http.MethodPatch {
			body = map[string]any{"name": "Late"}
		}
		st.refused(problem.PreconditionFailed, st.olivia, method, st.limited, body, "If-Match", tag)
		st.refused(problem.PreconditionFailed, st.olivia, method, st.limited, body, "If-Match", `"1-0"`)
	}
	st.want(http.StatusOK, nil, st.olivia, http.MethodPatch, st.limited, map[string]any{"description": "Newer rules."}, "If-Match",
		a.header.Get("ETag"))
	st.matched()
}

// matched changes all that can be changed under the tag that a GET gave. The tag has passed then, and the answer has the new one.
func (st *scenario) matched() {
	st.t.Helper()
	run := st.benBoth.runs[0]
	for _, c := range []struct {
		caller user
		path   string
		change map[string]any
	}{
		{st.olivia, st.organizerPath, map[string]any{"website": "https://matched.example"}},
		{st.olivia, st.limited, map[string]any{"description": "Matched"}},
		{st.olivia, "/v1/datasets/" + st.little, map[string]any{"description": "Matched"}},
		{st.ben, st.benRegistration, map[string]any{"affiliation": "Matched"}},
		{st.ben, st.benBoth.path, map[string]any{"title": "Matched"}},
		{st.ben, run, map[string]any{"label": "Matched"}},
		{st.olivia, run + "/review", map[string]any{"comment": "Matched"}},
	} {
		tag := st.get(c.caller, c.path, nil).header.Get("ETag")
		changed := st.want(http.StatusOK, nil, c.caller, http.MethodPatch, c.path, c.change, "If-Match", tag)
		st.refused(problem.PreconditionFailed, c.caller, http.MethodPatch, c.path, c.change, "If-Match", tag)
		if is := st.get(c.caller, c.path, nil).header.Get("ETag"); is == tag || is != changed.header.Get("ETag") {
			st.t.Errorf("%s has the tag %s, its change answered %s, and it had %s", c.path, is, changed.header.Get("ETag"), tag)
		}
	}
}

func (st *scenario) repeats() {
	submissions := st.public + "/submissions"
	key := "key-" + st.tail
	body := map[string]any{"type": "image", "image": "registry.example.org/otter:2", "datasetIds": []string{st.news}}
	bad := map[string]any{"type": "image", "image": "", "datasetIds": []string{st.news}}
	before := st.list(st.ben, submissions)
	st.refused(problem.Invalid, st.ben, http.MethodPost, submissions, bad, "Idempotency-Key", key)

	answers := make([]answer, 4)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = st.ask(st.ben, http.MethodPost, submissions, body, "Idempotency-Key", key) })
	}
	all.Wait()
	last := st.want(http.StatusCreated, nil, st.ben, http.MethodPost, submissions, body, "Idempotency-Key", key)
	for _, a := range answers {
		if a.status == http.StatusConflict {
			continue // it came while the first was under way
		}
		if a.status != http.StatusCreated || !bytes.Equal(a.body, last.body) || a.header.Get("Location") != last.header.Get("Location") {
			st.t.Errorf("status %d, want the first answer again:\n%s%s", a.status, a.body, last.body)
		}
	}
	made := last.header.Get("Location")
	st.listed(st.ben, submissions, append([]string{id(made)}, before...)...)
	other := map[string]any{"type": "image", "image": "registry.example.org/otter:3", "datasetIds": []string{st.news}}
	p := st.refused(problem.IdempotencyMismatch, st.ben, http.MethodPost, submissions, other, "Idempotency-Key", key)
	st.says(p, "Idempotency-Key")
	st.refused(problem.BadRequest, st.ben, http.MethodPost, submissions, body, "Idempotency-Key", "two words")
	st.remove(st.ben, made)
	st.listed(st.ben, submissions, before...)
}

func (st *scenario) changedTruth() {
	dataset := "/v1/datasets/" + st.news
	truths := func(content []byte) map[string]any { return map[string]any{"truths": []any{inline("qrels", content)}} }
	var news record.Dataset
	st.patch(st.olivia, dataset, &news, truths(read(st.t, "news/graded.qrels")))
	if news.TruthVersion != 2 {
		st.t.Fatalf("truthVersion is %d after a change of the truth, want 2", news.TruthVersion)
	}

	first := st.firstEvaluation
	second := st.reevaluated(st.annNews.runs[0], 2)
	st.equal(second, "news/graded.values")
	if second.ID == first.ID || second.Digests.Truth == first.Digests.Truth || second.Digests.Run != first.Digests.Run {
		st.t.Errorf("%+v, want another evaluation of the same run", second)
	}
	truncated := st.reevaluated(st.benBoth.runs[0], 2)
	st.boardShows(2)
	alias, otter := st.alias(), "Otter "+st.tail
	st.ranked(st.anyone, st.board(st.news), rankedRun{1, alias, st.annNews.runs[0]}, rankedRun{2, otter, st.benBoth.runs[0]})
	st.listed(st.anyone, "/v1/evaluations?filter[datasetId]="+st.news, newestFirst(second.ID, truncated.ID)...)

	var old record.Evaluation
	st.get(st.anyone, "/v1/evaluations/"+first.ID, &old)
	st.equal(old, "news/results.values")
	if old.TruthVersion != 1 || old.Team != alias {
		st.t.Errorf("%+v, want the evaluation as it was", old)
	}
	st.reevaluated(st.annCACM.runs[0], 1)

	st.patch(st.olivia, st.annNews.runs[0]+"/review", nil, map[string]any{"blinded": true})
	for _, evaluation := range []string{first.ID, second.ID} {
		st.await("evaluations that were blinded again", func() error {
			if a := st.ask(st.ann, http.MethodGet, "/v1/evaluations/"+evaluation, nil); a.status != http.StatusNotFound {
				return fmt.Errorf("%s is answered with %d", evaluation, a.status)
			}
			return nil
		})
	}
	st.publish(st.annNews.runs[0])

	st.patch(st.olivia, dataset, &news, map[string]any{
		"evaluator": map[string]any{"measures": []string{"AP", "P@10"}, "primaryMeasure": "P@10"}})
	third := st.reevaluated(st.annNews.runs[0], 3)
	if third.PrimaryMeasure != "P@10" || len(third.Measures) != 2 || *third.Measures["P@10"] != *second.Measures["P@10"] {
		st.t.Errorf("%+v, want the two measures and the values as they were", third)
	}
	st.boardShows(3)
	st.ranked(st.anyone, st.board(st.news), rankedRun{1, alias, st.annNews.runs[0]}, rankedRun{2, otter, st.benBoth.runs[0]})
}

// boardShows waits until leaderboards and lists show the results against the version of the truth.
func (st *scenario) boardShows(version int64) {
	st.t.Helper()
	st.await(fmt.Sprintf("leaderboards of version %d of the truth", version), func() error {
		var d record.Dataset
		st.get(st.anyone, "/v1/datasets/"+st.news, &d)
		if d.BoardVersion != version || d.Reevaluation != nil {
			return fmt.Errorf("they show version %d: %+v", d.BoardVersion, d.Reevaluation)
		}
		return nil
	})
}

// reevaluated waits until a run has an evaluation against the version of the truth.
func (st *scenario) reevaluated(run string, version int64) (e record.Evaluation) {
	st.t.Helper()
	st.await(fmt.Sprintf("the evaluation of %s by truth %d", run, version), func() error {
		e = record.Evaluation{}
		st.get(st.olivia, "/v1/evaluations/"+st.evaluationOf(run), &e)
		if e.TruthVersion != version {
			return fmt.Errorf("the newest is by truth %d", e.TruthVersion)
		}
		return nil
	})
	return e
}

func newestFirst(ids ...string) []string {
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids
}

// audit requires that entries have what was done to the tasks, with the values before and after it.
func (st *scenario) audit() {
	st.refused(problem.Unauthorized, st.anyone, http.MethodGet, st.public+"/audit-entries", nil)
	st.refused(problem.Forbidden, st.ben, http.MethodGet, st.public+"/audit-entries", nil)
	st.refused(problem.NotFound, st.sam, http.MethodGet, st.private+"/audit-entries", nil)
	dataset := "/v1/datasets/" + st.news
	for _, want := range []struct {
		task, action, subject, before, after string // what the sides must have
		user                                 string // whom it concerns; "" for a row that does not check it
	}{
		{st.public, "registration.decided", st.benRegistration, `"state":"pending"`, `"state":"accepted"`, ""},
		{st.public, "registration.decided", st.carlRegistration, `"state":"pending"`, `"state":"rejected"`, ""},
		{st.public, "review.updated", st.annCACM.runs[0] + "/review", `"blinded":true`, `"blinded":false`, ""},
		{st.public, "review.updated", st.annNews.runs[0] + "/review", `"blinded":false`, `"blinded":true`, ""},
		{st.public, "truth.changed", dataset, digestOf(read(st.t, "news/qrels")), digestOf(read(st.t, "news/graded.qrels")), ""},
		{st.public, "evaluator.changed", dataset, `"primaryMeasure":"AP"`, `"primaryMeasure":"P@10"`, ""},
		{st.public, "task.rules-changed", st.public, `"mode":"open"`, `"mode":"approval"`, ""},
		{st.limited, "task.rules-changed", st.limited, `"perDay":3`, `"perDay":0`, ""},
		{st.private, "registration.created", "", "", `"state":"accepted"`, st.pia.id},
	} {
		st.await(want.action, func() error {
			var p struct{ Data []record.AuditEntry }
			st.get(st.olivia, want.task+"/audit-entries?limit=200", &p)
			found := slices.ContainsFunc(p.Data, func(e record.AuditEntry) bool {
				return e.Action == want.action && e.ActorID == st.olivia.id && "/v1/tasks/"+e.TaskID == want.task &&
					(e.Subject == want.subject || want.subject == "") &&
					(want.user == "" || slices.Equal(e.UserIDs, []string{want.user})) && has(e.Before, want.before) && has(e.After, want.after)
			})
			if !found {
				return fmt.Errorf("no audit entry has %+v", want)
			}
			return nil
		})
	}
}

// has reports whether a side of an entry has the part; no part stands for no side.
func has(side json.RawMessage, part string) bool {
	return (part == "") == (side == nil) && bytes.Contains(side, []byte(part))
}

func (st *scenario) deletions() {
	refused := func(caller user, path string) {
		st.t.Helper()
		st.refused(problem.Conflict, caller, http.MethodDelete, path, nil)
	}
	gone := func(path string) {
		st.t.Helper()
		st.await(path+" is gone", func() error {
			for _, caller := range []user{st.anyone, st.ann, st.ben, st.olivia} {
				if a := st.ask(caller, http.MethodGet, path, nil); a.status != http.StatusNotFound {
					return fmt.Errorf("status %d for %s", a.status, caller.name)
				}
			}
			return nil
		})
	}
	refused(st.olivia, st.organizerPath)
	refused(st.olivia, st.public)
	refused(st.olivia, "/v1/datasets/"+st.news)
	refused(st.ben, st.benRegistration)
	refused(st.ann, st.annCACM.path)
	refused(st.ann, st.annCACM.runs[0])
	st.refused(problem.Unauthorized, st.anyone, http.MethodDelete, st.annCACM.path, nil)
	st.refused(problem.Forbidden, st.ben, http.MethodDelete, st.annCACM.path, nil)
	st.refused(problem.NotFound, st.ann, http.MethodDelete, st.benBoth.path, nil)

	evaluation := "/v1/evaluations/" + st.evaluationOf(st.annCACM.runs[0])
	var run record.Run
	st.get(st.olivia, st.annCACM.runs[0], &run)
	st.remove(st.olivia, st.annCACM.runs[0])
	gone(st.annCACM.runs[0])
	gone(st.annCACM.runs[0] + "/review")
	gone(evaluation)
	if status, _ := st.download(run.Files[0].URL); status < http.StatusBadRequest {
		st.t.Errorf("the bytes of a deleted run are answered with %d", status)
	}
	otter := "Otter " + st.tail
	st.ranked(st.anyone, st.board(st.cacm), rankedRun{1, otter, st.benCACM.runs[0]}, rankedRun{2, otter, st.benBoth.runs[1]})
	st.remove(st.ann, st.annCACM.path)
	gone(st.annCACM.path)

	fresh, _ := st.submit(st.ben, st.public, upload("private", on(st.news, inline("results.run", read(st.t, "news/results.run")))))
	st.run(fresh.runs[0], record.Completed)
	st.remove(st.ben, fresh.runs[0])
	gone(fresh.runs[0])
	st.remove(st.ben, fresh.path)
	st.want(http.StatusNotFound, nil, st.ben, http.MethodDelete, fresh.path, nil)

	for _, task := range []string{st.public, st.private, st.limited} {
		for _, submission := range st.list(st.olivia, task+"/submissions") {
			st.remove(st.olivia, task+"/submissions/"+submission)
		}
	}
	for _, e := range []entry{st.annNews, st.benBoth, st.benCACM} {
		gone(e.path)
		for _, run := range e.runs {
			gone(run)
		}
	}
	gone("/v1/evaluations/" + st.firstEvaluation.ID)
	st.remove(st.ann, st.annRegistration)
	gone(st.annRegistration)
	st.await("the dataset can go", func() error {
		if a := st.ask(st.olivia, http.MethodDelete, "/v1/datasets/"+st.news, nil); a.status != http.StatusNoContent {
			return fmt.Errorf("status %d\n%s", a.status, a.body)
		}
		return nil
	})
	gone("/v1/datasets/" + st.news)
	st.await("audit entries of the deletions", func() error {
		var p struct{ Data []record.AuditEntry }
		st.get(st.olivia, st.public+"/audit-entries?limit=200", &p)
		missing := map[string]bool{"run.deleted": true, "submission.deleted": true, "dataset.deleted": true}
		for _, e := range p.Data {
			delete(missing, e.Action)
		}
		if len(missing) > 0 {
			return fmt.Errorf("no audit entry has %v", missing)
		}
		return nil
	})
	for _, task := range []string{st.public, st.private, st.limited} {
		st.remove(st.olivia, task)
		gone(task)
		gone(task + "/submissions")
	}
	gone("/v1/datasets/" + st.cacm)
	gone(st.benRegistration)
	st.listed(st.olivia, "/v1/tasks?filter[organizerId]="+id(st.organizerPath))
	st.remove(st.olivia, st.organizerPath)
	gone(st.organizerPath)
	st.listed(st.anyone, "/v1/organizers?filter[name]="+st.tail)
}
