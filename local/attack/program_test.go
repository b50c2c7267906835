//go:build attack

package attack

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"assay/shared/testing/programtest"
)

// Limits of the process. ulimit can bound its data segment, which holds the heap. Go maps the heap in steps of 64 MiB.
const (
	dataLimit = 1 << 30
	cores     = 2
	cpuTime   = 20 * time.Minute // processor time of all cores together, so that a process that spins ends by itself
)

func build(t *testing.T) string {
	t.Helper()
	if given := os.Getenv(binaryVariable); given != "" {
		return given
	}
	path := filepath.Join(t.TempDir(), "assay")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "assay/local").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// program is the process under attack, at fixed addresses over one folder.
type program struct {
	binary    string
	disk      *disk
	url, grpc string
	process   *exec.Cmd
	ended     chan struct{}
	log       *processLog
}

func newProgram(t *testing.T, binary string) *program {
	t.Helper()
	return &program{binary: binary, disk: newDisk(t), url: "http://" + programtest.FreeAddress(t), grpc: programtest.FreeAddress(t)}
}

// start runs the binary under its limits until it answers.
func (p *program) start(t *testing.T) {
	t.Helper()
	script := `ulimit -d "$1" && ulimit -t "$2" && shift 2 && exec "$@"`
	p.process = exec.Command("sh", "-c", script, "sh", strconv.Itoa(dataLimit>>10), strconv.Itoa(int(cpuTime.Seconds())),
		p.binary, "-demo=false", "-addr", strings.TrimPrefix(p.url, "http://"), "-grpc-addr", p.grpc, "-data", p.disk.data,
		"-webhook-networks", "127.0.0.0/8")
	p.process.Env = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(cores), "GODEBUG=gctrace=1", "TMPDIR="+filepath.Dir(p.disk.data))
	out, err := p.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.log = &processLog{}
	p.process.Stderr = p.log
	if err := p.process.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("the program did not start: %v\n%s", err, p.log.tail())
	}
	process, ended := p.process, make(chan struct{})
	p.ended = ended
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = process.Wait() // died reports its end.
		close(ended)
	}()
	t.Cleanup(func() {
		_ = process.Process.Kill()
		<-ended
	})
}

func (p *program) kill(t *testing.T) {
	t.Helper()
	if err := p.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.ended
}

func (p *program) died() bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(50 * time.Millisecond): // time for a dying process to end
		return false
	}
}

// limits describes the limits of the process on this system.
func (p *program) limits() string {
	return fmt.Sprintf("%d cores, a data segment of %d MiB by ulimit, %s", cores, dataLimit>>20, p.disk)
}

// idleMemory returns the resident memory of the process without requests, counted like peakMemory.
func (p *program) idleMemory(t *testing.T) int64 {
	t.Helper()
	resident := p.memory("RssAnon")
	if resident == 0 {
		t.Logf("NOT CHECKED: resident memory, which this test reads from the folder of processes of Linux, not on %s.", runtime.GOOS)
	}
	return resident
}

// processorTime returns the processor time of the process, or zero if the system does not report it.
func (p *program) processorTime() time.Duration {
	const ticksPerSecond = 100 // USER_HZ of Linux
	stat, err := os.ReadFile(p.proc("stat"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // The name of the program may contain blanks.
	var inProgram, inSystem int
	if fields := strings.Fields(rest); len(fields) > 12 {
		_, _ = fmt.Sscan(fields[11]+" "+fields[12], &inProgram, &inSystem)
	}
	return time.Duration(inProgram+inSystem) * time.Second / ticksPerSecond
}

// peakMemory returns the most resident memory since resetPeak, without pages of files. These are mostly the table, and the system
// takes them back when others need memory.
func (p *program) peakMemory() int64 {
	return p.memory("VmHWM") - p.memory("RssFile") - p.memory("RssShmem")
}

// memory returns a member of the process's status in bytes, or zero if the system has no such status.
func (p *program) memory(member string) int64 {
	status, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), member+":")
	text, _, _ := strings.Cut(rest, " kB")
	n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n << 10
}

