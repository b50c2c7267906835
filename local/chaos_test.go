//go:build !windows

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay/shared/domain/record"
	records "assay/shared/service/records"
	"assay/shared/storage/store"
	"assay/shared/storage/store/dynamo"
	"assay/shared/storage/store/dynamo/dynamotest"
	"assay/shared/storage/store/embedded"
	"assay/shared/storage/store/storetest"
	"assay/shared/testing/nightlytest"
	"assay/shared/testing/programtest"
	"assay/shared/testing/waittest"
)

// The size of the chaos. ASSAY_CHAOS_RUNS sets another number of runs.
const (
	chaosVar     = "ASSAY_CHAOS_RUNS"
	chaosWorkers = 8
	chaosLease   = 3 * time.Second
)

// TestWorkers_LoseNothingInChaos lets workers execute and evaluate runs. Meanwhile workers and the server are killed at random, workers are
// frozen for longer than their leases, the network between them is partitioned, and the server's clock is skewed at each start. In the end
// every run has ended exactly once: no run is stuck or has two evaluations, and work under an expired lease has no effect. Meanwhile people
// delete and restore submissions and mark final runs. Nothing may be lost, no score may be visible before the close, and a webhook must be
// notified of each run.
func TestWorkers_LoseNothingInChaos(t *testing.T) {
	worker := buildWorker(t)
	t.Run("Embedded", func(t *testing.T) { chaos(t, worker, nil) })
	if !nightlytest.Enabled {
		return
	}
	t.Run("DynamoDB", func(t *testing.T) {
		name := dynamotest.TableName()
		chaos(t, worker, dynamo.New(startDynamoDB(t), name), dynamoDBFlags(name)...)
	})
}

// chaosTest is a server, workers and the network between them. It kills the processes and cuts the network.
type chaosTest struct {
	t       *testing.T
	server  *serverProcess
	network *network
	worker  string
	token   string
	workers []*exec.Cmd
	folder  string
	ahead   time.Duration // skew of the server's clock
}

