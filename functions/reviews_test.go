package functions_test

import (
	"net/http"
	"strings"
	"testing"

	"assay/shared/api/servertest"
	"assay/shared/record"
)

func TestRegistration_SaysWhatIsLeftOfTheQuota(t *testing.T) {
	s := newWithSubmission(t)
	for _, user := range []string{"tom", "olga"} {
		if q := servertest.Get[record.Registration](s.Server, user, s.registration).Quota; q == nil || *q.PerDay != 3 || *q.RemainingToday != 2 ||
			*q.Total != 5 || *q.Remaining != 4 || q.ResetsAt == nil {
			t.Errorf("%s sees %+v", user, q)
		}
	}
	fresh := s.register("uma", nil)
	shown := servertest.Get[map[string]any](s.Server, "uma", fresh)
	if q, ok := shown["quota"].(map[string]any); !ok || q["remainingToday"] != 3.0 || q["remaining"] != 5.0 {
		t.Errorf("%v", shown)
	}
	shown["country"] = "Norway"
	s.change("uma", fresh, shown)
	s.change("olga", s.task, map[string]any{"submissions": map[string]any{"perDay": 0, "total": 0}})
	shown = servertest.Get[map[string]any](s.Server, "uma", fresh)
	if q, ok := shown["quota"].(map[string]any); !ok || len(q) != 0 {
		t.Errorf("without limits: %v", shown)
	}
}

func TestReview_RefusesContradictingFlags(t *testing.T) {
	s := newWithSubmission(t)
	for _, flag := range []string{"missingOutput", "extraneousOutput", "invalidOutput", "hasErrorOutput", "otherErrors"} {
		a := s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, s.runPath+"/review", map[string]any{
			"noErrors": true, flag: true})
		if !strings.Contains(string(a.Body), `"pointer":"/`+flag+`"`) {
			t.Errorf("%s", a.Body)
		}
		s.change("olga", s.runPath+"/review", map[string]any{flag: true})
		s.Want(http.StatusUnprocessableEntity, nil, "olga", http.MethodPatch, s.runPath+"/review", map[string]any{"noErrors": true})
		s.change("olga", s.runPath+"/review", map[string]any{flag: false})
	}
	s.change("olga", s.runPath+"/review", map[string]any{"noErrors": true})
}

func TestReview_SaysWhatLeaderboardsDoNotShow(t *testing.T) {
	s := newWithSubmission(t)
	type patch = map[string]any
	review := s.runPath + "/review"
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
		{s.runPath, patch{"state": "cancelled"}, "the run is cancelled, so leaderboards show nothing of it"},
		{review, patch{"published": false}, ""},
		{review, patch{"published": true}, "the run is cancelled, so leaderboards show nothing of it"},
	} {
		var answered, shown map[string]any
		user := "olga"
		if c.path == s.registration || c.path == s.submission {
			user = "tom"
		}
		s.Want(http.StatusOK, &answered, user, http.MethodPatch, c.path, c.patch)
		s.Want(http.StatusOK, &shown, "olga", http.MethodGet, review, nil)
		notice, _ := shown["notice"].(string)
		if c.path == review && answered["notice"] != shown["notice"] || !strings.Contains(notice, c.notice) ||
			(notice == "") != (c.notice == "") {
			t.Errorf("%s %v: %v, answered %v", c.path, c.patch, shown, answered)
		}
	}
}
