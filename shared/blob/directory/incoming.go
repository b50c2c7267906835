package directory

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// errEnded ends an upload whose file is sent again, or for which nobody waits any more.
var errEnded = errors.New("the file is sent again by another request, or no longer expected")

// incoming is the body of an upload. It allows each read as long as stall, and remembers its own failures to tell
// them from those of the disk.
type incoming struct {
	body    io.Reader
	control *http.ResponseController
	stall   time.Duration
	err     error

	mu    sync.Mutex // of the deadline, and of
	ended bool
}

func (in *incoming) Read(p []byte) (int, error) {
	if in.err = in.extend(); in.err != nil {
		return 0, in.err
	}
	n, err := in.body.Read(p)
	if err != nil && err != io.EOF {
		in.err = err
	}
	return n, err
}

// extend moves the deadline of the connection, unless the upload was ended.
func (in *incoming) extend() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended {
		return errEnded
	}
	return allow(in.control.SetReadDeadline, in.stall)
}

// end ends the upload, also while it waits for bytes.
func (in *incoming) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	_ = allow(in.control.SetReadDeadline, 0) // a connection that cannot is read no further all the same
}

// watch ends the upload once it is no longer expected, which it checks at the interval, and returns a function that ends the watch.
func (in *incoming) watch(interval time.Duration, expected func() bool) (end func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		t := time.NewTicker(interval)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
			}
			if !expected() {
				in.end()
				return
			}
		}
	}()
	return func() {
		close(done)
		<-stopped // the connection may serve another request by then
	}
}

// uploadsInProgress has the one upload that is under way for each key. Without it, a link would let its holder write the file that it
// is for as many times as there are connections, all at once. The upload that began last is the one that goes on, for it comes
// from a client whose connection broke before.
type uploadsInProgress struct {
	mu sync.Mutex
	by map[string]*incoming
}

// begin makes an upload the one of its key, and returns what ends that.
func (a *uploadsInProgress) begin(key string, in *incoming) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[string]*incoming{}
	}
	if before := a.by[key]; before != nil {
		before.end()
	}
	a.by[key] = in
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.by[key] == in {
			delete(a.by, key)
		}
	}
}

// end ends the upload of a key, if one is under way.
func (a *uploadsInProgress) end(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if in := a.by[key]; in != nil {
		in.end()
	}
}
