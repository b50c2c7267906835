//go:build s3

package containers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/shared/edge/auth/devissuer"
	"assay/shared/edge/auth/devissuer/issuertest"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/storetest"
	"assay/shared/testing/nightlytest"
	"assay/shared/testing/programtest"
	"assay/shared/testing/waittest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

// kills is the number of times that each process is killed.
var kills = nightlytest.Count(2, 6)

// secret is the secret key of the object store.
const secret = "not-a-secret"

// TestServices_LoseNothingWhenTheyAreKilled starts the servers according to the compose file and to the Kubernetes manifest. It kills each
// of their processes again and again while teams upload and submit, and workers lease runs. In the end every accepted submission must be
// evaluated exactly once.
func TestServices_LoseNothingWhenTheyAreKilled(t *testing.T) {
	folder := build(t)
	t.Run("Compose", func(t *testing.T) {
		services := composeServices(t, map[string]string{"S3_SECRET": secret, "ASSAY_ALLOW_DEV_ISSUER": "true"})
		table, objects, front := startStorage(t)
		addresses := []string{
			"http://table:8000", table, "http://objects:7070", objects, "http://127.0.0.1:7070", objects,
			"http://assay.localhost", "http://" + front.addr,
		}
		disrupt(t, folder, services, front, addresses, nil)
	})
	t.Run("Kubernetes", func(t *testing.T) {
		services := kubernetesServices(t)
		for _, s := range services { // the values of the secret
			maps.Copy(s.env, map[string]string{"AWS_ACCESS_KEY_ID": "assay", "AWS_SECRET_ACCESS_KEY": secret})
		}
		table, objects, front := startStorage(t)
		url, issuer := startIssuer(t)
		addresses := []string{
			"http://table.storage.svc:8000", table, "http://objects.storage.svc:7070", objects, "https://files.example.org", objects,
			"https://assay.example.org", "http://" + front.addr, "https://login.example.org", url,
		}
		disrupt(t, folder, services, front, addresses, issuer)
	})
}

// startStorage starts a server for tables, and the object store of the compose file. It returns their URLs and the balancer of the HTTP
// server.
func startStorage(t *testing.T) (table, objects string, front *balancer) {
	t.Helper()
	s := composeServices(t, map[string]string{"S3_SECRET": secret})["objects"]
	program, err := filepath.Glob(filepath.Join(programtest.Root(t), ".tools", "versitygw-*", "versitygw"))
	if err != nil || len(program) == 0 || s.image != "versitygw" {
		t.Fatalf("the server for files, %s, is not installed; run the tests with: make test-s3 (%v)", s.image, err)
	}
	addr, replaced := programtest.FreeAddress(t), []string{}
	for _, a := range s.args {
		replaced = append(replaced, strings.NewReplacer(":7070", addr, "/data", t.TempDir()).Replace(a))
	}
	c := exec.CommandContext(context.Background(), program[len(program)-1], replaced...)
	for name, value := range s.env {
		c.Env = append(c.Env, name+"="+value)
	}
	programtest.Serve(t, c, addr)
	return *dynamotest.Start(t).BaseEndpoint, "http://" + addr, newBalancer(t)
}

// startIssuer starts an OpenID Connect issuer, and returns its URL and a function that returns tokens.
func startIssuer(t *testing.T) (url string, login func(string, ...string) string) {
	t.Helper()
	i := issuertest.Start(t, "assay")
	return i.URL, func(user string, groups ...string) string {
		token, err := i.Token(devissuer.User{User: user, Groups: groups})
		if err != nil {
			t.Error(err)
		}
		return token
	}
}

// disrupt starts the two services, and kills their processes under load. Without login, the development issuer makes the tokens.
func disrupt(t *testing.T, folder string, services map[string]service, front *balancer, addresses []string,
	login func(string, ...string) string) {
	random, behind := storetest.Random(t), newBalancer(t)
	replacer := strings.NewReplacer(addresses...)
	// It starts before the table, the bucket and the issuer exist.
	processes := startService(t, folder, services["assay-grpc"], behind, replacer)
	processes = append(processes, startService(t, folder, services["assay-server"], front, replacer)...)
	c := &client{t: t, url: "http://" + front.addr, login: login, http: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{}}}
	if c.login == nil {
		c.login = func(user string, groups ...string) string {
			var answer struct {
				Token string `json:"access_token"`
			}
			c.call(http.MethodPost, "/dev/token", "", "", map[string]any{"user": user, "groups": groups}, &answer)
			return answer.Token
		}
	}
	w := prepare(c)
	for range 3 {
		startWorker(t, folder, behind.addr, c.accessToken(c.login("robot", "admins"), "work"))
	}
	if t.Failed() {
		return
	}
	checkProbes(t, services, processes)
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for team := range teams {
		clients.Go(func() {
			w.submit(team, func() time.Duration { return time.Duration(random.IntN(600)) * time.Millisecond }, stop)
		})
	}
	for range kills {
		for _, i := range random.Perm(len(processes)) {
			time.Sleep(time.Duration(random.IntN(1200)) * time.Millisecond)
			processes[i].kill()
		}
	}
	waittest.Value(t, "enough submissions are accepted to show something", func() (accepted int, expected bool) {
		accepted = w.acceptedRuns()
		return accepted, accepted >= 2*teams
	})
	close(stop)
	clients.Wait()
	w.verify()
	checkProbes(t, services, processes)
	t.Logf("%d submissions accepted and evaluated once over %d kills of %d processes", len(w.accepted), kills*len(processes), len(processes))
}

// startWorker starts a worker that runs until the test ends.
func startWorker(t *testing.T, folder, server, token string) {
	t.Helper()
	work := t.TempDir()
	p := &process{name: "assay-worker", command: func() *exec.Cmd {
		c := exec.Command(filepath.Join(folder, "assay-worker"), "-server", server, "-exec", "local", "-work", work)
		c.Env = append(os.Environ(), "ASSAY_WORKER_TOKEN="+token)
		return c
	}}
	p.supervise(t)
}

// checkProbes sends the probes of Kubernetes to each process until they succeed.
func checkProbes(t *testing.T, services map[string]service, processes []*process) {
	t.Helper()
	for _, p := range processes {
		for _, probe := range services[p.name].probes {
			waittest.Value(t, fmt.Sprintf("%s at %s answers well to %+v", p.name, p.addr, probe), func() (state string, expected bool) {
				if probe.path != "" {
					state = askHTTP(t, p.addr, probe.path)
				} else {
					state = askGRPC(t, p.addr, probe.service)
				}
				return state, state == "SERVING"
			})
		}
	}
}

func askHTTP(t *testing.T, addr, path string) string {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return err.Error()
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	var health struct{ Status string }
	if err := json.NewDecoder(answer.Body).Decode(&health); err != nil || answer.StatusCode != http.StatusOK || health.Status != "pass" {
		return answer.Status + " " + health.Status
	}
	return "SERVING"
}

func askGRPC(t *testing.T, addr, service string) string {
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err.Error()
	}
	defer func() { _ = conn.Close() }()
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{Service: service})
	if err != nil {
		return err.Error()
	}
	return answer.GetStatus().String()
}
