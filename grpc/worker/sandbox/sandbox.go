// Package sandbox runs programs of participants and organizers. It isolates them in containers or, where operators trust everyone who
// submits, runs them as processes of this machine.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
	"assay/shared/language/wait"
)

// Sandbox is a way to run programs. The first diagnostic of each failure.RunError that it returns is safe while the run is blinded.
type Sandbox interface {
	// Image returns the program of a container image.
	Image(ctx context.Context, reference string, log *output.Log) (*Program, error)
	// Repository returns the program of a repository. It clones the https URL at the ref into the folder, and builds it. name is unique
	// on the machine.
	Repository(ctx context.Context, url, ref, folder, name string, log *output.Log) (*Program, error)
	// Output creates and opens a folder that a job may write to. Where the machine can enforce it, the folder has the size.
	Output(ctx context.Context, path string, size Bytes) (*os.Root, error)
	// StartWatchdog starts a watchdog for the worker with the folder. It ends the worker's jobs when this process ends in any way.
	StartWatchdog(folder string) (stop func(), err error)
	// CleanUp removes the folder of a worker and everything else that its jobs left, even after the context has ended.
	CleanUp(ctx context.Context, folder string) error
	// Remove removes a folder that jobs wrote into.
	Remove(ctx context.Context, folder string) error

	// run runs the job until the job or the context ends. Afterwards none of its processes runs.
	run(ctx context.Context, j *Job) (*exitStatus, error)
}

// Program is a prepared program.
type Program struct {
	Version string // digest of its image, or commit of its repository
	image   string // by digest or id
	volumes []string
	folder  string // checkout in which it runs
	discard bool   // remove the image after the job
}

// Folder is a folder of a job.
type Folder struct {
	Path      string   // on this machine
	Mount     string   // path in a container; empty: not mounted
	Variables []string // environment variables with its path
	Writable  bool     // up to the disk limit
	Root      *os.Root // of a writable folder, opened before the job begins
}

// Limits are the limits of one job. Processes of this machine have no limits of CPUs and memory; both are 0 then.
type Limits struct {
	CPUs   float64
	Memory Bytes
	Disk   Bytes // for the content of its writable folders
	Time   time.Duration
}

func (l Limits) String() string {
	text := fmt.Sprintf("%s for its files, %s", l.Disk, l.Time)
	if l.Memory > 0 {
		text = fmt.Sprintf("%g CPUs, %s of memory, %s", l.CPUs, l.Memory, text)
	}
	return text
}

// Job is a program over folders.
type Job struct {
	Name           string // unique on the machine: lower-case letters, digits and dashes
	Owner          string // folder of the worker
	build          bool   // it builds a repository; see build.go
	Program        *Program
	Command        string // for the shell; empty: the image's own command
	Folders        []Folder
	Stdout, Stderr io.Writer
	Limits         Limits
}

// exitStatus is the exit status of a job that ended by itself or by its memory limit.
type exitStatus struct {
	code        int
	outOfMemory bool
}

// exitKilled is the exit code after SIGKILL by the convention of shells and container runtimes.
const exitKilled = 128 + 9

// Run runs a job. It returns nil if the job ended with exit code 0 within its limits. If the context ends, it kills the job and returns
// the cause.
func Run(ctx context.Context, s Sandbox, j *Job) error {
	began := time.Now()
	timed, stop := context.WithTimeoutCause(ctx, j.Limits.Time, failure.New("It was ended after %s: no more time is allowed.", j.Limits.Time))
	defer stop()
	bounded, end := context.WithCancelCause(timed)
	var watching sync.WaitGroup
	watching.Go(func() { watchDisk(bounded, j, end) })
	how, err := s.run(bounded, j)
	exceeded := context.Cause(bounded)
	end(nil)
	watching.Wait()
	took := time.Since(began)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case exceeded != nil:
		return exceeded
	case err != nil:
		return err
	}
	return j.result(how, took)
}

func (j *Job) result(how *exitStatus, took time.Duration) error {
	took = took.Round(100 * time.Millisecond)
	if why := diskExceeded(j); why != "" {
		return failure.New("%s", why)
	}
	switch {
	case how.outOfMemory:
		return failure.New("It was ended after %s because it wanted more memory than the %s that are allowed.", took, j.Limits.Memory)
	case how.code == exitKilled && j.Limits.Memory > 0:
		return failure.New("It was killed after %s (exit code %d), most likely because it wanted more memory than the %s that are allowed.",
			took, exitKilled, j.Limits.Memory)
	case how.code != 0:
		return failure.New("It ended with exit code %d after %s.", how.code, took)
	}
	return nil
}

// Bytes is a number of bytes.
type Bytes int64

var units = []string{"bytes", "KiB", "MiB", "GiB", "TiB"}

// String formats the number for people: 1536 is 1.5 KiB.
func (b Bytes) String() string {
	v, unit := float64(b), 0
	for v >= 1024 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Floor(v*10)/10), ".0") + " " + units[unit]
}

// Set implements flag.Value: the units are powers of 1024.
func (b *Bytes) Set(s string) error {
	digits := strings.TrimRight(s, "BbIiKkMmGgTt")
	unit := strings.ToUpper(strings.TrimPrefix(s, digits))
	shift, ok := map[string]int{
		"": 0, "B": 0, "K": 10, "KB": 10, "KIB": 10, "M": 20, "MB": 20, "MIB": 20, "G": 30, "GB": 30, "GIB": 30, "T": 40, "TB": 40, "TIB": 40,
	}[unit]
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if err != nil || !ok || n < 0 || n*float64(int64(1)<<shift) >= 1<<62 {
		return errors.New("must be a size such as 512M or 4G")
	}
	*b = Bytes(n * float64(int64(1)<<shift))
	return nil
}

// pollInterval is the interval at which disk usage is measured.
const pollInterval = time.Second

// watchDisk ends the job when it exceeds its disk limit.
func watchDisk(ctx context.Context, j *Job, end context.CancelCauseFunc) {
	for wait.Sleep(ctx, pollInterval) {
		if why := diskExceeded(j); why != "" {
			end(failure.New("%s", why))
		}
	}
}

const (
	entryBytes = 1 << 10 // counted for each file and folder in addition to its content, so that empty ones count too
	maxDepth   = 64      // of nested folders
)

// diskExceeded returns how the job has exceeded its limit in its writable folders, or "". Folders that cannot be measured exceed the
// limit. Files that disappear during the measurement do not count. It follows no links. It measures the folder that was opened before
// the job began, even if the job replaces the folder.
func diskExceeded(j *Job) string {
	var used Bytes
	for _, f := range j.Folders {
		if !f.Writable {
			continue
		}
		err := fs.WalkDir(f.Root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
			used += entryBytes
			switch {
			case err != nil:
			case strings.Count(path, "/") > maxDepth:
				return fmt.Errorf("there are folders more than %d levels deep", maxDepth)
			case used > j.Limits.Disk:
				return fs.SkipAll
			case e.Type().IsRegular():
				var info fs.FileInfo
				if info, err = e.Info(); err == nil {
					used += Bytes(info.Size())
				}
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Sprintf("What it wrote into its folders cannot be counted, which is over the limit of %s: use folders that everybody can "+
				"list, %d levels deep at most.", j.Limits.Disk, maxDepth)
		}
	}
	if used > j.Limits.Disk {
		return fmt.Sprintf("It wrote %s into its folders, more than the %s that are allowed.", used, j.Limits.Disk)
	}
	return ""
}
