package board

import (
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
)

// TestEmptyBoard_NamesTheVersionOfMissingResults: after a change of the ground truth, earlier results can exist. Results can also have been
// deleted or hidden again, so no sentence says that there is none "yet".
func TestEmptyBoard_NamesTheVersionOfMissingResults(t *testing.T) {
	for _, reason := range []EmptyReason{EmptyResults, EmptyBlinded, EmptyUnpublished} {
		e := EmptyBoard{Reason: reason}
		if got := e.sentence(1).Detail; !strings.Contains(got, " no result.") && !strings.Contains(got, " has a result.") {
			t.Errorf("%s: %s", reason, got)
		}
		if got := e.sentence(2).Detail; !strings.Contains(got, " against version 2 of the ground truth and evaluator.") {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

// TestEmptyBoard_KeepsHiddenRunsSecret: readers other than organizers are told nothing about whether runs exist, and nothing that is untrue
// once published runs have failed.
func TestEmptyBoard_KeepsHiddenRunsSecret(t *testing.T) {
	for reason, want := range map[EmptyReason]string{
		EmptyBlinded: "You see no result against version 2 of the ground truth and evaluator. Runs on this dataset start blinded: a " +
			"team sees its result once the organizers have unblinded the run, and others once the run is published as well. " +
			"A run that failed against this version has none.",
		EmptyUnpublished: "You see no result against version 2 of the ground truth and evaluator. A team sees the result of its " +
			"run unless the organizers have blinded the run, and others once the run is published as well. " +
			"A run that failed against this version has none.",
	} {
		if got := (&EmptyBoard{Reason: reason}).sentence(2).Detail; got != want {
			t.Errorf("%s: %s", reason, got)
		}
	}
}

// TestEmptyBoard_PromisesNothingForTheClose: runs that are blinded or not published stay hidden after it.
func TestEmptyBoard_PromisesNothingForTheClose(t *testing.T) {
	for _, until := range []*record.Instant{nil, new(record.At(time.Now()))} {
		got := (&EmptyBoard{Reason: EmptyAfterClose, Until: until}).sentence(1).Detail
		if !strings.HasPrefix(got, "Nothing is shown before ") || !strings.HasSuffix(got, AfterClose) {
			t.Errorf("%v: %s", until, got)
		}
	}
}
