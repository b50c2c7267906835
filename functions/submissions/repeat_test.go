package submissions_test

import (
	"maps"
	"net/http"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api"
	"assay/shared/edge/api/servertest"
)

// once returns the body of a submission of files, without again.
func once(files ...object) object { return object{"type": "upload", "files": files} }

// with returns a copy of the body with another member.
func with(body object, name string, value any) object {
	body = maps.Clone(body)
	body[name] = value
	return body
}

// repeat submits the body as the user, and requires the answer 200 with the submission, without a charge.
func (f *fixture) repeat(user string, body object, of record.Submission) (v record.Submission) {
	f.t.Helper()
	before := f.allowance()
	a := f.Want(http.StatusOK, &v, user, http.MethodPost, f.path, body)
	if v.ID != of.ID || a.Header.Get("Location") != f.path+"/"+of.ID || v.Quota == nil {
		f.t.Errorf("the answer is %+v, want %s", v, of.ID)
	}
	if after := f.allowance(); after.Version != before.Version {
		f.t.Errorf("a repeated submission changed %+v to %+v", before, after)
	}
	return v
}

// state changes the run.
func (f *fixture) state(id string, change func(*record.RunItem)) {
	f.t.Helper()
	r := f.run(id)
	change(r)
	f.Records().Replace(r)
}

// TestRepeat_IsAnsweredWhileTheRunStands: a draft that the team has submitted gets that submission while its run waits, is under way or is
// completed, also after the quota and the window have ended. Otherwise it becomes a new submission.
func TestRepeat_IsAnsweredWhileTheRunStands(t *testing.T) {
	for state, stands := range map[record.RunState]bool{
		record.AwaitingUpload: true, record.Queued: true, record.Running: true, record.Evaluating: true, record.Completed: true,
		record.Failed: false, record.Cancelled: false,
	} {
		s := serve(t, func(t *record.TaskItem) { t.Submissions.ClosesAt = new(record.At(time.Now().Add(time.Hour))) })
		body := once(inline(s.dataset(), "run.txt", ranked))
		first := s.submit(body)
		s.state(first.RunIDs[0], func(r *record.RunItem) { r.State, r.TruthVersion = state, 1 })
		if !stands {
			second := s.submit(body)
			s.repeat("ada", body, second)
			continue
		}
		s.repeat("ada", body, first)
		s.ahead.Store(int64(2 * time.Hour))
		s.repeat("ada", body, first)
		s.Want(http.StatusForbidden, nil, "ada", http.MethodPost, s.path, with(body, "again", true))
	}
}

// TestRepeat_IsForTheTruthInUse: a run that was evaluated against an earlier truth does not stand until it is queued again, for whichever
// later truth.
func TestRepeat_IsForTheTruthInUse(t *testing.T) {
	s := serve(t)
	set := s.dataset()
	body := once(inline(set, "run.txt", ranked))
	first := s.submit(body)
	is := func(state record.RunState, number int64) {
		s.state(first.RunIDs[0], func(r *record.RunItem) { r.State, r.TruthVersion = state, number })
	}
	truth := recordtest.Get[record.TruthVersion](t, s.Store, record.TruthKey(set.ID))
	is(record.Completed, truth.Number)
	s.repeat("ada", body, first)
	truth.Number++
	s.Records().Replace(truth)
	is(record.Completed, truth.Number)
	s.repeat("ada", body, first)
	for _, waits := range []record.RunState{record.Queued, record.Evaluating} {
		is(waits, truth.Number-1) // the truth changed again while the run waited
		s.repeat("ada", body, first)
	}
	is(record.Completed, truth.Number-1)
	s.submit(body)
}

// TestRepeat_KnowsTheSameDraft changes one member at a time. What is the same in other words is the same draft.
func TestRepeat_KnowsTheSameDraft(t *testing.T) {
	s := serve(t)
	one, two := s.dataset(), s.dataset()
	a, b := inline(one, "run.txt", ranked), inline(two, "run.txt", another)
	body := with(once(a, b), "title", "BM25")
	first := s.submit(body)
	uploaded := with(once(announced(two, "run.txt", another), announced(one, "run.txt", ranked)), "title", "BM25")
	for _, same := range []object{body, uploaded, with(body, "datasetIds", []string{two.ID, one.ID}), with(body, "again", false)} {
		s.repeat("ada", same, first)
	}
	for name, other := range map[string]object{
		"title": with(body, "title", "BM26"), "visibility": with(body, "visibility", "public"), "notes": with(body, "notes", "k1 = 1"),
		"a file's name": with(once(inline(one, "other.txt", ranked), b), "title", "BM25"),
		"bytes":         with(once(inline(one, "run.txt", another), b), "title", "BM25"),
		"fewer files":   with(once(a), "title", "BM25"),
		"again":         with(body, "again", true),
	} {
		if made := s.submit(other); made.ID == first.ID {
			t.Errorf("another %s is no other draft", name)
		}
	}
	image := servertest.Image(one.ID)
	delete(image, "again")
	first = s.submit(image)
	s.repeat("ada", image, first)
	s.submit(with(image, "command", "rank"))
	s.submit(with(image, "image", "registry.example.org/entry:2"))
}

