package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
)

// pullTime is how long it may take to get an image.
const pullTime = 30 * time.Minute

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
	bounded, cancel := context.WithTimeout(ctx, pullTime)
	defer cancel()
	from, found := reference, reference
	if c.podman {
		from = "docker://" + reference // without which Podman would read some names as places on this machine
	}
	printed, err := c.call(bounded, io.Discard, "pull", "--quiet", from)
	if c.podman {
		found = printed // the id
	}
	if err != nil {
		return nil, blamePull(ctx, bounded, reference, err)
	}
	p, err := c.program(ctx, reference, found)
	if err != nil {
		return nil, err
	}
	log.Say("The image is %s.", p.Version)
	return p, nil
}

func blamePull(ctx, bounded context.Context, reference string, err error) error {
	var r *refusal
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case bounded.Err() != nil:
		return failure.New("The image %s cannot be pulled within %s.", reference, pullTime)
	case errors.As(err, &r) && faultOf(r.said) == theRuns:
		return failure.New("The image %s cannot be pulled. Is its name right, and may everybody read it? The container runtime says: %s", reference, r.said)
	}
	return fmt.Errorf("the image %s cannot be pulled: %w", reference, err)
}

// described is what the runtimes tell of an image, in part.
type described struct {
	ID          string   `json:"Id"`
	RepoDigests []string // with the names of repositories
	Config      struct{ Volumes map[string]struct{} }
}

// program asks for the digest of an image that is here.
func (c *Container) program(ctx context.Context, reference, found string) (*Program, error) {
	out, err := c.call(ctx, io.Discard, "image", "inspect", found)
	if err != nil {
		return nil, fmt.Errorf("the image cannot be inspected: %w", err)
	}
	var all []described
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 {
		return nil, fmt.Errorf("the image cannot be inspected: the runtime describes %d images: %w", len(all), err)
	}
	d := all[0]
	p := &Program{image: d.ID, Version: d.named(reference)}
	if p.Version != d.ID {
		p.image = p.Version
	}
	for path := range d.Config.Volumes {
		if !filepath.IsAbs(path) || filepath.Clean(path) == "/" || strings.ContainsAny(path, ":,") {
			return nil, failure.New("The image has the volume %q, which cannot be mounted.", path)
		}
		p.volumes = append(p.volumes, path)
	}
	slices.Sort(p.volumes)
	return p, nil
}

// named is the image by the digest that its registry knows it by, or by its own when it came from none.
func (d *described) named(reference string) string {
	repository, digest, _ := strings.Cut(reference, "@")
	if i := strings.LastIndexByte(repository, ':'); i > strings.LastIndexByte(repository, '/') {
		repository = repository[:i]
	}
	for _, named := range d.RepoDigests {
		of, its, _ := strings.Cut(named, "@")
		if digest != "" && its == digest || digest == "" && strings.HasSuffix("/"+of, "/"+repository) {
			return named
		}
	}
	if len(d.RepoDigests) > 0 {
		return d.RepoDigests[0]
	}
	return d.ID
}

// Repository implements Sandbox: it builds the Dockerfile of the checkout.
func (c *Container) Repository(ctx context.Context, url, ref, folder, name string, log *output.Log) (*Program, error) {
	commit, err := clone(ctx, url, ref, folder, log)
	if err != nil {
		return nil, err
	}
	// A link could lead the build to a file of this machine.
	for _, name := range []string{"Dockerfile", ".dockerignore", ".containerignore"} {
		info, err := os.Lstat(filepath.Join(folder, name))
		if err == nil && !info.Mode().IsRegular() {
			return nil, failure.New("%s of the repository must be a file, and no link.", name)
		}
		if err != nil && name == "Dockerfile" {
			return nil, failure.New("The repository has no Dockerfile at its top, which says how to build it.")
		}
	}
	log.Say("The Dockerfile of the repository is being built.")
	bounded, cancel := context.WithTimeout(ctx, pullTime)
	defer cancel()
	out, said := log.Writer(assayv1.Stream_STREAM_STDOUT), log.Writer(assayv1.Stream_STREAM_STDERR)
	id := filepath.Join(filepath.Dir(folder), "image-id")
	cmd := groupCommand(bounded, c.runtime, "build", "--force-rm", "--iidfile="+id, "--tag=assay-worker:"+name,
		"--label="+ownerLabel+"="+filepath.Dir(filepath.Dir(folder)), "--file="+filepath.Join(folder, "Dockerfile"), folder)
	cmd.Env = c.environment()
	cmd.Stdout, cmd.Stderr = out, said
	err = runGroup(cmd)
	out.Close()
	said.Close()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case bounded.Err() != nil:
		return nil, failure.New("The repository cannot be built within %s.", pullTime)
	case err != nil:
		return nil, failure.New("The Dockerfile of the repository cannot be built at commit %s.", commit).With(log.Tail(assayv1.Stream_STREAM_STDERR))
	}
	built, err := os.ReadFile(id)
	if err != nil {
		return nil, fmt.Errorf("the runtime does not tell which image it has built: %w", err)
	}
	p, err := c.program(ctx, string(built), strings.TrimSpace(string(built)))
	if err != nil {
		return nil, err
	}
	p.Version, p.image = commit, strings.TrimSpace(string(built))
	p.discard = []string{p.image}
	return p, nil
}
