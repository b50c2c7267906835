// Command snippet creates an organizer and reads it.
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

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var made struct{ URL string }
	if err := call(ctx, http.MethodPost, "/v1/organizers", map[string]any{"name": "My lab"}, &made); err != nil {
		return err
	}
	var lab struct {
		Name    string
		Members []string
	}
	if err := call(ctx, http.MethodGet, made.URL, nil, &lab); err != nil {
		return err
	}
	fmt.Printf("%s has %d member\n", lab.Name, len(lab.Members))
	return nil
}

// call sends a request as the user of the token, and decodes the answer into answer.
func call(ctx context.Context, method, path string, body, answer any) error {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(encoded)
	}
	r, err := http.NewRequestWithContext(ctx, method, os.Getenv("ASSAY_URL")+path, content)
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
		var problem struct{ Title, Detail, Message string } // a gateway in front of the server sends only a message
		_ = json.NewDecoder(resp.Body).Decode(&problem)
		return fmt.Errorf("%s %s: %s. %s %s%s", method, path, resp.Status, problem.Title, problem.Detail, problem.Message)
	}
	if resp.StatusCode == http.StatusNoContent {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}
