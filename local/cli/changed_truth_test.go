package main

import (
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