// TestRepeat_NeedsEveryRun: if a run of several datasets has failed, the draft is submitted to all of them again.
func TestRepeat_NeedsEveryRun(t *testing.T) {
	s := serve(t)
	body := once(inline(s.dataset(), "run.txt", ranked), inline(s.dataset(), "run.txt", ranked))
	first := s.submit(body)
	s.repeat("ada", body, first)
	s.state(first.RunIDs[1], func(r *record.RunItem) { r.State = record.Failed })
	second := s.submit(body)
	s.Want(http.StatusNoContent, nil, "ada", http.MethodDelete, s.path+"/"+second.ID, nil)
	if third := s.submit(body); len(third.RunIDs) != 2 || third.ID == second.ID {
		t.Errorf("after a deletion: %+v", third)
	}
}

// TestRepeat_IsOfTheTeam: the draft of a member is the draft of all members, and of nobody else.
func TestRepeat_IsOfTheTeam(t *testing.T) {
	s := serve(t)
	s.task.Register("carl", recordtest.With("cleo"))
	s.task.Register("rejected", inState(record.Rejected))
	body := once(inline(s.dataset(), "run.txt", ranked))
	first := s.submit(body)
	var other, mate record.Submission
	s.Want(http.StatusCreated, &other, "carl", http.MethodPost, s.path, body)
	s.Want(http.StatusOK, &mate, "cleo", http.MethodPost, s.path, body)
	if other.ID == first.ID || mate.ID != other.ID || len(mate.Files) != 1 {
		t.Errorf("another team gets %s, and its member %+v", other.ID, mate)
	}
	s.Want(http.StatusForbidden, nil, "rejected", http.MethodPost, s.path, body)
	for range 2 { // No quota counts baselines.
		s.Want(http.StatusCreated, nil, "olga", http.MethodPost, s.path, with(body, "baseline", true))
	}
}

// TestRepeat_ContinuesAnUpload: the answer has the links for the files that are missing.
func TestRepeat_ContinuesAnUpload(t *testing.T) {
	s := serve(t)
	body := once(announced(s.dataset(), "run.txt", ranked))
	first := s.submit(body)
	again := s.repeat("ada", body, first)
	if again.Files[0].Upload == nil {
		t.Fatalf("no link to upload the file: %+v", again.Files)
	}
	s.Upload(again.Files[0].Upload, []byte(ranked))
	if v := s.repeat("ada", body, first); v.Files[0].State != record.FileStored || v.Files[0].Upload != nil {
		t.Errorf("the file has arrived: %+v", v.Files)
	}
}

// TestRepeat_OfConcurrentRequestsIsChargedOnce submits the same draft from two members at once.
func TestRepeat_OfConcurrentRequestsIsChargedOnce(t *testing.T) {
	s := serve(t)
	s.task.Register("carl", recordtest.With("cleo"))
	body := once(inline(s.dataset(), "run.txt", ranked))
	users := []string{"carl", "cleo"}
	statuses := servertest.Concurrently(20, func(i int) servertest.Answer { return s.Do(users[i%2], http.MethodPost, s.path, body) })
	if statuses[http.StatusCreated] != 1 || statuses[http.StatusOK] == 0 || statuses[http.StatusInternalServerError] > 0 {
		t.Errorf("answers by status: %v", statuses)
	}
	a := recordtest.Get[record.Allowance](t, s.Store, s.allowanceKey("carl"))
	if a.Total != 1 || a.Submissions != 1 || s.FileCount() != 1 {
		t.Errorf("%+v and %d files", a, s.FileCount())
	}
}

// TestRepeat_GivesWayToIdempotencyKeys: a repeated key gets the first answer, whatever has become of the run. A preview says that nothing
// would change.
func TestRepeat_GivesWayToIdempotencyKeys(t *testing.T) {
	s := serve(t)
	body := once(inline(s.dataset(), "run.txt", ranked))
	key := []string{"Idempotency-Key", "one"}
	var first, replayed, repeated record.Submission
	s.Want(http.StatusCreated, &first, "ada", http.MethodPost, s.path, body, key...)
	a := s.Want(http.StatusCreated, &replayed, "ada", http.MethodPost, s.path, body, key...)
	if replayed.ID != first.ID || a.Header.Get("Idempotent-Replay") != "true" {
		t.Errorf("the key got %+v", replayed)
	}
	s.Want(http.StatusUnprocessableEntity, nil, "ada", http.MethodPost, s.path, with(body, "again", true), key...)
	for range 2 {
		s.Want(http.StatusOK, &repeated, "ada", http.MethodPost, s.path, body, "Idempotency-Key", "two")
	}
	preview := api.Preview{Resource: &repeated}
	s.Want(http.StatusOK, &preview, "ada", http.MethodPost, s.path+"?preview=true", body)
	if preview.Status != http.StatusOK || repeated.ID != first.ID || len(preview.Effects) > 0 {
		t.Errorf("the preview is %+v", preview)
	}
}