// resetPeak resets VmHWM to the present memory, where the system can.
func (p *program) resetPeak() { _ = os.WriteFile(p.proc("clear_refs"), []byte("5"), 0) }

func (p *program) proc(name string) string {
	return fmt.Sprintf("/proc/%d/%s", p.process.Process.Pid, name)
}

// processLog stores the end of the process's log, and computes the allocated bytes from the lines of the garbage collector.
type processLog struct {
	mu        sync.Mutex
	part      []byte // begin of an incomplete line
	last      []byte
	live      int64 // MiB after the last collection
	allocated atomic.Int64
}

// Bytes of the log that are stored, and that a report shows.
const (
	keptLog  = 1 << 20
	shownLog = 2 << 10
)

func (l *processLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	b = append(l.part, b...)
	end := bytes.LastIndexByte(b, '\n') + 1
	l.part = bytes.Clone(b[end:])
	for line := range bytes.Lines(b[:end]) {
		if before, after, ok := parseGC(string(line)); ok {
			l.allocated.Add(max(0, before-l.live) << 20)
			l.live = after
			continue
		}
		l.last = append(l.last, line...)
	}
	if extra := len(l.last) - keptLog; extra > 0 {
		l.last = l.last[extra:]
	}
	return n, nil
}

// parseGC returns the MiB of heap before and after a collection that the line reports, as in "gc 7 @1.2s 3%: ..., 12->13->4 MB, ...".
func parseGC(line string) (before, after int64, ok bool) {
	if !strings.HasPrefix(line, "gc ") {
		return 0, 0, false
	}
	for part := range strings.SplitSeq(line, ", ") {
		var marked int64
		if n, _ := fmt.Sscanf(part, "%d->%d->%d MB", &before, &marked, &after); n == 3 {
			return before, after, true
		}
	}
	return 0, 0, false
}

// tail returns the fatal error of the process, or the end of its log.
func (l *processLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := bytes.Index(l.last, []byte("fatal error:")); i >= 0 {
		return string(l.last[i:min(i+shownLog, len(l.last))])
	}
	return string(l.last[max(0, len(l.last)-shownLog):])
}

// diskBytes is the size of the tmpfs with the data of the process.
const diskBytes = 256 << 20

// disk is a tmpfs of fixed size for the data of the process. It is in its own mount namespace, which needs no rights on the machine and
// ends with the process that holds it. Other processes reach the tmpfs through /proc of the holder.
type disk struct {
	data  string
	small bool
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	folder := t.TempDir()
	holder := exec.Command("unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size="$1" assay "$2" && echo mounted && exec cat`, "sh",
		strconv.Itoa(diskBytes), folder)
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = holder.Start(); err == nil {
		t.Cleanup(func() {
			_ = in.Close()
			_ = holder.Wait() // It ends with its input.
		})
		_, err = io.ReadFull(out, make([]byte, len("mounted")))
	}
	if err != nil {
		t.Logf("NOT CHECKED: a full disk. A tmpfs in a namespace of its own (unshare -rm) cannot be mounted here: %v", err)
		return &disk{data: filepath.Join(folder, "data")}
	}
	return &disk{data: fmt.Sprintf("/proc/%d/root%s/data", holder.Process.Pid, folder), small: true}
}

func (d *disk) String() string {
	if d.small {
		return fmt.Sprintf("a tmpfs of %d MiB", diskBytes>>20)
	}
	return "a disk without a limit"
}

// fill writes a file until the disk is full. remove removes the file.
func (d *disk) fill() (remove func(), err error) {
	f, err := os.Create(filepath.Join(filepath.Dir(d.data), "ballast"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	for size := 1 << 20; size >= 4<<10; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return func() { _ = os.Remove(f.Name()) }, nil
}
