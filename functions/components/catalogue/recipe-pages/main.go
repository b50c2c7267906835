// Command snippet reads all pages of a list, with two resources each.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var lab, task, made struct{ URL string }
	if err := call(ctx, http.MethodPost, "/v1/organizers", map[string]any{"name": "My lab"}, &lab); err != nil {
		return err
	}
	about := map[string]any{"organizerId": path.Base(lab.URL), "name": "Lake search", "visibility": "private"}
	if err := call(ctx, http.MethodPost, "/v1/tasks", about, &task); err != nil {
		return err
	}
	for _, name := range []string{"Lakes", "Ponds", "Rivers"} {
		if err := call(ctx, http.MethodPost, "/v1/datasets", map[string]any{
			"taskId": path.Base(task.URL), "name": name, "split": "training",
			"truths":    []any{map[string]any{"name": "qrels.txt", "content": []byte("1 0 lake 1\n")}},
			"runFormat": map[string]any{"kind": "trec-run"},
			"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
		}, &made); err != nil {
			return err
		}
	}
	n := 0
	for d, err := range everything(ctx, "/v1/datasets?limit=2&fields=id,name&filter[taskId]="+path.Base(task.URL)) {
		if err != nil {
			return err
		}
		fmt.Println(d.ID, d.Name)
		n++
	}
	fmt.Println("datasets of the task:", n)
	return nil
}

// dataset holds the members that the snippet reads.
type dataset struct{ ID, Name string }

// everything yields the datasets of all pages of a list. It ends after an error.
func everything(ctx context.Context, next string) iter.Seq2[dataset, error] {
	return func(yield func(dataset, error) bool) {
		for next != "" {
			var page struct {
				Data  []dataset
				Links struct{ Next string }
			}
			if err := call(ctx, http.MethodGet, next, nil, &page); err != nil {
				yield(dataset{}, err)
				return
			}
			for _, d := range page.Data {
				if !yield(d, nil) {
					return
				}
			}
			next = page.Links.Next
		}
	}
}

// call sends a request as the user of the token, and decodes the answer into answer.
func call(ctx context.Context, method, target string, body, answer any) error {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(ctx, method, os.Getenv("ASSAY_URL")+target, content)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+os.Getenv("ASSAY_TOKEN"))
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		var problem struct{ Title, Detail string }
		_ = json.NewDecoder(resp.Body).Decode(&problem) // anything but a problem document has no title
		return fmt.Errorf("%s %s: %s. %s %s", method, target, resp.Status, problem.Title, problem.Detail)
	}
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}
