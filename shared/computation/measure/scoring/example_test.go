package scoring_test

import (
	"context"
	"fmt"

	"assay/shared/computation/measure"
	"assay/shared/computation/measure/scoring"
)

func ExampleReadTruth() {
	settings := scoring.Settings{Kind: measure.Retrieval, Measures: []string{"AP", "nDCG@10"}, Format: measure.Format{
		Kind: measure.TRECRun}}
	truth, _, err := scoring.ReadTruth(context.Background(), settings, []scoring.File{
		file("qrels.txt", "1 0 lake 2\n1 0 pond 1\n1 0 road 0\n")})
	if err != nil {
		panic(err)
	}
	e, err := truth.Read(context.Background(), []scoring.File{
		file("run.txt", "1 Q0 road 1 3.0 mine\n1 Q0 lake 2 2.0 mine\n1 Q0 pond 3 1.0 mine\n")})
	if err != nil {
		panic(err)
	}
	fmt.Printf("AP %.4f, nDCG@10 %.4f\n", *e.Result.Measures["AP"], *e.Result.Measures["nDCG@10"])
	// Output: AP 0.5833, nDCG@10 0.6697
}

func ExampleValidateRun() {
	settings := scoring.Settings{Kind: measure.Classification, Format: measure.Format{Kind: measure.CSV, IDField: "id", ValueField: "label"}}
	run := file("run.csv", "id,label\n1,spam\n1,ham\n2,\n")
	diagnostics, err := scoring.ValidateRun(context.Background(), settings, []scoring.File{run})
	if err != nil {
		panic(err)
	}
	for _, d := range diagnostics {
		fmt.Printf("%s:%d: %s\n", d.File, d.Line, d.Message)
	}
	// Output:
	// run.csv:3: the id "1" was given before, on line 2; expected every id once
	// run.csv:4: "label" is empty; expected a value
}