func chaos(t *testing.T, worker string, table store.Store, flags ...string) {
	v := newServerProcess(t)
	grpcAddr := programtest.FreeAddress(t)
	v.args += " -grpc-addr " + grpcAddr + ` -rates {"waitingRuns":0}`
	v.args += " -webhook-networks 127.0.0.0/8 " + strings.Join(flags, " ")
	v.env = []string{leaseVariable + "=" + chaosLease.String()}
	v.start(t)
	c := &chaosTest{t: t, server: v, network: newNetwork(t, grpcAddr), worker: worker, folder: t.TempDir()}
	c.token = v.server().token(t, "chaos-worker", "workers")
	n := nightlytest.Count(5, 24)
	if s := os.Getenv(chaosVar); s != "" {
		n, _ = strconv.Atoi(s)
	}
	load := prepareWork(t, v.server(), n)
	c.workers = make([]*exec.Cmd, chaosWorkers)
	t.Cleanup(func() {
		for _, w := range c.workers {
			if w != nil {
				_ = w.Process.Kill()
				_ = w.Wait()
			}
		}
	})
	for i := range c.workers {
		c.startWorker(i)
	}
	kills, cuts := c.disrupt(load)
	c.close(load)
	runs := load.verify(t, v.server())
	load.verifyPeople(t, v.server())
	v.kill(t)
	if table == nil {
		s, err := embedded.Open(filepath.Join(v.data, "table.db"), embedded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		table = s
	}
	load.count(t, table)
	t.Logf("%d runs ended once over %d kills and %d cuts of the network: %v", n, kills, cuts, runs)
}

// count reads the table, because lists leave out superseded evaluations.
func (w *workLoad) count(t *testing.T, s store.Store) {
	t.Helper()
	for _, id := range w.ended {
		r, err := records.Get[record.RunItem](t.Context(), s, store.Strong, record.RunKey(id))
		if err != nil || r == nil || len(r.Evaluations) > 1 || (r.State == record.Completed) != (len(r.Evaluations) == 1) {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func (c *chaosTest) startWorker(i int) {
	c.t.Helper()
	w := exec.Command(c.worker, "-server", c.network.addr, "-name", fmt.Sprintf("worker-%d", i), "-exec", "local",
		"-work", filepath.Join(c.folder, fmt.Sprintf("worker-%d", i)))
	w.Env = append(os.Environ(), "ASSAY_WORKER_TOKEN="+c.token)
	if err := w.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.workers[i] = w
}

// chaosProgress is the state that changes in the chaos until every run has ended.
type chaosProgress struct {
	unfinished, deleted int           // unfinished runs and deleted submissions
	ahead               time.Duration // skew of the server's clock: leases last longer if it goes back
}

// disrupt kills processes and cuts the network until every run has ended and people have done all their actions.
func (c *chaosTest) disrupt(load *workLoad) (kills, cuts int) {
	random := storetest.Random(c.t)
	waittest.Value(c.t, "every run has ended", func() (p chaosProgress, expected bool) {
		killed, cut := c.disruptOnce(load, random)
		kills, cuts = kills+killed, cuts+cut
		p = chaosProgress{
			unfinished: c.server.server().unfinishedRuns(c.t, load.owner, load.task), deleted: load.deleted, ahead: c.ahead,
		}
		return p, load.over() && p.unfinished == 0
	})
	return kills, cuts
}

func (c *chaosTest) disruptOnce(load *workLoad, random *rand.Rand) (kills, cuts int) {
	time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
	switch random.IntN(7) {
	case 0:
		c.network.cut(time.Duration(random.IntN(1500)) * time.Millisecond)
		return 0, 1
	case 1:
		c.restart(random)
		return 1, 0
	case 2, 3:
		i := random.IntN(len(c.workers))
		_ = c.workers[i].Process.Kill()
		_ = c.workers[i].Wait()
		c.startWorker(i)
		return 1, 0
	case 4:
		frozen := c.workers[random.IntN(len(c.workers))].Process
		_ = frozen.Signal(syscall.SIGSTOP)
		time.AfterFunc(chaosLease*3/2, func() { _ = frozen.Signal(syscall.SIGCONT) })
	case 5:
		return c.act(load, random), 0
	default:
		load.wantConcealed(c.t, c.server.server())
	}
	return 0, 0
}

// restart kills the server, and starts it with another clock.
func (c *chaosTest) restart(random *rand.Rand) {
	c.t.Helper()
	c.ahead = time.Duration(random.IntN(5)-2) * time.Minute
	c.server.kill(c.t)
	c.server.setClock(c.t, c.ahead)
	c.server.start(c.t)
}

// workLoad is a task whose runs workers execute. On one dataset, workers also evaluate the runs.
type workLoad struct {
	task, owner string
	runs        int
	ended       []string
	chaosPeople
}

// prepareWork submits images for a number of runs.
func prepareWork(t *testing.T, s *testServer, runs int) *workLoad {
	t.Helper()
	w := &workLoad{owner: s.token(t, "owner"), runs: runs}
	w.task = s.task(t, w.owner, "Chaos")
	var datasets []string
	for i := range 10 {
		evaluator := map[string]any{"kind": "retrieval", "measures": []string{"AP"}}
		measure := "AP"
		if i%2 == 1 {
			measure = "Lines"
			evaluator = map[string]any{"kind": "worker", "measures": []string{"Lines"}, "image": "judge",
				"command": `echo judging; printf '{"Lines": %d}' "$(cat "$ASSAY_RUN"/* | wc -l)" > "$ASSAY_OUTPUT/evaluation.json"`}
		}
		datasets = append(datasets, s.dataset(t, w.owner, w.task, "1 0 a 1\n1 0 b 0\n", map[string]any{
			"name": fmt.Sprintf("Chaos %d", i), "evaluator": evaluator,
			"inputs":  []any{inline("input.txt", fmt.Sprintf("1 Q0 a 1 2.5 chaos\n1 Q0 b%d 2 1.5 chaos\n", i))},
			"publish": "onCompletion", "columns": []any{map[string]any{"key": measure, "from": "close"}}, "finalRuns": 1,
			"submissions": map[string]any{"closesAt": record.At(time.Now().Add(chaosWindow))},
		}))
	}
	w.prepare(t, s, w.owner, w.task)
	for left := runs; left > 0; left -= len(datasets) {
		w.submissions = append(w.submissions, s.post(t, w.user, w.task+"/submissions", map[string]any{
			"type": "image", "visibility": "public", "image": "ranker", "datasetIds": datasets[:min(left, len(datasets))], "again": true,
			"command": `echo working; sleep 0.2; worker=$(echo "$ASSAY_OUTPUT" | grep -o 'worker-[0-9]*' | head -n 1)
cat "$ASSAY_INPUT/input.txt" > "$ASSAY_OUTPUT/run.txt"; echo "1 Q0 $worker 3 0.5 chaos" >> "$ASSAY_OUTPUT/run.txt"; echo done`,
		}))
	}
	return w
}

// verify checks every run and every evaluation, and counts the runs by state.
func (w *workLoad) verify(t *testing.T, s *testServer) map[record.RunState]int {
	t.Helper()
	evaluated := map[string]int{}
	for _, e := range allOf[record.Evaluation](t, s, w.owner, w.task+"/evaluations?limit=200") {
		evaluated[e.RunID]++
		if v := e.Measures["Lines"]; v != nil && *v != 3 {
			t.Errorf("the evaluation of run %s counts %v lines", e.RunID, *v)
		}
	}
	begun := regexp.MustCompile(`begins on the worker (worker-\d+)\.`)
	states := map[record.RunState]int{}
	for _, r := range allOf[record.Run](t, s, w.owner, "/v1/runs?limit=200&filter[taskId]="+id(w.task)) {
		states[r.State]++
		w.ended = append(w.ended, r.ID)
		if r.State == record.Completed {
			held := begun.FindAllStringSubmatch(r.LogTail, -1)
			if by := w.author(t, s, r.ID); len(held) == 0 || held[len(held)-1][1] != by {
				t.Errorf("the output of run %s is by %s, whose lease was over:\n%s", r.ID, by, r.LogTail)
			}
		}
		lapsed := r.State == record.Failed && len(r.Diagnostics) > 0 && strings.Contains(r.Diagnostics[0].Message, "no attempt came to an end")
		if r.State != record.Completed && !lapsed {
			t.Errorf("run %s is %s: %v", r.ID, r.State, r.Diagnostics)
		}
		if want := map[record.RunState]int{record.Completed: 1}[r.State]; evaluated[r.ID] != want {
			t.Errorf("run %s is %s and has %d evaluations", r.ID, r.State, evaluated[r.ID])
		}
	}
	once := slices.Compact(slices.Sorted(slices.Values(w.ended)))
	if len(once) != w.runs || len(w.ended) != w.runs || states[record.Failed] > max(2, w.runs/10) {
		t.Errorf("of %d runs there are %v", w.runs, states)
	}
	return states
}

// author returns the name of the worker that produced the output of the run.
func (w *workLoad) author(t *testing.T, s *testServer, id string) string {
	t.Helper()
	var r record.Run
	s.get(t, w.owner, "/v1/runs/"+id, &r)
	return regexp.MustCompile(`worker-\d+`).FindString(string(s.send(t, "", http.MethodGet, r.Files[0].URL, nil).body))
}

// network is a TCP proxy between workers and the server. A test can cut it.
type network struct {
	addr, to string
	mu       sync.Mutex
	down     bool
	open     map[net.Conn]bool
}

func newNetwork(t *testing.T, to string) *network {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{addr: l.Addr().String(), to: to, open: map[net.Conn]bool{}}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go n.forward(in)
		}
	}()
	return n
}

func (n *network) forward(in net.Conn) {
	out, err := net.Dial("tcp", n.to)
	if err != nil || !n.add(in, out) {
		_ = in.Close()
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_, _ = way[0].Close(), way[1].Close()
		})
	}
	both.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.open, in)
	delete(n.open, out)
}

func (n *network) add(both ...net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range both {
		if n.down {
			_ = c.Close()
			continue
		}
		n.open[c] = true
	}
	return !n.down
}

// cut closes every connection, and refuses new connections for a while.
func (n *network) cut(d time.Duration) {
	n.set(true)
	time.Sleep(d)
	n.set(false)
}

func (n *network) set(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
	for c := range n.open {
		if down {
			_ = c.Close()
		}
	}
}
