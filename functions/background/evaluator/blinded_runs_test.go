package evaluator_test

import (
	"strings"
	"testing"
	"time"

	"assay/shared/computation/measure"
	"assay/shared/domain/access"
	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/testing/evaluationtest"
)

// messages returns the diagnostics of the run that a caller with the roles reads.
func messages(r *record.RunItem, roles access.Role) string {
	var all []string
	for _, d := range r.For(recordtest.SightOf(r, roles)).Diagnostics {
		all = append(all, string(d.Severity)+": "+d.Message)
	}
	return strings.Join(all, "\n")
}

const owner = access.Anyone | access.User | access.Owner

// TestBlindedRuns_OwnersReadWhatIsPublic evaluates plainly wrong runs on a blinded split: their owner reads what the inputs of the
// dataset, or a declaration of its organizers, make public, and no more; the organizers read all.
func TestBlindedRuns_OwnersReadWhatIsPublic(t *testing.T) {
	const (
		lacksTopic = "q1 Q0 d2 1 2.0 tag\nq1 Q0 d1 2 1.0 tag\n"
		unjudged   = "q1 Q0 x 1 2.0 tag\nq2 Q0 y 1 2.0 tag\n"
		alien      = "Q1 Q0 d1 1 2.0 tag\n"
		lines      = "q1 Q0 d1 1 1.0 tag\nq1 Q0 d2 2 2.0 tag\nq2 Q0 d3 1 2.0 tag\n"
	)
	f := newFixture(t)
	f.start()
	evaluated := func(content string, state record.RunState) *record.RunItem {
		t.Helper()
		return f.Until(f.Add(content, func(r *recordtest.Run) { r.Access.Blinded, r.Counted = true, true }).ID, state)
	}
	reads := func(content string, state record.RunState, want string, organizers string) {
		t.Helper()
		r := evaluated(content, state)
		if got := messages(r, owner); got != want {
			t.Errorf("the owner reads\n%s\nwant\n%s", got, want)
		}
		if got := messages(r, access.Organizer); !strings.Contains(got, organizers) {
			t.Errorf("the organizers read\n%s\nwant\n%s", got, organizers)
		}
	}
	const (
		missing    = `topics missing from the run, which count with nothing retrieved: 1 of 2 topics of the truth: "q2"`
		none       = `none of the topics of the run ("Q1") is among the 2 of the truth; check the first field of the lines; the likely cause: "Q1" differs from "q1" only in upper and lower case, and both are compared byte by byte`
		noJudgment = `no document of the run is judged for its topic, so nothing that it retrieves counts as relevant: "x", "y"; check the third field of the lines`
	)
	reads(lacksTopic, record.Completed, "", missing)
	reads(unjudged, record.Completed, "", noJudgment)
	if got := messages(evaluated(lines, record.Completed), owner); !strings.Contains(got, "rank and score contradict") {
		t.Errorf("the owner reads\n%s", got)
	}
	if got := messages(evaluated(alien, record.Failed), owner); strings.Contains(got, "topic") ||
		!strings.Contains(got, "Why the run failed is not shown") {
		t.Errorf("the owner reads\n%s", got)
	}

	f.change(func(d *record.DatasetItem) {
		d.Inputs = []record.File{f.Records.File(record.HolderInputs, d.ID, "topics.tsv", "q1\tlakes\nq2\tponds\nq3\tseas\n")}
	})
	reads(lacksTopic, record.Completed, `warning: topics missing from the run: 2 of 3 topics of the inputs of the dataset: "q2", "q3"`,
		missing)
	f.change(func(d *record.DatasetItem) {
		d.Inputs = append(d.Inputs, f.Records.File(record.HolderInputs, d.ID, "corpus.tsv", "d1\ta lake\nd2\ta pond\nx\ta sea\n"))
	})
	reads(unjudged, record.Completed, `warning: topics missing from the run: 1 of 3 topics of the inputs of the dataset: "q3"`+"\n"+
		`warning: documents that are not in the inputs of the dataset: 1 of 2 documents that the run has over all topics: "y"`, noJudgment)

	f.change(func(d *record.DatasetItem) {
		d.Inputs, d.IDsPublic = nil, true
		d.Truths = []record.File{recordtest.File("announced.txt", "q3 0 d1 1\n", record.FileStored)}
	})
	reads(lacksTopic, record.Completed, "", missing)
	f.change(func(d *record.DatasetItem) { d.Truths = f.Truth.Files })
	reads(lacksTopic, record.Completed, "warning: "+missing, missing)
	reads(unjudged, record.Completed, "", noJudgment)
	for range record.MaxTruthFailures + 1 { // failures about public data are not limited
		reads(alien, record.Failed, "error: "+none+"\nerror: "+`the topics of the truth are "q1", "q2"`, none)
	}
}

