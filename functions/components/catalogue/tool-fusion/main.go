// Command snippet fuses two runs by reciprocal rank fusion.
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
	lexical = "1 Q0 lake 1 12.5 lexical\n1 Q0 road 2 11.0 lexical\n1 Q0 pond 3 3.5 lexical\n"
	dense   = "1 Q0 lake 1 0.9 dense\n1 Q0 pond 2 0.8 dense\n1 Q0 mere 3 0.7 dense\n"
)

// run is a run in a request.
type run struct {
	Files []file `json:"files"`
}

// file is a file in a request.
type file struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func main() {
	if err := fuse(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// fuse writes the fused run.
func fuse(ctx context.Context, w io.Writer) error {
	input, err := json.Marshal(map[string]any{
		"runs":   []run{{[]file{{"lexical.txt", lexical}}}, {[]file{{"dense.txt", dense}}}},
		"method": "rrf",
	})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("ASSAY_URL")+"/v1/tools/fusion", bytes.NewReader(input))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/plain")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		problem, _ := io.ReadAll(resp.Body) // the problem says what to do
		return fmt.Errorf("%s: %s", resp.Status, problem)
	}
	_, err = io.Copy(w, resp.Body)
	return err
}
