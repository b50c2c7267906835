package work_test

import (
	"maps"
	"math"
	"strings"
	"testing"

	"assay/grpc/assayv1"

	"google.golang.org/grpc/codes"
)

const secret = "the-true-label"

// evaluation is the evaluation of a run by a command.
func evaluation(t *testing.T, command string) *server {
	w := &assayv1.Work{
		Kind: assayv1.WorkKind_WORK_KIND_EVALUATION, Image: "registry.example.org/organizers/evaluator:2", Command: command,
		TruthVersion: 7, Measures: []string{"ndcg", "recall"},
	}
	s := newServer(t, w)
	w.RunFiles = []*assayv1.File{s.file("run.txt", "run")}
	w.Truths = []*assayv1.File{s.file("qrels.txt", secret)}
	w.Inputs = []*assayv1.File{s.file("topics.txt", "topics")}
	return s
}

const json = `{"measures": {"ndcg": 0.25, "recall": null, "more": 3}, "topics": {"t1": {"ndcg": 1, "other": 2}}}`

func TestEvaluate_ReportsMeasures(t *testing.T) {
	s := evaluation(t, `
		test "$(cat "$ASSAY_RUN/run.txt" "$ASSAY_TRUTH/qrels.txt" "$ASSAY_INPUT/topics.txt")" = run`+secret+`topics || exit 9
		echo '`+json+`' > "$ASSAY_OUTPUT/evaluation.json"`).finish(nil)
	r := s.reported
	if r.GetTruthVersion() != 7 || !strings.HasPrefix(r.GetEvaluatorVersion(), "command sha256:") {
		t.Fatalf("reported %v, failed %v", r, s.failed)
	}
	if m := r.GetMeasures(); len(m) != 2 || m["ndcg"] != 0.25 || !math.IsNaN(m["recall"]) {
		t.Errorf("measures %v", m)
	}
	if topics := r.GetTopics(); len(topics) != 1 || !maps.Equal(topics["t1"].GetMeasures(), map[string]float64{"ndcg": 1}) {
		t.Errorf("topics %v", topics)
	}
}

func TestEvaluate_ReadsPrototext(t *testing.T) {
	s := evaluation(t, `cat > "$ASSAY_OUTPUT/evaluation.prototext" <<'END'
measure {
  key: "ndcg"
  value: "0.5"
}
measure{
  key: "recall"
  value: "1e-3"
}
END`).finish(nil)
	if m := s.reported.GetMeasures(); !maps.Equal(m, map[string]float64{"ndcg": 0.5, "recall": 0.001}) {
		t.Errorf("measures %v, failed %v", m, s.failed)
	}
}

func TestEvaluate_FailuresRevealNothingOfTheTruth(t *testing.T) {
	for name, c := range map[string]struct{ command, want string }{
		"exit code": {`cat "$ASSAY_TRUTH/qrels.txt"; cat "$ASSAY_TRUTH/qrels.txt" >&2; exit 3`, "It ended with exit code 3"},
		"no JSON":   {`cat "$ASSAY_TRUTH/qrels.txt" > "$ASSAY_OUTPUT/evaluation.json"`, "cannot be read: it is not JSON"},
		"no number": {`echo '{"ndcg": "` + secret + `"}' > "$ASSAY_OUTPUT/evaluation.json"`, "the measure ndcg must be a number"},
		"no text":   {`cat "$ASSAY_TRUTH/qrels.txt" > "$ASSAY_OUTPUT/evaluation.prototext"`, "it must consist of blocks"},
		"missing": {`echo '{"ndcg": 1, "` + secret + `": 1}' > "$ASSAY_OUTPUT/evaluation.json"`,
			"lacks measures that the dataset names: recall"},
		"nothing": {`true`, "neither evaluation.json nor evaluation.prototext"},
		"link":    {`ln -s "$ASSAY_TRUTH/qrels.txt" "$ASSAY_OUTPUT/evaluation.json"`, "must be a file, and no link"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			safe, other := evaluation(t, c.command).finish(nil).diagnostics(assayv1.FailRunRequest_FAULT_RUN)
			if !strings.Contains(safe, c.want) || strings.Contains(safe+other, secret) {
				t.Errorf("safe %q, other %q", safe, other)
			}
		})
	}
}

func TestEvaluate_DropsResultsOfAnOutdatedTruth(t *testing.T) {
	s := evaluation(t, `echo '`+json+`' > "$ASSAY_OUTPUT/evaluation.json"`)
	s.before = func(method string, _ int) error {
		if method == "ReportEvaluation" {
			s.end()
			return refuse(codes.Aborted, "TRUTH_CHANGED")
		}
		return nil
	}
	s.finish(nil)
	if s.calls["ReportEvaluation"] != 1 || s.calls["FailRun"] != 0 {
		t.Errorf("calls %v", s.calls)
	}
}