// TestBlindedRuns_LabelsThatArePublic does the same where items are classified.
func TestBlindedRuns_LabelsThatArePublic(t *testing.T) {
	f := newFixture(t)
	f.Truth.RunFormat = record.RunFormat{Kind: "csv", IDField: "id", ValueField: "label"}
	f.Truth.Evaluator = record.Evaluator{Kind: string(measure.Classification), Measures: []string{"Accuracy"}}
	f.Truth.Files = []record.File{f.Records.File(record.HolderTruths, f.Dataset.ID, "labels.csv", "id,label\na,pos\nb,neg\nc,pos\n")}
	f.Records.Replace(f.Truth)
	f.start()
	evaluate := func(content string, state record.RunState, blinded bool) *record.RunItem {
		t.Helper()
		return f.Until(f.Add(content, func(r *recordtest.Run) { r.Access.Blinded, r.Counted = blinded, true }).ID, state)
	}
	const (
		positive = "id\tlabel\na\tpositive\nb\tneg\nc\tpositive\n"
		wrong    = "id,label\na,Pos\nb,Neg\nc,Pos\n"
		unknown  = `the truth has no label "positive"; every prediction of it counts as wrong`
		none     = `error: none of the labels predicted ("Pos", "Neg") is among the 2 of the truth ("neg", "pos"); check the field "label"; the likely cause: "Pos" differs from "pos" only in upper and lower case`
	)
	for _, blinded := range []bool{false, true} {
		partly := evaluate(positive, record.Completed, blinded)
		wholly := evaluate(wrong, record.Failed, blinded)
		if got := messages(partly, owner); strings.Contains(got, unknown) == blinded {
			t.Errorf("the owner reads %s", got)
		}
		if got := messages(wholly, owner); strings.Contains(got, none) == blinded {
			t.Errorf("the owner reads %s", got)
		}
		if got := messages(partly, access.Organizer) + messages(wholly, access.Organizer); !strings.Contains(got, unknown) ||
			!strings.Contains(got, none) {
			t.Errorf("the organizers read %s", got)
		}
	}
	f.change(func(d *record.DatasetItem) {
		d.LabelsPublic, d.Truths = true, f.Truth.Files
		d.Inputs = []record.File{f.Records.File(record.HolderInputs, d.ID, "items.csv", "text,id\none,a\ntwo,b\nthree,c\nfour,d\n")}
	})
	if got := messages(evaluate(positive, record.Completed, true), owner); !strings.Contains(got, unknown) {
		t.Errorf("the owner reads %s", got)
	}
	if got := messages(evaluate(wrong, record.Failed, true), owner); !strings.Contains(got, none) {
		t.Errorf("the owner reads %s", got)
	}
	got := messages(evaluate("id,label\na,pos\nb ,neg\n", record.Failed, true), owner)
	for _, want := range []string{
		`warning: ids that are not in the inputs of the dataset: 1 of 2 ids of the run: "b "; the likely cause: "b " differs from "b" only in blanks before or after it`,
		`warning: there is no prediction for 3 of 4 ids of the inputs of the dataset: "b", "c", "d"`,
		"The run failed, and one of its warnings may name the cause",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the owner reads %s, without %s", got, want)
		}
	}
	if strings.Contains(got, "truth has no id") || strings.Contains(got, "ids of the truth") {
		t.Errorf("the owner reads %s", got)
	}
	const (
		others = "id,label\nx,pos\ny,neg\n"
		shown  = `the ids of the truth are "a", "b", "c"`
	)
	for _, public := range []bool{false, true} {
		f.change(func(d *record.DatasetItem) { d.Inputs, d.IDsPublic = nil, public })
		r := evaluate(others, record.Failed, true)
		if got := messages(r, owner); strings.Contains(got, shown) != public {
			t.Errorf("with public ids %v, the owner reads %s", public, got)
		}
		if got := messages(r, access.Organizer); !strings.Contains(got, shown) {
			t.Errorf("the organizers read %s", got)
		}
	}
}

// TestDigests_TruthIsKeyed evaluates two runs on a dataset, whose secret keys the digests of both.
func TestDigests_TruthIsKeyed(t *testing.T) {
	f := newFixture(t)
	ids := []string{f.Add(evaluationtest.Ranked).ID, f.Add(evaluationtest.Ranked).ID}
	f.start()
	plain := digest(f.Truth.Files[0].SHA256)
	for _, id := range ids {
		e := get[record.EvaluationItem](f, record.EvaluationKey(f.Until(id, record.Completed).EvaluationID))
		secret := get[record.TruthSecret](f, record.TruthSecretKey(f.Dataset.ID))
		if secret == nil || e.Digests.Truth != secret.Digest(plain) || e.Digests.Truth == plain || e.Digests.PlainTruth != plain {
			t.Errorf("%+v", e.Digests)
		}
	}
}

