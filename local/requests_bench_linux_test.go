package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/shared/domain/record"
	"assay/shared/domain/record/recordtest"
	"assay/shared/storage/store/embedded"
	"assay/shared/testing/programtest"
)

// boards lists the sizes of the leaderboards.
var boards = []int{50, 200, 600, 10_000}

// benchTask is a task in the folder of a server, with a leaderboard unless it has no dataset.
type benchTask struct {
	path, board, whole string // of the task, of its leaderboard, and of all entries of the leaderboard in one answer
	run                string // path of a run on the leaderboard
}

// fillBoards writes 1,000 tasks without datasets and the leaderboards to the folder. It returns one of these tasks, and the task of each
// leaderboard by its size.
func fillBoards(b *testing.B, folder string) (plain benchTask, leaderboards map[int]benchTask) {
	b.Helper()
	s, err := embedded.Open(filepath.Join(folder, tableFile), embedded.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	builder := recordtest.New(b, s)
	builder.Put(record.NewTableIdentity(time.Now()))
	leaderboards = map[int]benchTask{}
	builder.Batch(func() {
		for i := range 1000 {
			plain.path = builder.Task(func(t *record.TaskItem) {
				t.Name = fmt.Sprint("Task ", i)
				t.Description = "A task of the load, with a text of the usual length of a first paragraph."
			}).Path()
		}
		for _, size := range boards {
			task := builder.Task()
			d := task.Dataset(recordtest.Measures("nDCG@10", "AP", "RR", "P@10", "Recall@100"))
			t := benchTask{path: task.Path(), board: d.Board() + "?filter[datasetId]=" + d.ID, whole: "/v1/datasets/" + d.ID + "/leaderboard"}
			for i := range size {
				value := func(name string, factor int) recordtest.RunOption {
					return recordtest.Value(name, float64(i*factor%10_000)/10_000)
				}
				t.run = "/v1/runs/" + d.Run(fmt.Sprint("user", i%(size/5)), recordtest.Public, recordtest.Published, value("nDCG@10", 7919),
					value("AP", 104_729), value("RR", 97), value("P@10", 1000), value("Recall@100", 31)).ID
			}
			leaderboards[size] = t
		}
	})
	return plain, leaderboards
}

// orderSeed is the seed of the order in which BenchmarkRequest measures its rows.
var orderSeed = flag.Uint64("order-seed", 0, "seed of the order of the rows; 0: a new one, which is printed")

// BenchmarkRequest measures the processor time of the server for one request, in three states. Each row has a server process of its own,
// and the order of the rows is random, so that no row finds what another one left in memory.
//
//   - restart-ms: the first request of the row, after one GET of a task
//   - cpu-µs/op: further requests, when nothing changes
//   - changed-cpu-µs/op: requests that each follow a change of one run of the leaderboard, or of one task of the list
func BenchmarkRequest(b *testing.B) {
	folder := b.TempDir()
	plain, board := fillBoards(b, folder)
	rows := []requestRow{
		{"task", plain, plain.path},
		{"list=50", plain, "/v1/tasks?limit=50"},
		{"board=50", board[50], board[50].board + "&sort=rank&limit=50"},
		{"board=200", board[200], board[200].board + "&sort=rank&limit=200"},
		{"board=600/last-by-AP", board[600], board[600].board + "&sort=AP&offset=550"},
		{"board=600/best", board[600], board[600].board + "&best=true"},
		{"board=600/whole", board[600], board[600].whole},
		{"board=10000/first", board[10_000], board[10_000].board + "&sort=rank"},
		{"board=10000/last-by-AP", board[10_000], board[10_000].board + "&sort=AP&offset=9950"},
		{"board=10000/best", board[10_000], board[10_000].board + "&best=true"},
	}
	seed := cmp.Or(*orderSeed, uint64(time.Now().UnixNano()))
	_, _ = fmt.Fprintf(os.Stderr, "The rows are in the order of -order-seed %d.\n", seed)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for _, r := range rows {
		b.Run(r.name, func(b *testing.B) { r.measure(b, folder) })
	}
}

// requestRow is a row of BenchmarkRequest: a path that is requested, and the task that changes.
type requestRow struct {
	name string
	task benchTask
	path string
}

// changedRequests is the number of changes, each with a request after it.
const changedRequests = 40

// measure measures the row with a new server process.
func (row requestRow) measure(b *testing.B, folder string) {
	address := programtest.FreeAddress(b)
	server := serverProcess{url: "http://" + address,
		args: "-addr " + address + " -grpc-addr 127.0.0.1:0 -demo=false -rates {} -data " + folder}
	server.start(b)
	defer server.kill(b)
	// The cost of compression would hide the cost of the request.
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	get := func(path string) {
		r, err := client.Do(request(b, http.MethodGet, server.url+path, nil))
		if err != nil {
			b.Fatal(err)
		}
		_, err = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK {
			b.Fatal(r.Status, err)
		}
	}
	used := func() float64 { return processorTime(b, server.process.Process.Pid) }
	// once measures one request. The requests before it wake up the threads of an idle server.
	once := func() float64 {
		server.settle(b)
		for range 5 {
			get("/info")
		}
		before := used()
		get(row.path)
		return used() - before
	}
	get(row.task.path)
	restart := once()

	before := used()
	for b.Loop() {
		get(row.path)
	}
	warm := (used() - before) / float64(b.N)

	admin := server.server().token(b, "root", "admins")
	changed := 0.0
	for i := range changedRequests {
		if row.task.run == "" {
			server.server().call(b, admin, http.MethodPatch, row.task.path, map[string]any{"name": fmt.Sprint("Changed ", i)}, nil)
		} else {
			server.server().call(b, admin, http.MethodPatch, row.task.run+"/review", map[string]any{"published": i%2 == 1}, nil)
		}
		changed += once()
	}
	b.ReportMetric(restart/1000, "restart-ms")
	b.ReportMetric(warm, "cpu-µs/op")
	b.ReportMetric(changed/changedRequests, "changed-cpu-µs/op")
}

// settle waits until the server does nothing.
func (v *serverProcess) settle(b *testing.B) {
	b.Helper()
	for last, now := 0.0, processorTime(b, v.process.Process.Pid); now-last > 50; {
		time.Sleep(10 * time.Millisecond)
		last, now = now, processorTime(b, v.process.Process.Pid)
	}
}

// heapProfiles is the folder for the heap profiles of BenchmarkMemory, at rest and after the load.
var heapProfiles = flag.String("heap-profiles", "", "folder for heap profiles of the server; none if empty")

// writeHeapProfile writes a heap profile of the server, after a collection, to the folder heapProfiles.
func writeHeapProfile(b *testing.B, operators, name string) {
	b.Helper()
	if *heapProfiles == "" {
		return
	}
	r, err := http.Get("http://" + operators + "/debug/pprof/heap?gc=1")
	if err != nil {
		b.Fatal(err)
	}
	profile, err := io.ReadAll(r.Body)
	_ = r.Body.Close()
	if err == nil {
		err = os.WriteFile(filepath.Join(*heapProfiles, name+".pprof"), profile, 0o600)
	}
	if err != nil || r.StatusCode != http.StatusOK {
		b.Fatal(r.Status, err)
	}
}

// BenchmarkMemory measures the memory of a server that holds 1,000 tasks and leaderboards of 11,000 runs: when it has started, and after
// requests for all of them by 16 clients.
func BenchmarkMemory(b *testing.B) {
	folder := b.TempDir()
	task, board := fillBoards(b, folder)
	address, operators := programtest.FreeAddress(b), programtest.FreeAddress(b)
	server := serverProcess{args: "-addr " + address + " -ops-addr " + operators +
		" -grpc-addr 127.0.0.1:0 -demo=false -rates {} -data " + folder}
	server.start(b)
	paths := []string{task.path, "/v1/tasks?limit=200"}
	for _, t := range board {
		paths = append(paths, t.board+"&sort=rank&limit=200", t.board+"&best=true&limit=200", t.board+"&sort=AP&limit=200")
	}
	rest := memory(b, server.process.Process.Pid, "VmRSS")
	writeHeapProfile(b, operators, "rest")
	load(b, 16, func(n int) *http.Request {
		return request(b, http.MethodGet, "http://"+address+paths[n%len(paths)], nil)
	})
	b.ReportMetric(rest, "rest-MiB")
	b.ReportMetric(memory(b, server.process.Process.Pid, "VmRSS"), "load-MiB")
	b.ReportMetric(memory(b, server.process.Process.Pid, "RssFile"), "load-file-MiB")
	writeHeapProfile(b, operators, "load")
}

// memory returns a line of /proc/PID/status in MiB, such as VmRSS, the resident memory, or RssFile, the part of it that is read from files.
func memory(b *testing.B, pid int, name string) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), name+":")
	var kibibytes float64
	if _, err := fmt.Sscan(after, &kibibytes); err != nil {
		b.Fatal(err)
	}
	return kibibytes / 1024
}

// processorTime returns the processor time of all threads of the process, in microseconds.
func processorTime(b *testing.B, pid int) (total float64) {
	b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		b.Fatal("no threads", err)
	}
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // The thread has ended.
		}
		spent, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseFloat(spent, 64)
		if err != nil {
			b.Fatal(err)
		}
		total += ns / 1000
	}
	return total
}
