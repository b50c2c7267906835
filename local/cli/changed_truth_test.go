package main

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"assay/shared/testing/waittest"
)

// TestRuns_ShowOneTruthVersion reads a run while it is evaluated against a changed truth. Its values, interval and rank always belong to
// one version.
func TestRuns_ShowOneTruthVersion(t *testing.T) {
	s := serve(t, "embedded")
	olga := s.person("olga")
	olga.write("qrels.txt", qrelsFile)
	olga.write("topics.tsv", "1\tlakes\n")
	file := olga.write("task.yaml", taskFile)
	olga.want(done, "apply", file)
	submit := func(name, run string) string {
		p := s.person(name)
		p.want(done, "submit", "Lake search", "Rivers="+p.write("run.txt", run), "--wait")
		return p.ids("runs")[0]
	}
	submit("ann", betterRun)
	run := submit("tom", goodRun)

	var shown []outcome
	look := func() outcome {
		r := olga.run(t.Context(), "runs", run, "--json")
		o := decode[[]outcome](t, r.out)[0]
		shown = append(shown, o)
		return o
	}
	last := map[int64]outcome{1: look()}
	olga.write("qrels.txt", strings.Replace(qrelsFile, "sea 1", "sea 0", 1)+"2 0 sea 3\n")
	olga.want(done, "apply", file)
	waittest.Until(t, "the run and the leaderboard have the new truth", func() bool {
		o := look()
		last[2] = o
		return o.truthVersion() == 2 && o.Entry != nil
	})
	if last[2].Entry["interval"] == nil || reflect.DeepEqual(last[1].Entry["measures"], last[2].Entry["measures"]) {
		t.Fatalf("the new truth changes nothing, or gives no interval: %v", last[2].Entry)
	}
	for _, o := range shown {
		if o.Evaluation == nil {
			continue
		}
		of := last[o.truthVersion()]
		if !reflect.DeepEqual(o.Evaluation["measures"], of.Evaluation["measures"]) {
			t.Errorf("version %d has the values %v, want %v", o.truthVersion(), o.Evaluation["measures"], of.Evaluation["measures"])
		}
		for _, member := range []string{"measures", "interval", "rank"} {
			if o.Entry != nil && !reflect.DeepEqual(o.Entry[member], of.Entry[member]) {
				t.Errorf("version %d has %s %v, want %v", o.truthVersion(), member, o.Entry[member], of.Entry[member])
			}
		}
	}
}

// TestLeaderboard_SaysWhichVersionItShows shows leaderboards of servers whose runs are evaluated again. The dataset is read before the
// leaderboard, which can show a later version.
func TestLeaderboard_SaysWhichVersionItShows(t *testing.T) {
	const stand = "Shown are the results against version 1 of the ground truth and evaluator. They stand until the runs have been evaluated "
	for name, o := range map[string]struct {
		dataset string
		shown   int
		want    string
	}{
		"current": {`"truthVersion":1,"boardVersion":1`, 1, ""},
		"uncounted": {`"truthVersion":2,"boardVersion":1,"reevaluation":{"startedAt":"2030-01-01T00:00:00Z"}`, 1,
			stand + "against version 2.\n"},
		"earlier": {`"truthVersion":2,"boardVersion":1,"reevaluation":{"runs":3,"waiting":2}`, 1,
			stand + "against version 2: 1 of 3 have.\n"},
		"without progress": {`"truthVersion":2,"boardVersion":1`, 1, stand + "against version 2.\n"},
		"shown before all are evaluated": {`"truthVersion":2,"boardVersion":2,"reevaluation":{"runs":3,"waiting":2}`, 2,
			"Some runs have not been evaluated against version 2 of the ground truth and evaluator yet: 1 of 3 have.\n"},
		"changed meanwhile": {`"truthVersion":2,"boardVersion":1,"reevaluation":{"runs":3,"waiting":2}`, 2, ""},
	} {
		url, _ := answering(t, map[string]string{
			"/v1/tasks/" + someTask: `{"id":"` + someTask + `"}`,
			"/v1/datasets":          `{"data":[{"id":"d",` + o.dataset + `}]}`,
			"/v1/tools/leaderboard": fmt.Sprintf(`{"columns":[{"key":"AP"}],"truthVersion":%d,"entries":[{"rank":1,"team":"Otters","runId":"r"}]}`,
				o.shown),
		})
		p := local(t)
		_, said, _ := strings.Cut(p.want(done, "leaderboard", someTask, "--server", url), "r    -\n")
		if said != o.want {
			t.Errorf("%s: the leaderboard says %q, want %q", name, said, o.want)
		}
		if got := p.want(done, "leaderboard", someTask, "--server", url, "--json"); strings.Contains(got, "evaluated") {
			t.Errorf("%s: with --json, the leaderboard says %s", name, got)
		}
	}
}