// TestBlindedRuns_BoundFailuresThatRevealTheTruth: blinded runs without topics of the truth fail without a reason five times a day; after
// that their owner cannot tell them from evaluated runs. Faults that concern only the files are always shown.
func TestBlindedRuns_BoundFailuresThatRevealTheTruth(t *testing.T) {
	f := newFixture(t)
	f.start()
	const other, long = "q8 Q0 d2 1 2.0 tag\n", "q8 Q0 d2 1 2.0 tag and more\n"
	user := record.NewID(f.Now())
	blinded := func(r *recordtest.Run) {
		r.UserID = user
		r.Access.Blinded = true
		r.Counted = true
	}
	evaluated := func(content string, state record.RunState, alter ...recordtest.RunOption) *record.RunItem {
		t.Helper()
		r := f.Until(f.Add(content, alter...).ID, state)
		if r.Counted != (state == record.Completed) && len(alter) > 0 {
			t.Errorf("%s run counts: %v", r.State, r.Counted)
		}
		return r
	}
	day := func() {
		t.Helper()
		for range record.MaxTruthFailures {
			r := evaluated(other, record.Failed, blinded)
			if read := messages(r, owner); strings.Contains(read, "topic") || !strings.Contains(read, "could tell of the truth") {
				t.Errorf("the owner reads %q", read)
			}
		}
		const further = " UTC no further run of your team in the task whose values you do not see"
		for content, want := range map[string]string{other: further, long: "more than six fields"} {
			r := evaluated(content, record.Completed, blinded)
			if read := messages(r, owner); !strings.Contains(read, want) || strings.Contains(read, "topic") {
				t.Errorf("the owner reads %q", read)
			}
			shown := r.For(recordtest.SightOf(r, owner))
			if shown.EvaluationID != "" || !measure.HasErrors(r.For(recordtest.SightOf(r, access.Organizer)).Diagnostics) {
				t.Errorf("%+v", shown)
			}
			if e := get[record.EvaluationItem](f, record.EvaluationKey(r.EvaluationID)); e.Measures["AP"] != nil || e.Reasons["AP"] == "" {
				t.Errorf("%+v", e.Evaluation)
			}
		}
	}
	day()
	same := messages(evaluated(evaluationtest.Ranked, record.Completed, blinded), owner)
	if missing := messages(evaluated("q1 Q0 d2 1 2.0 tag\n", record.Completed, blinded), owner); missing != same ||
		!strings.Contains(same, "runs of your team had failed 5 times") || strings.Contains(same, "\n") {
		t.Errorf("the owner of a run that lacks a topic reads %q", missing)
	}
	if read := messages(evaluated(evaluationtest.Ranked, record.Completed, blinded), access.Organizer); read != "" {
		t.Errorf("the organizers read %q", read)
	}
	for range 2 { // failures that concern only the file are not limited
		if read := messages(evaluated("q1 Q0 d2\n", record.Failed, blinded), owner); !strings.Contains(read, "only 3 of 6 fields") {
			t.Errorf("the owner reads %q", read)
		}
	}
	evaluated(other, record.Failed, func(r *recordtest.Run) { r.Access.Blinded, r.Counted = true, true }) // another team
	for range record.MaxTruthFailures + 1 {
		r := evaluated(other, record.Failed, func(r *recordtest.Run) { r.UserID = user })
		if read := messages(r, owner); !strings.Contains(read, "the topics of the truth are") {
			t.Errorf("the owner of a run that is not blinded reads %q", read)
		}
	}
	f.Wait(25 * time.Hour)
	if read := messages(evaluated(evaluationtest.Ranked, record.Completed, blinded), owner); read != "" {
		t.Errorf("a day later the owner reads %q", read)
	}
	day()
}

// TestRuns_AreComparedWithTextsOfInputs evaluates a span that ends after its text in the inputs. The ids of the inputs, of which the truth
// has only one, matter only for blinded runs.
func TestRuns_AreComparedWithTextsOfInputs(t *testing.T) {
	const (
		truth = `{"id":"a","spans":[{"start":0,"end":4,"type":"PER"}]}`
		run   = `{"id":"a","spans":[{"start":0,"end":4,"type":"PER"},{"start":5,"end":10,"type":"PER"}]}`
		past  = "the span from 5 to 10 ends after the 9 characters of the text in the inputs of the dataset"
		lacks = "there is no prediction for 1 of 2 ids of the inputs of the dataset"
	)
	f := newFixture(t)
	f.Truth.RunFormat = record.RunFormat{Kind: "jsonl", IDField: "id", ValueField: "spans"}
	f.Truth.Evaluator = record.Evaluator{Kind: string(measure.Spans), Measures: []string{"DocumentF1"}}
	f.Truth.Files = []record.File{f.Records.File(record.HolderTruths, f.Dataset.ID, "spans.jsonl", truth+"\n")}
	f.Records.Replace(f.Truth)
	f.start()
	f.change(func(d *record.DatasetItem) {
		texts := `{"id":"a","text":"Anna Bell"}` + "\n" + `{"id":"b","text":"no name"}` + "\n"
		d.Inputs = []record.File{f.Records.File(record.HolderInputs, d.ID, "texts.jsonl", texts)}
	})
	for _, blinded := range []bool{false, true} {
		r := f.Until(f.Add(run+"\n", func(r *recordtest.Run) { r.Access.Blinded, r.Counted = blinded, true }).ID, record.Completed)
		got := messages(r, owner)
		if !strings.Contains(got, past) || strings.Contains(got, lacks) != blinded {
			t.Errorf("blinded %t: the owner reads %s", blinded, got)
		}
	}
}
