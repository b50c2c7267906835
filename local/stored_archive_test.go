package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/testing/waittest"
)

// storedLimit is how many bytes an archive may have: the repository keeps it for ever.
const storedLimit = 1 << 20

// pack writes the files of the folder into an archive, without the results of tools, whose links end within the hour.
func pack(t *testing.T, folder, archive string) {
	t.Helper()
	objects, err := filepath.Glob(filepath.Join(folder, "files", "objects", "*"))
	for _, object := range objects {
		content, readErr := os.ReadFile(object)
		err = errors.Join(err, readErr)
		if bytes.HasPrefix(content, []byte(`{"key":"tools/`)) {
			err = errors.Join(err, os.Remove(object))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	err = errors.Join(w.AddFS(os.DirFS(folder)), w.Close(), z.Close())
	if err != nil || packed.Len() > storedLimit {
		t.Fatalf("%d bytes, of %d that are allowed: %v", packed.Len(), storedLimit, err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(archive), 0o755), os.WriteFile(archive, packed.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// unpack writes the files of an archive into the folder.
func unpack(t *testing.T, archive, folder string) {
	t.Helper()
	packed, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = packed.Close() }()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			content, readErr := io.ReadAll(r)
			err = errors.Join(readErr, root.MkdirAll(filepath.Dir(h.Name), 0o700), root.WriteFile(h.Name, content, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// storedTableOf returns a folder and the flags of a server with the kind of store; for DynamoDB, over a table with the items, unless
// they are nil. dump returns its items in DynamoDB's own JSON; it is nil for the embedded store.
func storedTableOf(t *testing.T, kind string, items []byte) (data string, flags []string, dump func(*testing.T) []byte) {
	t.Helper()
	data = t.TempDir()
	if kind == storeEmbedded {
		return data, nil, nil
	}
	cfg := startDynamoDB(t)
	name := dynamotest.TableName()
	if items != nil {
		if err := dynamo.New(cfg, name).CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		restore(t, *cfg.BaseEndpoint, name, items)
	}
	return data, dynamoDBFlags(name), func(t *testing.T) []byte {
		t.Helper()
		return askDynamoDB(t, *cfg.BaseEndpoint, "Scan", map[string]any{"TableName": name})
	}
}

// restore writes the items of an answer to Scan into the table.
func restore(t *testing.T, endpoint, name string, scan []byte) {
	t.Helper()
	var answer struct{ Items []json.RawMessage }
	if err := json.Unmarshal(scan, &answer); err != nil || len(answer.Items) == 0 {
		t.Fatal("the archive has no items", err)
	}
	for _, item := range answer.Items {
		askDynamoDB(t, endpoint, "PutItem", map[string]any{"TableName": name, "Item": item})
	}
}

// askDynamoDB sends an operation to a DynamoDB-compatible server over HTTP, and returns the answer's body.
func askDynamoDB(t *testing.T, endpoint, operation string, input any) []byte {
	t.Helper()
	r := request(t, http.MethodPost, endpoint, input)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	r.Header.Set("X-Amz-Date", "20260101T000000Z")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %.500s", operation, resp.StatusCode, err, content)
	}
	if bytes.Contains(content, []byte(`"LastEvaluatedKey"`)) {
		t.Fatalf("%s answers with a part only", operation)
	}
	return content
}

// lacks says what of the answer before, at the place named, the present one lacks; empty when all of it is there. Lists may
// have more in them; signatures of links, how often and when something changed, what users
// took, which the work that was left changes, and the words of notices, which a build makes as it answers, do not count.
func lacks(now, before any, place string) string {
	switch before := before.(type) {
	case map[string]any:
		object, _ := now.(map[string]any)
		for name, value := range before {
			if name == "updatedAt" || name == "version" || name == "notice" || name == "taken" {
				continue
			}
			if strings.HasSuffix(place, "/digests") && name == "run" && object[name] == nil {
				continue // which is withheld from callers who do not see the file
			}
			if missing := lacks(object[name], value, place+"/"+name); missing != "" {
				return missing
			}
		}
		return ""
	case []any:
		list, _ := now.([]any)
		for i, element := range before {
			same := i
			if id, ok := idOf(element); ok {
				for same = 0; same < len(list); same++ {
					if other, _ := idOf(list[same]); other == id {
						break
					}
				}
			}
			if same >= len(list) {
				return fmt.Sprintf("%s/%d is missing: %v", place, i, element)
			}
			if missing := lacks(list[same], element, fmt.Sprint(place, "/", i)); missing != "" {
				return missing
			}
		}
		return ""
	case string:
		text, _ := now.(string)
		before, _, _ = strings.Cut(before, "?")
		text, _, _ = strings.Cut(text, "?")
		if text == before {
			return ""
		}
	default:
		if reflect.DeepEqual(now, before) {
			return ""
		}
	}
	return fmt.Sprintf("%s is %v, and was %v", place, now, before)
}

func idOf(element any) (string, bool) {
	object, _ := element.(map[string]any)
	id, ok := object["id"].(string)
	return id, ok
}

// The users of leaveForLater: those who leave data, and those who use it later.
const (
	laterOwner            = "later-owner"
	laterUser             = "later-user"
	laterJoins            = "later-joins"
	laterTask, laterTitle = "Used later", "in the trash"
)

// leaveForLater leaves data of a team that a later build uses: an invitation, whose secret it returns, a submission in the trash,
// a dataset whose window closes soon enough for its team to be reminded, and events that wait for a webhook that cannot be reached.
func (s *testServer) leaveForLater(t *testing.T) (secret string) {
	t.Helper()
	owner, user := s.token(t, laterOwner), s.token(t, laterUser)
	task := s.task(t, owner, laterTask)
	s.post(t, owner, task+"/webhooks", map[string]any{"url": "https://hooks.invalid/"})
	set := s.dataset(t, owner, task, "1 0 a 1\n", map[string]any{
		"columns": []any{map[string]any{"key": "AP", "from": "close"}}, "finalRuns": 1,
		"submissions": map[string]any{"closesAt": time.Now().Add(72 * time.Hour), "perDay": 2}})
	registration := s.post(t, user, task+"/registrations", map[string]any{"team": "Later Team"})
	file := inline("later.run", "1 Q0 a 1 2.5 tag\n")
	file["datasetId"] = set
	submission := s.post(t, user, task+"/submissions", map[string]any{"type": "upload", "title": laterTitle, "files": []any{file}})
	s.object(t, user, http.MethodDelete, submission, nil)
	s.post(t, owner, task+"/announcements", map[string]any{"title": "It waits in the outbox"})
	link, _ := s.object(t, user, http.MethodPost, registration+"/invitations", map[string]any{})["secret"].(string)
	return link
}

// useWhatWasLeft joins the team of leaveForLater, restores its submission, and finds its events.
func (s *testServer) useWhatWasLeft(t *testing.T, secret string) {
	t.Helper()
	owner, joins := s.token(t, laterOwner), s.token(t, laterJoins)
	registration := s.post(t, joins, "/v1/user/memberships", map[string]any{"secret": secret})
	task, _, _ := strings.Cut(registration, "/registrations/")
	trash := s.object(t, joins, http.MethodGet, "/v1/deletions?filter[taskId]="+id(task), nil)["data"].([]any)
	deletion := trash[0].(map[string]any)
	if deletion["name"] != laterTitle {
		t.Fatalf("in the trash is %v", deletion)
	}
	s.object(t, joins, http.MethodDelete, "/v1/deletions/"+deletion["id"].(string), nil)
	waittest.Until(t, "what was deleted is restored", func() bool {
		return s.send(t, joins, http.MethodGet, deletion["subject"].(string), nil).status == http.StatusOK
	})
	hook := s.object(t, owner, http.MethodGet, task+"/webhooks", nil)["data"].([]any)[0].(map[string]any)["id"].(string)
	sent := s.object(t, owner, http.MethodGet, task+"/webhooks/"+hook+"/deliveries", nil)["data"].([]any)
	if len(sent) == 0 {
		t.Error("no event waits for the webhook")
	}
}
