package measure_test

import (
	"fmt"

	"assay/shared/computation/measure"
)

func ExampleParse() {
	for _, text := range []string{"NDCG@10", "P(rel=2, judged_only=True)@5", "map_cut_100", "P"} {
		m, err := measure.Parse(measure.Retrieval, text)
		fmt.Println(m, m.Depth(), err)
	}
	// Output:
	// nDCG@10 10 <nil>
	// P(rel=2,judged_only=True)@5 5 <nil>
	// AP@100 100 <nil>
	//  0 measure "P": P needs a cutoff: P@10, for example
}

func ExampleEvaluatorOf() {
	for _, f := range measure.EvaluatorOf(measure.Regression).Families[:3] {
		fmt.Printf("%s: %s Higher is better: %v\n", f.Name, f.Definition, f.HigherIsBetter)
	}
	// Output:
	// MSE: Mean squared error. Higher is better: false
	// RMSE: Square root of the mean squared error. Higher is better: false
	// MAE: Mean absolute error. Higher is better: false
}

func ExampleReport() {
	var report measure.Report
	report.Warnf("run.txt", 2, "the line has more than six fields")
	report.Errorf("run.txt", 3, "the score %q is not a number", "high")
	for _, d := range report.Diagnostics() {
		fmt.Printf("%s:%d: %s: %s\n", d.File, d.Line, d.Severity, d.Message)
	}
	fmt.Println("failed:", report.Failed())
	// Output:
	// run.txt:2: warning: the line has more than six fields
	// run.txt:3: error: the score "high" is not a number
	// failed: true
}
