//go:build attack

package attack

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"path"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/testing/waittest"
)

type object = map[string]any

// server is the program with a task: its organizer, a bystander who has submitted, and attackers without a role in the task.
type server struct {
	program *program
	random  *rand.Rand
	profile profile
	journal *journal
	little  *littleUser // during the scenario

	organizer, participant            *user
	task, dataset                     string  // resources of the organizer
	bystander, attacker               *user   // users of the current scenario
	oldRun                            string  // run of the bystander
	ownTask, ownDataset, ownOrganizer string  // resources of the attacker
	extraUsers                        []*user // users who store files, each up to its own quota
	uploadTask, uploadDataset         string  // resources to which extraUsers submit
	anonymous                         *user
	linkUser                          *user // sends requests with signed links, without a token
	addresses                         int   // number of addresses that users have
	serial                            atomic.Int64
}

// user is a caller. It has its own address if the system has several loopback addresses.
type user struct {
	name, token string
	client      *http.Client
}

func newServer(t *testing.T, p *program, random *rand.Rand, load profile) *server {
	t.Helper()
	s := &server{program: p, random: random, profile: load}
	s.anonymous, s.linkUser = s.newUser(), s.newUser()
	s.organizer, s.participant = s.login(t, "organizer"), s.login(t, "participant")
	s.task, s.dataset, _ = s.newTask(t, s.organizer, "Lake search")
	s.create(t, s.participant, s.task+"/registrations", object{"team": "Participants"})
	s.addUsers(t)
	s.uploadTask, s.uploadDataset = s.ownTask, s.ownDataset
	for n := range 6 {
		u := s.login(t, fmt.Sprint("user-", n))
		s.create(t, u, s.uploadTask+"/registrations", object{"team": u.name})
		s.extraUsers = append(s.extraUsers, u)
	}
	return s
}

// addUsers adds a bystander who has submitted once, and an attacker with a task. Each scenario has new users, so that no quota is used up
// and no team has more runs than people submit.
func (s *server) addUsers(t *testing.T) {
	t.Helper()
	n := s.serial.Add(1)
	s.bystander = s.login(t, fmt.Sprint("bystander-", n))
	s.attacker = s.login(t, fmt.Sprint("attacker-", n))
	s.ownTask, s.ownDataset, s.ownOrganizer = s.newTask(t, s.attacker, "Pond search")
	s.create(t, s.bystander, s.task+"/registrations", object{"team": s.bystander.name})
	s.oldRun = s.submit(t, s.bystander, s.task, s.dataset, runFile("lake", 100))
	s.waitFor(t, s.bystander, s.oldRun)
}

// newTask makes an organizer of a user, with an open task and a dataset.
func (s *server) newTask(t *testing.T, u *user, name string) (task, dataset, organizer string) {
	t.Helper()
	organizer = s.create(t, u, "/v1/organizers", object{"name": name})
	task = s.create(t, u, "/v1/tasks", object{"organizerId": path.Base(organizer), "name": name})
	dataset = s.create(t, u, "/v1/datasets", object{
		"taskId": path.Base(task), "name": name, "split": "training", "runFormat": object{"kind": "trec-run"},
		"inputs": []any{inline("topics.jsonl", []byte(`{"id":"1","query":"lake"}`+"\n"))}, "truths": []any{inline("qrels", qrels(50, 10))},
		"evaluator": object{"kind": "retrieval", "measures": []string{"nDCG@10", "AP"}},
	})
	return task, dataset, organizer
}

// submit submits an inline file and returns the path of its run.
func (s *server) submit(t *testing.T, u *user, task, dataset string, content []byte) string {
	t.Helper()
	file := inline("run.txt", content)
	file["datasetId"] = path.Base(dataset)
	var made struct{ RunIDs []string }
	s.decode(t, u, http.MethodPost, task+"/submissions", object{"type": "upload", "files": []any{file}, "again": true}, &made)
	return "/v1/runs/" + made.RunIDs[0]
}

// waitFor waits until a run has ended, and returns its state.
func (s *server) waitFor(t *testing.T, u *user, run string) (state string) {
	t.Helper()
	return waittest.Value(t, run+" has ended", func() (state string, expected bool) {
		var r struct{ State string }
		s.decode(t, u, http.MethodGet, run+"?fields=state", nil, &r)
		return r.State, r.State == "completed" || r.State == "failed"
	})
}

