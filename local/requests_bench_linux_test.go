package main

import (
	"fmt"
	"io"
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

// boards lists the sizes of the requested leaderboards.
var boards = []int{50, 200, 600, 10_000}

// fillBoards writes 1,000 tasks and the leaderboards to the folder, and returns the path of a task and of each leaderboard.
func fillBoards(b *testing.B, folder string) (task string, leaderboards map[int]string) {
	b.Helper()
	s, err := embedded.Open(filepath.Join(folder, tableFile), embedded.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	builder := recordtest.New(b, s)
	builder.Put(record.NewTableIdentity(time.Now()))
	leaderboards = map[int]string{}
	builder.Batch(func() {
		for i := range 1000 {
			task = builder.Task(func(t *record.TaskItem) {
				t.Name = fmt.Sprint("Task ", i)
				t.Description = "A task of the load, with a text of the usual length of a first paragraph."
			}).Path()
		}
		for _, size := range boards {
			d := builder.Task().Dataset(recordtest.Measures("nDCG@10", "AP", "RR", "P@10", "Recall@100"))
			for i := range size {
				value := func(name string, factor int) recordtest.RunOption {
					return recordtest.Value(name, float64(i*factor%10_000)/10_000)
				}
				d.Run(fmt.Sprint("user", i%(size/5)), recordtest.Public, recordtest.Published, value("nDCG@10", 7919), value("AP", 104_729),
					value("RR", 97), value("P@10", 1000), value("Recall@100", 31))
			}
			leaderboards[size] = d.Board() + "?filter[datasetId]=" + d.ID
		}
	})
	return task, leaderboards
}

// BenchmarkRequest measures the processor time of the server for one request. Requests are sent one after the other.
func BenchmarkRequest(b *testing.B) {
	folder := b.TempDir()
	task, board := fillBoards(b, folder)
	address := programtest.FreeAddress(b)
	server := serverProcess{args: "-addr " + address + " -grpc-addr 127.0.0.1:0 -demo=false -rates {} -data " + folder}
	server.start(b)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}} // The cost of compression would hide the cost of the request.
	defer client.CloseIdleConnections()
	for _, c := range []struct{ name, path string }{
		{"task", task},
		{"list=50", "/v1/tasks?limit=50"},
		{"board=50", board[50] + "&sort=rank&limit=50"},
		{"board=200", board[200] + "&sort=rank&limit=200"},
		{"board=600/last-by-AP", board[600] + "&sort=AP&offset=550"},
		{"board=600/best", board[600] + "&best=true"},
		{"board=10000/last-by-AP", board[10_000] + "&sort=AP&offset=9950"},
		{"board=10000/best", board[10_000] + "&best=true"},
	} {
		b.Run(c.name, func(b *testing.B) {
			get := func() {
				r, err := client.Do(request(b, http.MethodGet, "http://"+address+c.path, nil))
				if err != nil {
					b.Fatal(err)
				}
				_, err = io.Copy(io.Discard, r.Body)
				_ = r.Body.Close()
				if err != nil || r.StatusCode != http.StatusOK {
					b.Fatal(r.Status, err)
				}
			}
			get() // The first request fills caches.
			before := processorTime(b, server.process.Process.Pid)
			for b.Loop() {
				get()
			}
			b.ReportMetric((processorTime(b, server.process.Process.Pid)-before)/float64(b.N), "cpu-µs/op")
		})
	}
}

// BenchmarkMemory measures the memory of a server that holds 1,000 tasks and leaderboards of 11,000 runs: when it has started, and after
// requests for all of them by 16 clients.
func BenchmarkMemory(b *testing.B) {
	folder := b.TempDir()
	task, board := fillBoards(b, folder)
	address := programtest.FreeAddress(b)
	server := serverProcess{args: "-addr " + address + " -grpc-addr 127.0.0.1:0 -demo=false -rates {} -data " + folder}
	server.start(b)
	paths := []string{task, "/v1/tasks?limit=200"}
	for _, leaderboard := range board {
		paths = append(paths, leaderboard+"&sort=rank&limit=200", leaderboard+"&best=true&limit=200", leaderboard+"&sort=AP&limit=200")
	}
	rest := residentMemory(b, server.process.Process.Pid)
	load(b, 16, func(n int) *http.Request {
		return request(b, http.MethodGet, "http://"+address+paths[n%len(paths)], nil)
	})
	b.ReportMetric(rest, "rest-MiB")
	b.ReportMetric(residentMemory(b, server.process.Process.Pid), "load-MiB")
}

// residentMemory returns the resident memory of the process, in MiB.
func residentMemory(b *testing.B, pid int) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmRSS:")
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
