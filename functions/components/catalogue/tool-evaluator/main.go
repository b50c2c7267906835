// Command snippet evaluates a run against judgments, with intervals.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

const (
	qrels = "1 0 lake 2\n1 0 pond 1\n1 0 road 0\n2 0 lake 1\n"
	run   = "1 Q0 pond 1 4.0 mine\n1 Q0 road 2 3.0 mine\n1 Q0 lake 3 2.0 mine\n2 Q0 lake 1 1.0 mine\n"
)

// file is a file in a request.
type file struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func main() {
	if err := evaluate(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func evaluate(ctx context.Context) error {
	input, err := json.Marshal(map[string]any{
		"runs":     []any{map[string]any{"files": []file{{"run.txt", run}}}},
		"truth":    map[string]any{"files": []file{{"qrels.txt", qrels}}},
		"measures": []string{"nDCG@10", "AP"},
	})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("ASSAY_URL")+"/v1/tools/evaluator", bytes.NewReader(input))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		problem, _ := io.ReadAll(resp.Body) // the problem says what to do
		return fmt.Errorf("%s: %s", resp.Status, problem)
	}
	var evaluated struct {
		Measures []string
		Runs     []struct {
			Measures  map[string]*float64 // null if a measure is not defined
			Intervals map[string]struct{ Low, High float64 }
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&evaluated); err != nil {
		return err
	}
	for _, name := range evaluated.Measures {
		first := evaluated.Runs[0]
		if value := first.Measures[name]; value != nil {
			fmt.Printf("%s %.4f [%.4f, %.4f]\n", name, *value, first.Intervals[name].Low, first.Intervals[name].High)
		}
	}
	return nil
}
