package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// images notes which images workers have brought onto the machine, in a file for each whose time is that of the last use. Only
// those are ever removed: what was there before is somebody else's.
type images struct {
	folder string
	most   Bytes // of all that are noted
	mu     sync.Mutex
}

const (
	imageAge  = 7 * 24 * time.Hour // after the last use
	imageRest = 10 * time.Minute   // between a pull and the container that is made from it, for which no image is removed
)

// note notes that an image is used. One that the machine had already is noted only when a worker had brought it.
func (i *images) note(id string, brought bool) error {
	file := filepath.Join(i.folder, strings.TrimPrefix(id, "sha256:"))
	now := time.Now()
	if err := os.Chtimes(file, now, now); err == nil || !brought {
		return nil
	}
	if err := os.MkdirAll(i.folder, 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, nil, 0o600)
}

// collect removes the workers' images that were not used for long, and those unused for longest while all of them are too large.
func (c *Container) collect(ctx context.Context) {
	c.images.mu.Lock()
	defer c.images.mu.Unlock()
	entries, err := os.ReadDir(c.images.folder)
	if err != nil {
		return // none was noted
	}
	type used struct {
		id   string
		at   time.Time
		size Bytes
	}
	var all []used
	var total Bytes
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		d, err := c.describe(ctx, e.Name())
		if err != nil {
			_ = os.Remove(filepath.Join(c.images.folder, e.Name())) // the image is gone; ctx may have ended, and it is noted again
			continue
		}
		all = append(all, used{e.Name(), info.ModTime(), Bytes(d.Size)})
		total += Bytes(d.Size)
	}
	slices.SortFunc(all, func(a, b used) int { return a.at.Compare(b.at) })
	for _, i := range all {
		if age := time.Since(i.at); age < imageRest || age < imageAge && total <= c.images.most {
			return
		}
		// Without force Podman keeps an image that a container is made from.
		if _, err := c.call(ctx, "rmi", i.id); err == nil {
			total -= i.size
			_ = os.Remove(filepath.Join(c.images.folder, i.id)) // it is found to be gone next time
		}
	}
}

// discard removes the image of a build.
func (c *Container) discard(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	if _, err := c.call(ctx, "rmi", id); err != nil {
		c.log.Warn("the image of a build cannot be removed; it goes when it has not been used for long", "image", id, "error", err)
	}
}
