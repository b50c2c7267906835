package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
	"assay/shared/language/wait"
)

const (
	pullTimeout   = 10 * time.Minute // for a whole image
	answerTimeout = 30 * time.Second // for a registry's manifest, and for the refs of a git host
	maxVolumes    = 32               // of an image
)

// referencePattern matches image references of the OCI distribution specification. It matches nothing that Podman could mistake for an
// option or a file of this machine.
var referencePattern = regexp.MustCompile(
	`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]+/[a-z0-9][a-z0-9._-]*)?(/[a-z0-9][a-z0-9._-]*)*` +
		`(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?$`)

// Image implements Sandbox. It pulls the image, and identifies it by its digest.
func (c *Container) Image(ctx context.Context, reference string, log *output.Log) (*Program, error) {
	if !referencePattern.MatchString(reference) {
		return nil, failure.New("%q is not the name of an image in a registry, such as registry.example.org/lakeside/ranker:1.0.", reference)
	}
	log.Printf("The image %s is being pulled.", reference)
	// Without the transport, Podman would mistake some references for files of this machine.
	id, _, err := c.pull(ctx, "docker://"+reference)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		c.Log.Warn("an image cannot be pulled", "image", reference, "error", err)
		if c.outage.recordFailure() {
			return nil, fmt.Errorf("%d pulls have failed in a row: %w", maxOutageFailures, err)
		}
		return nil, failure.New("The image %s cannot be pulled within %s. Is its name right, does its registry answer within %s, may everybody "+
			"read it, is it made for this kind of machine, and is it smaller than %s?", reference, pullTimeout, answerTimeout, c.Images)
	}
	c.outage.reset()
	p, err := c.program(ctx, reference, id)
	if err == nil {
		log.Printf("The image is %s.", p.Version)
	}
	return p, err
}

// outage counts consecutive failures of pulls and clones. The run chooses registries and hosts, so a failure is the run's. After many
// failures in a row, the cause may be the worker's own network.
type outage struct{ failures atomic.Int32 }

const maxOutageFailures = 10

// recordFailure counts a failure, and reports whether it is attributed to the worker.
func (o *outage) recordFailure() bool { return o.failures.Add(1) > maxOutageFailures }

func (o *outage) reset() { o.failures.Store(0) }

// Causes for ending a pull.
var (
	errTooLarge = errors.New("the image takes more of the disk than all images together may")
	errNoAnswer = errors.New("the registry, or a host that it names, does not answer")
)

// pull pulls an image into Podman's store, and returns its id. pulled reports that the image was not in the store before. Such an image
// belongs to the workers and may be removed.
func (c *Container) pull(ctx context.Context, from string) (id string, pulled bool, err error) {
	c.collectGarbage(ctx)
	before, err := c.call(ctx, "images", "--all", "--quiet", "--no-trunc")
	if err != nil {
		return "", false, err
	}
	bounded, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	bounded, end := context.WithCancelCause(bounded)
	defer end(nil)
	free := c.free()
	go func() {
		for wait.Sleep(bounded, pollInterval) {
			if free-c.free() > c.Images {
				end(errTooLarge)
			}
		}
	}()
	answer := time.AfterFunc(answerTimeout, func() { end(errNoAnswer) })
	defer answer.Stop()
	id, err = c.callWatched(bounded, func(said []byte) {
		switch {
		case bytes.Contains(said, []byte("Copying ")): // Podman copies layers after it has the manifest
			answer.Stop()
		case bytes.Contains(said, []byte("i/o timeout")): // Podman would try again several times
			end(errNoAnswer)
		}
	}, "pull", from)
	if err != nil {
		return "", false, err
	}
	pulled = !strings.Contains(before, id)
	return id, pulled, c.recordUse(id, pulled)
}

// imageInfo is a part of Podman's description of an image.
type imageInfo struct {
	ID     string `json:"Id"`
	Digest string
	Size   Bytes
	Config struct{ Volumes map[string]struct{} }
}

func (c *Container) describe(ctx context.Context, id string) (*imageInfo, error) {
	var answer [1]imageInfo
	if err := c.ask(ctx, &answer, "image", "inspect", id); err != nil {
		return nil, fmt.Errorf("the image cannot be inspected: %w", err)
	}
	return &answer[0], nil
}

// program returns the program of a pulled image.
func (c *Container) program(ctx context.Context, reference, id string) (*Program, error) {
	d, err := c.describe(ctx, id)
	if err != nil {
		return nil, err
	}
	p := &Program{image: d.ID, Version: d.version(reference)}
	p.volumes, err = volumes(d.Config.Volumes)
	return p, err
}

// volumes returns the cleaned paths of an image's volumes. File systems are mounted there.
func volumes(declared map[string]struct{}) ([]string, error) {
	var at []string
	for declared := range declared {
		clean := path.Clean(declared)
		misplaced := slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(system string) bool { return within(clean, system) })
		if !path.IsAbs(clean) || clean == "/" || misplaced ||
			strings.ContainsFunc(clean, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`:,"\`, r) }) {
			return nil, failure.New("The image declares the volume %q, over which nothing can be mounted. Build it without that volume.", declared)
		}
		if clean != "/tmp" { // every container has a /tmp
			at = append(at, clean)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	if len(at) > maxVolumes {
		return nil, failure.New("The image declares more than %d volumes. Build it with fewer.", maxVolumes)
	}
	return at, nil
}

// version names the image by its digest in the repository of the reference.
func (d *imageInfo) version(reference string) string {
	repository, digest, _ := strings.Cut(reference, "@")
	if i := strings.LastIndexByte(repository, ':'); i > strings.LastIndexByte(repository, '/') {
		repository = repository[:i]
	}
	return repository + "@" + cmp.Or(digest, d.Digest)
}

const (
	imageAge       = 7 * 24 * time.Hour // an image is removed this long after its last use
	imageLeaseTime = 10 * time.Minute   // no image is removed within this time after a use, because its container may not exist yet
)

// usageFile returns the path of the file that records an image which a worker pulled. Its modification time is the time of the last use.
// Only recorded images are ever removed.
func (c *Container) usageFile(id string) string {
	return filepath.Join(c.Folder, "images", strings.TrimPrefix(id, "sha256:"))
}

// recordUse records the use of an image. It ignores images that were on the machine before a worker needed them.
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

// collectGarbage removes the workers' images that were not used for imageAge. While the images together are too large, it also removes
// the least recently used ones.
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
			_ = os.Remove(file) // the image no longer exists
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
		// Without force, Podman keeps an image that has a container.
		if _, err := c.call(ctx, "rmi", i.ID); err == nil {
			total -= i.Size
			_ = os.Remove(c.usageFile(i.ID)) // if this fails, the next collection removes the file
		}
	}
}

// discard removes the image of a build. If that fails, the next garbage collection removes it.
func (c *Container) discard(ctx context.Context, id string) {
	_ = os.Chtimes(c.usageFile(id), time.Time{}, time.Unix(0, 0)) // if this fails, the image is removed after imageAge
	c.collectGarbage(ctx)
}
