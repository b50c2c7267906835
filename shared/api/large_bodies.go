package api

import (
	"bytes"
	"io"
	"sync"
	"time"

	"assay/shared/problem"
)

// Bounds of the large bodies that are in memory at the same time, so that requests whose bodies arrive slowly, or all at once,
// cannot fill it. A body is large beyond smallBody bytes, and counts until its request is answered.
const (
	smallBody      = 64 << 10
	maxLarge       = 16 // of all callers
	maxLargeNoUser = 6  // of all callers without a login together
	maxLargeUser   = 4  // of one user
)

// largeBodies counts large bodies by the id of their user, which is empty for all callers without a login.
type largeBodies struct {
	mu    sync.Mutex
	total int
	by    map[string]int
}

// acquire counts one more, unless that would be too many.
func (l *largeBodies) acquire(user string) bool {
	most := maxLargeUser
	if user == "" {
		most = maxLargeNoUser
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total == maxLarge || l.by[user] == most {
		return false
	}
	if l.by == nil {
		l.by = map[string]int{}
	}
	l.total++
	l.by[user]++
	return true
}

func (l *largeBodies) release(user string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.by[user]--; l.by[user] == 0 {
		delete(l.by, user)
	}
}

// readAll reads a body to its end, as far as there is room for large ones.
func (c *Call) readAll(body io.Reader) ([]byte, error) {
	small, err := io.ReadAll(io.LimitReader(body, smallBody))
	if err != nil || len(small) < smallBody {
		return small, err
	}
	if !c.holdsLarge && !c.large.acquire(c.Caller.ID) {
		return nil, problem.Unavailable.New("Too many large bodies are on their way at the moment. Try again in a second, and send few at the same time.").After(time.Second)
	}
	c.holdsLarge = true
	whole := bytes.NewBuffer(small)
	whole.Grow(int(min(max(c.request.ContentLength, 0), MaxBodyBytes)))
	_, err = whole.ReadFrom(body)
	return whole.Bytes(), err
}
