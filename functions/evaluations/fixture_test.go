package evaluations_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/functions/evaluations"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/edge/api/servertest"
)

// fixture serves the evaluations of a dataset. The user reg is registered for its task.
type fixture struct {
	*servertest.Server
	builder *recordtest.Builder
	dataset *recordtest.Dataset
}

func serve(t testing.TB, options ...func(*record.TaskItem)) *fixture {
	t.Helper()
	s := servertest.New(t, evaluations.Operations...)
	return newFixture(s, s.Records(), options...)
}

// newFixture makes another task with a dataset on the server.
func newFixture(s *servertest.Server, b *recordtest.Builder, options ...func(*record.TaskItem)) *fixture {
	task := b.Task(options...)
	task.Register("reg")
	return &fixture{s, b, task.Dataset(recordtest.Measures("nDCG@10", "AP"))}
}

// result describes an evaluation of a test.
type result struct {
	user      string
	value, ap float64 // undefined if below 0
	hidden    bool    // not published
	blinded   bool
	anonymous bool
	baseline  bool // submitted by the organizers, without a registration
}

func (f *fixture) add(r result) *record.EvaluationItem {
	options := []recordtest.RunOption{value("nDCG@10", r.value), value("AP", r.ap), func(run *recordtest.Run) {
		run.Access.Published = !r.hidden
		run.Access.Blinded = r.blinded
		run.Access.Anonymous = r.anonymous
		run.Access.Alias = "alias of " + r.user
	}}
	if r.baseline {
		options = append(options, recordtest.Baseline)
	}
	return f.dataset.Run(r.user, options...).Evaluation
}

func value(name string, v float64) recordtest.RunOption {
	if v < 0 {
		return recordtest.Undefined(name)
	}
	return recordtest.Value(name, v)
}

// get returns the evaluations of one page.
func (f *fixture) get(user, path string) []record.Evaluation {
	return servertest.List[record.Evaluation](f.Server, user, path)
}

func (f *fixture) board(query string) string { return f.dataset.Board() + "?" + query }

func ranks(list []record.Evaluation) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "%d:%s ", e.Rank, strings.TrimPrefix(e.Team, "team of "))
	}
	return strings.TrimSpace(b.String())
}
