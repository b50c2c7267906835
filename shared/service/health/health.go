// Package health checks the parts of a server whose failure does not stop it: the object store and the free space of its disks. The
// server still answers most requests without them, so their checks warn.
package health

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"assay/shared/language/metrics"
	"assay/shared/service/files"
	"assay/shared/storage/blob"
)

const (
	// maxAge is the age up to which a result serves all callers. So callers cannot load the object store.
	maxAge = 10 * time.Second
	// askTime bounds the time of a check. A part that takes longer does not answer.
	askTime = 2 * time.Second
)

// lowFraction and lowBytes say when the free space of a disk is low: below a twentieth of the disk, or on large disks below lowBytes, which
// are five of the largest files.
const (
	lowFraction = 20
	lowBytes    = 10 << 30
)

// Names of checks.
const (
	Files = "files"
	Disk  = "disk"
)

// Check is the result of a check.
type Check struct {
	Name    string
	Warning string // what does not work, and what to do; empty if the check passes
	cause   error  // for the log
}

// Folder is a folder that the server writes to.
type Folder struct {
	Name, Path string
	// Space returns the free and the whole space of the folder's disk in bytes, or an error if it is unknown.
	Space func(path string) (free, size int64, err error)
}

// space is the free and the whole space of a folder's disk, in bytes.
type space struct {
	folder     string
	free, size int64
}

// Monitor checks a server. Callers share its checks. The zero fields check nothing.
type Monitor struct {
	Objects blob.Store
	Folders []Folder
	Log     *slog.Logger

	mu       sync.Mutex
	checks   []Check
	at       time.Time     // of the checks
	disks    []Check       // of the checks under way; nil until the disks have answered
	spaces   []space       // that the disks answered last
	underWay chan struct{} // closed when the checks under way end; nil without them
	began    time.Time     // when the checks under way began
}

// Checks returns results that are at most ten seconds old. It takes at most two seconds, and no time while a part is known to hang.
func (m *Monitor) Checks(ctx context.Context) []Check {
	underWay, began := m.refresh(ctx)
	if underWay == nil {
		return m.found()
	}
	late := time.NewTimer(time.Until(began.Add(askTime)))
	defer late.Stop()
	select {
	case <-underWay:
		return m.found()
	case <-late.C:
	case <-ctx.Done():
	}
	return m.unanswered()
}

// refresh begins new checks if the last results are too old. It returns the checks under way, or nil if the results still serve.
func (m *Monitor) refresh(ctx context.Context) (underWay chan struct{}, began time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.checks != nil && time.Since(m.at) < maxAge {
		return nil, time.Time{}
	}
	if m.underWay == nil {
		m.disks = nil
		m.underWay = make(chan struct{})
		m.began = time.Now()
		go m.look(context.WithoutCancel(ctx), m.underWay)
	}
	return m.underWay, m.began
}

// found returns the results of the last checks that ended, or nil before the first.
func (m *Monitor) found() []Check {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.checks
}

// look makes all checks: first those of the disks, which take no time unless a disk hangs. Parts that do not end in time delay the next
// checks, so that these do not pile up.
func (m *Monitor) look(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	disks, spaces := m.checkDisks()
	m.mu.Lock()
	m.disks = disks
	m.spaces = spaces
	m.mu.Unlock()
	checks := append(m.checkFiles(ctx), disks...)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.logChanges(ctx, checks)
	m.checks = checks
	m.at = time.Now()
	m.underWay = nil
	close(done)
}

// unanswered returns the checks with a warning of the part that has not answered in time.
func (m *Monitor) unanswered() (checks []Check) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.Objects != nil {
		checks = append(checks, Check{Name: Files, Warning: filesWarning})
	}
	if m.disks == nil && len(m.Folders) > 0 {
		return append(checks, Check{Name: Disk, Warning: "The disk does not answer. Look at the machine's disks."})
	}
	return append(checks, m.disks...)
}

const filesWarning = "The object store does not answer, so nobody can upload or download files, and no run is evaluated. " +
	"The server's log has the error."

// checkFiles asks the object store for the claim of the table. A missing claim is an answer, too.
func (m *Monitor) checkFiles(ctx context.Context) []Check {
	if m.Objects == nil {
		return []Check{}
	}
	_, err := m.Objects.Stat(ctx, files.ClaimKey)
	if err == nil || errors.Is(err, blob.ErrNotFound) {
		return []Check{{Name: Files}}
	}
	return []Check{{Name: Files, Warning: filesWarning, cause: err}}
}

// checkDisks returns the known spaces of the folders, and a check that warns of the first disk with little free space.
func (m *Monitor) checkDisks() ([]Check, []space) {
	if len(m.Folders) == 0 {
		return []Check{}, nil
	}
	check := Check{Name: Disk}
	var spaces []space
	for _, f := range m.Folders {
		free, size, err := f.Space(f.Path)
		if err != nil {
			continue
		}
		spaces = append(spaces, space{f.Name, free, size})
		if check.Warning == "" && free < min(size/lowFraction, lowBytes) {
			check.Warning = fmt.Sprintf("The disk of the folder for %s is almost full. Make room: on a full disk, the server "+
				"stores nothing, and answers only what is stored.", f.Name)
		}
	}
	return []Check{check}, spaces
}

// logChanges logs the checks that begin or end to warn.
func (m *Monitor) logChanges(ctx context.Context, now []Check) {
	for i, c := range now {
		warned := len(m.checks) > i && m.checks[i].Warning != ""
		switch {
		case c.Warning != "" && !warned:
			about := []any{"check", c.Name, "warning", c.Warning}
			if c.cause != nil {
				about = append(about, "error", c.cause)
			}
			m.Log.WarnContext(ctx, "a check warns", about...)
		case c.Warning == "" && warned:
			m.Log.InfoContext(ctx, "a check passes again", "check", c.Name)
		}
	}
}

// Record records what the last checks found, and begins new ones if that is old. It never waits for a part of the server. Before the first
// checks end, it records nothing.
func (m *Monitor) Record(ctx context.Context, r metrics.Recorder) {
	checks := m.found()
	if underWay, began := m.refresh(ctx); underWay != nil && time.Since(began) >= askTime {
		checks = m.unanswered()
	}
	for _, c := range checks {
		passes := 1.0
		if c.Warning != "" {
			passes = 0
		}
		r.Record(metrics.CheckPasses, passes, c.Name)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.spaces {
		r.Record(metrics.DiskFree, float64(s.free), s.folder)
		r.Record(metrics.DiskSize, float64(s.size), s.folder)
	}
}
