package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
	"assay/shared/wait"
)

const (
	pullTime   = 10 * time.Minute // how long it may take to get an image
	answerTime = 30 * time.Second // how long a registry may take to answer with the manifest, and git's host with its refs
	maxVolumes = 32               // of an image
)

// references are the names of images in registries, as the OCI distribution specification has them: nothing that a runtime
// could take for an option, or for a file of this machine.
var references = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]+/[a-z0-9][a-z0-9._-]*)?(/[a-z0-9][a-z0-9._-]*)*` +
	`(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?$`)

// Image implements Sandbox: it pulls the image, and names it by its digest from then on.
func (c *Container) Image(ctx context.Context, reference string, log *output.Log) (*Program, error) {
	if !references.MatchString(reference) {
		return nil, failure.New("%q is not the name of an image in a registry, such as registry.example.org/lakeside/ranker:1.0.", reference)
	}
	log.Say("The image %s is being pulled.", reference)
	// Without the transport Podman would read some names as places on this machine.
	id, _, err := c.pull(ctx, "docker://"+reference)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		c.Log.Warn("an image cannot be pulled", "image", reference, "error", err)
		if c.outage.failed() {
			return nil, fmt.Errorf("no image has come for %d pulls: %w", mostFailures, err)
		}
		return nil, failure.New("The image %s cannot be pulled within %s. Is its name right, does its registry answer within %s, may everybody read it, is it made for this kind of machine, and is it smaller than %s?", reference, pullTime, answerTime, c.Images)
	}
	c.outage.over()
	p, err := c.program(ctx, reference, id)
	if err == nil {
		log.Say("The image is %s.", p.Version)
	}
	return p, err
}

// The causes of ending a pull.
var (
	errTooLarge = errors.New("the image takes more of the disk than all images together may")
	errNoAnswer = errors.New("the registry, or a host that it names, does not answer")
)

// pull brings an image into Podman's store, and returns its id. One that was not there is the workers' from then on.
func (c *Container) pull(ctx context.Context, from string) (id string, brought bool, err error) {
	c.collect(ctx)
	before, err := c.call(ctx, "images", "--all", "--quiet", "--no-trunc")
	if err != nil {
		return "", false, err
	}
	bounded, cancel := context.WithTimeout(ctx, pullTime)
	defer cancel()
	bounded, end := context.WithCancelCause(bounded)
	defer end(nil)
	free := c.free()
	go func() {
		for wait.Sleep(bounded, watched) {
			if free-c.free() > c.Images {
				end(errTooLarge)
			}
		}
	}()
	answer := time.AfterFunc(answerTime, func() { end(errNoAnswer) })
	defer answer.Stop()
	id, err = c.callWatched(bounded, func(said []byte) {
		switch {
		case bytes.Contains(said, []byte("Copying ")): // a layer: Podman has the manifest
			answer.Stop()
		case bytes.Contains(said, []byte("i/o timeout")): // of one of the connections, which Podman would try several times
			end(errNoAnswer)
		}
	}, "pull", from)
	if err != nil {
		return "", false, err
	}
	brought = !strings.Contains(before, id)
	return id, brought, c.note(id, brought)
}

// free is the space that is left where Podman keeps images.
func (c *Container) free() Bytes {
	var s syscall.Statfs_t
	if syscall.Statfs(c.machine.Store.GraphRoot, &s) != nil {
		return 0
	}
	return Bytes(s.Bavail) * Bytes(s.Bsize)
}

// described is what Podman tells of an image, in part.
type described struct {
	ID     string `json:"Id"`
	Digest string
	Size   Bytes
	Config struct{ Volumes map[string]struct{} }
}

func (c *Container) describe(ctx context.Context, id string) (*described, error) {
	var answer [1]described
	if err := c.ask(ctx, &answer, "image", "inspect", id); err != nil {
		return nil, fmt.Errorf("the image cannot be inspected: %w", err)
	}
	return &answer[0], nil
}

// program describes an image that is here, for the reference by which it was asked for.
func (c *Container) program(ctx context.Context, reference, id string) (*Program, error) {
	d, err := c.describe(ctx, id)
	if err != nil {
		return nil, err
	}
	p := &Program{image: d.ID, Version: d.named(reference)}
	p.volumes, err = volumes(d.Config.Volumes)
	return p, err
}

// volumes are the places of an image's volumes where a file system can be mounted.
func volumes(declared map[string]struct{}) ([]string, error) {
	var at []string
	for declared := range declared {
		clean := path.Clean(declared)
		misplaced := slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(system string) bool { return within(clean, system) })
		if !path.IsAbs(clean) || clean == "/" || misplaced || strings.ContainsFunc(clean, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`:,"\`, r) }) {
			return nil, failure.New("The image declares the volume %q, over which nothing can be mounted. Build it without that volume.", declared)
		}
		if clean != "/tmp" { // which every container has
			at = append(at, clean)
		}
	}
	slices.Sort(at)
	if at = slices.Compact(at); len(at) > maxVolumes {
		return nil, failure.New("The image declares more than %d volumes. Build it with fewer.", maxVolumes)
	}
	return at, nil
}

// named is the image by its digest in the repository of the reference.
func (d *described) named(reference string) string {
	repository, digest, _ := strings.Cut(reference, "@")
	if i := strings.LastIndexByte(repository, ':'); i > strings.LastIndexByte(repository, '/') {
		repository = repository[:i]
	}
	return repository + "@" + cmp.Or(digest, d.Digest)
}
