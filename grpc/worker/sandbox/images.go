package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	imageAge       = 7 * 24 * time.Hour // since the last use, after which an image is removed
	imageLeaseTime = 10 * time.Minute   // after a use, in which no image is removed: its container may not exist yet
)

// usageFile returns the file that records an image which a worker has pulled; its modification time is that of the last use. Only
// those images are ever removed.
func (c *Container) usageFile(id string) string {
	return filepath.Join(c.Folder, "images", strings.TrimPrefix(id, "sha256:"))
}

// recordUse records that an image is used, unless it was on the machine before any worker pulled it.
func (c *Container) recordUse(id string, pulled bool) error {
	file := c.usageFile(id)
	if pulled {
		return errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600))
	}
	if err := os.Chtimes(file, time.Time{}, time.Now()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// collectGarbage removes the workers' images that were not used for imageAge, and the least recently used ones while all together are
// too large.
func (c *Container) collectGarbage(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTimeout)
	defer cancel()
	c.collecting.Lock()
	defer c.collecting.Unlock()
	type used struct {
		imageInfo
		at time.Time
	}
	var all []used
	var total Bytes
	files, _ := filepath.Glob(c.usageFile("*"))
	for _, file := range files {
		d, err := c.describe(ctx, filepath.Base(file))
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			_ = os.Remove(file) // the image is gone
			continue
		}
		if info, err := os.Stat(file); err == nil {
			all = append(all, used{*d, info.ModTime()})
			total += d.Size
		}
	}
	slices.SortFunc(all, func(a, b used) int { return a.at.Compare(b.at) })
	for _, i := range all {
		if age := time.Since(i.at); age < imageLeaseTime || age < imageAge && total <= c.Images {
			return
		}
		// Without force Podman keeps an image that has a container.
		if _, err := c.call(ctx, "rmi", i.ID); err == nil {
			total -= i.Size
			_ = os.Remove(c.usageFile(i.ID)) // if this fails, the next time finds the image gone
		}
	}
}

// discard removes the image of a build now or, if that fails, with the next garbage collection.
func (c *Container) discard(ctx context.Context, id string) {
	_ = os.Chtimes(c.usageFile(id), time.Time{}, time.Unix(0, 0)) // if this fails, it is removed after imageAge
	c.collectGarbage(ctx)
}
