// Command snippet leases a run like a worker and gives it back. It speaks gRPC with only the standard library.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run leases from its own pool, so that it takes no work from other workers.
func run(ctx context.Context) error {
	id, pool, err := submit(ctx)
	if err != nil {
		return err
	}
	answer, err := rpc(ctx, "Lease", text(text(nil, 1, "snippet"), 2, pool))
	if err != nil {
		return err
	}
	work := field(answer, 1)
	if leased := string(field(work, 1)); leased != id {
		return fmt.Errorf("leased %q, which is not run %s", leased, id)
	}
	lease := text(text(nil, 1, id), 2, string(field(work, 2)))
	if _, err := rpc(ctx, "Heartbeat", lease); err != nil {
		return err
	}
	const faultNone = 3 // the worker stops, and the run stays queued
	if _, err := rpc(ctx, "FailRun", append(lease, 3<<3, faultNone)); err != nil {
		return err
	}
	fmt.Println("run", id, "was leased and given back")
	return nil
}

// submit makes a run that waits for a worker of a new pool, which belongs to the organizer.
func submit(ctx context.Context) (runID, pool string, err error) {
	var lab, task struct{ URL string }
	if err := post(ctx, "/v1/organizers", map[string]any{"name": "My lab"}, &lab); err != nil {
		return "", "", err
	}
	pool = path.Base(lab.URL) + "/snippet-" + strings.ToLower(rand.Text()[:10])
	about := map[string]any{"organizerId": path.Base(lab.URL), "name": "Lake search", "visibility": "private"}
	if err := post(ctx, "/v1/tasks", about, &task); err != nil {
		return "", "", err
	}
	var dataset, registration struct{ ID string }
	about = map[string]any{
		"taskId": path.Base(task.URL), "name": "Lakes", "split": "training", "pool": pool,
		"truths":    []any{map[string]any{"name": "qrels.txt", "content": []byte("1 0 lake 1\n")}},
		"runFormat": map[string]any{"kind": "trec-run"},
		"evaluator": map[string]any{"kind": "retrieval", "measures": []string{"AP"}},
	}
	if err := post(ctx, "/v1/datasets", about, &dataset); err != nil {
		return "", "", err
	}
	if err := post(ctx, task.URL+"/registrations", map[string]any{"team": "My team"}, &registration); err != nil {
		return "", "", err
	}
	var submission struct{ RunIDs []string }
	about = map[string]any{"type": "image", "image": "registry.example.org/ranker:1", "datasetIds": []string{dataset.ID}}
	if err := post(ctx, task.URL+"/submissions", about, &submission); err != nil {
		return "", "", err
	}
	return submission.RunIDs[0], pool, nil
}

// grpcClient speaks HTTP/2 without TLS.
var grpcClient = &http.Client{Transport: &http.Transport{Protocols: unencrypted()}}

func unencrypted() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

// rpc calls a method of the service for workers. A message follows a byte that says that it is not compressed, and its length.
func rpc(ctx context.Context, method string, message []byte) ([]byte, error) {
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+os.Getenv("ASSAY_GRPC")+"/assay.v1.WorkerService/"+method,
		bytes.NewReader(frame))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+os.Getenv("ASSAY_TOKEN"))
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("Te", "trailers")
	resp, err := grpcClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	for _, h := range []http.Header{resp.Header, resp.Trailer} {
		if status := h.Get("Grpc-Status"); status != "" && status != "0" {
			return nil, fmt.Errorf("%s: status %s: %s", method, status, h.Get("Grpc-Message"))
		}
	}
	if len(answer) < 5 {
		return nil, errors.New(method + ": the answer has no message")
	}
	return answer[5:], nil
}

// text adds a text field to a message.
func text(message []byte, number byte, value string) []byte {
	message = binary.AppendUvarint(append(message, number<<3|2), uint64(len(value)))
	return append(message, value...)
}

// field returns the first field of this number. It and all fields before it must be texts or messages.
func field(message []byte, number byte) []byte {
	for len(message) > 0 {
		n, width := binary.Uvarint(message[1:])
		if width <= 0 || uint64(len(message)-1-width) < n {
			return nil
		}
		value, rest := message[1+width:][:n], message[1+width:][n:]
		if message[0] == number<<3|2 {
			return value
		}
		message = rest
	}
	return nil
}

// post creates a resource as the user of the token, and decodes the answer into answer.
func post(ctx context.Context, target string, body, answer any) error {
	content, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("ASSAY_URL")+target, bytes.NewReader(content))
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
		return fmt.Errorf("%s: %s. %s %s", target, resp.Status, problem.Title, problem.Detail)
	}
	return json.NewDecoder(resp.Body).Decode(answer)
}
