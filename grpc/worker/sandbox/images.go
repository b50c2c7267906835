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
	imageAge  = 7 * 24 * time.Hour // after the last use
	imageRest = 10 * time.Minute   // between a pull and the container that is made from it, for which no image is removed
)

// noted is the file that notes an image which a worker has brought onto the machine; its time is that of the last use. Only those
// images are ever removed: what was there before is somebody else's.
func (c *Container) noted(id string) string {
	return filepath.Join(c.Folder, "images", strings.TrimPrefix(id, "sha256:"))
}

// note notes that an image is used. One that the machine had already is noted only when a worker had brought it.
func (c *Container) note(id string, brought bool) error {
	file := c.noted(id)
	if brought {
		return errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600))
	}
	if err := os.Chtimes(file, time.Time{}, time.Now()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// collect removes the workers' images that were not used for long, and those unused for longest while all of them are too large.
func (c *Container) collect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTime)
	defer cancel()
	c.collecting.Lock()
	defer c.collecting.Unlock()
	type used struct {
		described
		at time.Time
	}
	var all []used
	var total Bytes
	files, _ := filepath.Glob(c.noted("*"))
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
		if age := time.Since(i.at); age < imageRest || age < imageAge && total <= c.Images {
			return
		}
		// Without force Podman keeps an image that a container is made from.
		if _, err := c.call(ctx, "rmi", i.ID); err == nil {
			total -= i.Size
			_ = os.Remove(c.noted(i.ID)) // it is found to be gone next time
		}
	}
}

// discard removes the image of a build, now or when others are: it is noted as one that was not used for long.
func (c *Container) discard(ctx context.Context, id string) {
	_ = os.Chtimes(c.noted(id), time.Time{}, time.Unix(0, 0)) // or it goes after that time
	c.collect(ctx)
}