// make creates a resource as a user, and returns its path. It decodes the answer unless into is nil.
func (s *server) make(u *user, target string, body, into any) (made string, err error) {
	status, header, answer, err := s.call(u, http.MethodPost, target, body)
	if err == nil && status != http.StatusCreated {
		err = fmt.Errorf("POST %s: status %d: %.300s", target, status, answer)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(answer, into)
	}
	return header.Get("Location"), err
}

// remove deletes a resource as a user.
func (s *server) remove(res *results, u *user, target string) {
	if status, _, answer, err := s.call(u, http.MethodDelete, target, nil); err != nil || status >= http.StatusBadRequest {
		res.fault("DELETE %s: status %d, %v: %.300s", target, status, err, answer)
	}
}

// stateOf returns the state of a run.
func (s *server) stateOf(u *user, runID string) (string, error) {
	var r struct{ State string }
	status, _, answer, err := s.call(u, http.MethodGet, "/v1/runs/"+runID+"?fields=state", nil)
	if err == nil && status == http.StatusOK {
		err = json.Unmarshal(answer, &r)
	}
	return r.State, err
}

func inline(name string, content []byte) object {
	return object{"name": name, "content": base64.StdEncoding.EncodeToString(content)}
}

// qrels returns judgments of a number of documents for each topic.
func qrels(topics, documents int) []byte {
	var b bytes.Buffer
	for topic := range topics {
		for document := range documents {
			fmt.Fprintf(&b, "%d 0 d%d %d\n", topic+1, document, document%2)
		}
	}
	return b.Bytes()
}

// runFile returns a run that ranks a number of documents for each of fifty topics.
func runFile(tag string, documents int) []byte {
	var b bytes.Buffer
	for topic := range 50 {
		for document := range documents {
			fmt.Fprintf(&b, "%d Q0 d%d %d %d %s\n", topic+1, document, document+1, documents-document, tag)
		}
	}
	return b.Bytes()
}

// newUser returns an anonymous caller. Linux has all of 127.0.0.0/8 on its loopback interface.
func (s *server) newUser() *user {
	s.addresses++
	d := &net.Dialer{Timeout: 10 * time.Second}
	if runtime.GOOS == "linux" {
		d.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+s.addresses/250), byte(1+s.addresses%250))}
	}
	transport := &http.Transport{DialContext: d.DialContext, MaxIdleConnsPerHost: 64, DisableCompression: true}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &user{client: &http.Client{Transport: transport, CheckRedirect: noRedirect}}
}

func (s *server) login(t *testing.T, name string) *user {
	t.Helper()
	u := s.newUser()
	u.name = name
	var answer struct {
		Token string `json:"access_token"`
	}
	s.decode(t, u, http.MethodPost, "/dev/token", object{"user": name}, &answer)
	u.token = answer.Token
	s.decode(t, u, http.MethodGet, "/v1/user", nil, nil)
	return u
}

// create creates a resource and returns its path.
func (s *server) create(t *testing.T, u *user, target string, body any) string {
	t.Helper()
	return s.decode(t, u, http.MethodPost, target, body, nil).Get("Location")
}

// decode sends a request that must succeed.
func (s *server) decode(t *testing.T, u *user, method, target string, body, into any) http.Header {
	t.Helper()
	status, header, answer, err := s.call(u, method, target, body)
	if err != nil || status >= http.StatusBadRequest {
		t.Fatalf("%s %s: status %d, %v\n%s", method, target, status, err, answer)
	}
	if into != nil && len(answer) > 0 {
		if err := json.Unmarshal(answer, into); err != nil {
			t.Fatalf("%s %s: %v\n%s", method, target, err, answer)
		}
	}
	return header
}

// call sends a request with a body as JSON, and returns the answer.
func (s *server) call(u *user, method, target string, body any) (status int, header http.Header, answer []byte, err error) {
	q := request{from: u, method: method, path: target, media: jsonMedia}
	if method == http.MethodPatch {
		q.media = mergePatch
	}
	if body != nil {
		q.body = encode(body)
	}
	var b bytes.Buffer
	status, header, _, err = s.send(context.Background(), q, &b)
	return status, header, b.Bytes(), err
}

func encode(body any) []byte {
	content, err := json.Marshal(body)
	if err != nil {
		panic(err) // The bodies of this package are valid.
	}
	return content
}

const (
	jsonMedia  = "application/json"
	mergePatch = "application/merge-patch+json"
	jsonPatch  = "application/json-patch+json"
)

// query renders a parameter of a query.
func query(name, value string) string { return "?" + url.Values{name: {value}}.Encode() }

func repeat(text string, size int) string { return strings.Repeat(text, size/len(text)) }
