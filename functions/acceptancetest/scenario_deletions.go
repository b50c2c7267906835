package acceptancetest

import (
	"fmt"
	"net/http"

	"assay/shared/problem"
	"assay/shared/record"
)

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
