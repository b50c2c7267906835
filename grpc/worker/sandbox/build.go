package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"assay/grpc/assayv1"
	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
)

// A build runs Buildah in a container as runs have it, so that the limits, the user namespace, the cgroup, the own end and the
// guard are the same. It may additionally mount within its own user namespace, and reach public addresses through the proxy of
// egress.go. Its image store and caches lie in its output folder and end with it. What leaves it is an archive of the image.

const (
	buildTime   = 30 * time.Minute
	buildah     = "/usr/bin/buildah"
	inputMount  = "/assay/input"
	outputMount = "/assay/output"
	archiveName = "image.tar"
	capacities  = "CHOWN,DAC_OVERRIDE,FOWNER,FSETID,KILL,NET_BIND_SERVICE,SETFCAP,SETGID,SETPCAP,SETUID,SYS_CHROOT"
)

var buildOptions = []string{
	"--cap-add=SYS_ADMIN," + capacities, "--tmpfs=/run:rw,nosuid,nodev,size=16777216,notmpcopyup",
	"--env=HOME=" + outputMount, "--env=TMPDIR=" + outputMount, "--env=BUILDAH_ISOLATION=chroot",
	"--env=http_proxy=http://" + proxyListen, "--env=https_proxy=http://" + proxyListen, "--env=HTTP_PROXY=http://" + proxyListen, "--env=HTTPS_PROXY=http://" + proxyListen,
}

// configuration is the folder /etc/containers of a build: registries are the only place that images come from.
var configuration = map[string]string{
	"policy.json":     `{"default": [{"type": "reject"}], "transports": {"docker": {"": [{"type": "insecureAcceptAnything"}]}}}`,
	"registries.conf": "unqualified-search-registries = [\"docker.io\"]\nshort-name-mode = \"disabled\"\n[[registry]]\nprefix = \"localhost\"\nlocation = \"localhost\"\nblocked = true\n",
	"storage.conf":    "[storage]\ndriver = \"overlay\"\ngraphroot = \"" + outputMount + "/store\"\nrunroot = \"" + outputMount + "/run\"\n",
	"containers.conf": "[containers]\ndefault_capabilities = [\"" + strings.ReplaceAll(capacities, ",", `", "`) + "\"]\n",
}

// buildJob is a job that runs Buildah over an input folder. The folder takes its configuration and its output, whose root is for
// the caller to close.
func (c *Container) buildJob(ctx context.Context, j Job, folder, input, command string) (*Job, error) {
	settings, out := filepath.Join(folder, "settings"), filepath.Join(folder, "build")
	if err := os.Mkdir(settings, 0o755); err != nil { //nolint:gosec // programs in containers are other users
		return nil, err
	}
	for name, content := range configuration {
		if err := os.WriteFile(filepath.Join(settings, name), []byte(content), 0o644); err != nil { //nolint:gosec // as above
			return nil, err
		}
	}
	root, err := c.Output(ctx, out, j.Limits.Disk)
	if err != nil {
		return nil, err
	}
	j.Program, j.Command, j.build = &Program{image: c.Builder}, command, true
	j.Folders = []Folder{
		{Path: input, Mount: inputMount}, {Path: settings, Mount: "/etc/containers"}, {Path: out, Mount: outputMount, Writable: true, Root: root},
	}
	return &j, nil
}

// openEgress gives the container of a build, which is not started yet, its proxy.
func (c *Container) openEgress(ctx context.Context, name string) (shut func(), err error) {
	if _, err := c.call(ctx, "init", name); err != nil {
		return nil, err
	}
	s, err := c.state(ctx, name)
	if err != nil {
		return nil, err
	}
	l, err := listenIn(ctx, s.Pid)
	if err != nil {
		return nil, fmt.Errorf("the network of a build cannot be prepared: %w", err)
	}
	return serve(l, egress(public)), nil
}

// build builds the Dockerfile of a folder and brings the image into Podman's store.
func (c *Container) build(ctx context.Context, j Job, folder, checkout string) (*Program, error) {
	if j.Limits.Time = min(j.Limits.Time, buildTime); c.Builder == "" {
		return nil, errors.New("this worker builds no repositories: it was started without -builds")
	}
	job, err := c.buildJob(ctx, j, folder, checkout, "build --network=host --tag=oci-archive:"+outputMount+"/"+archiveName+" --file="+inputMount+"/Dockerfile "+inputMount)
	if err != nil {
		return nil, err
	}
	built := job.Folders[len(job.Folders)-1]
	defer func() { _ = built.Root.Close() }()
	if err := Run(ctx, c, job); err != nil {
		return nil, err
	}
	if info, err := built.Root.Lstat(archiveName); err != nil || !info.Mode().IsRegular() {
		return nil, failure.New("The build left no image.")
	}
	id, brought, err := c.pull(ctx, "oci-archive:"+filepath.Join(built.Path, archiveName))
	if err != nil {
		c.Log.Warn("the image of a build cannot be taken", "error", err)
		return nil, errors.Join(ctx.Err(), failure.New("The image that was built cannot be taken."))
	}
	if brought {
		// The archive may have given it the name of another image.
		if _, err := c.call(ctx, "untag", id); err != nil {
			return nil, err
		}
	}
	p, err := c.program(ctx, "", id)
	if err != nil {
		return nil, err
	}
	p.discard = brought
	return p, nil
}

// Repository implements Sandbox: it builds the Dockerfile of the checkout.
func (c *Container) Repository(ctx context.Context, url, ref, folder, name string, log *output.Log) (*Program, error) {
	checkout := filepath.Join(folder, "checkout")
	root, err := c.Output(ctx, checkout, c.Limits.Disk)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	g := git{folder: checkout, log: c.Log, outage: &c.outage}
	commit, err := g.clone(ctx, url, ref, log)
	if err != nil {
		return nil, err
	}
	// A link could lead the build to another file.
	for _, name := range []string{"Dockerfile", ".dockerignore", ".containerignore"} {
		info, err := root.Lstat(name)
		if err == nil && !info.Mode().IsRegular() {
			return nil, failure.New("%s of the repository must be a file, and no link.", name)
		}
		if err != nil && name == "Dockerfile" {
			return nil, failure.New("The repository has no Dockerfile at its top, which says how to build it.")
		}
	}
	log.Say("The Dockerfile of the repository is being built.")
	out, said := log.Writer(assayv1.Stream_STREAM_STDOUT), log.Writer(assayv1.Stream_STREAM_STDERR)
	p, err := c.build(ctx, Job{Name: "assay-build-" + name, Owner: filepath.Dir(filepath.Dir(folder)), Limits: c.Limits, Stdout: out, Stderr: said}, folder, checkout)
	out.Close()
	said.Close()
	if ofRun, ok := errors.AsType[*failure.OfRun](err); ok {
		of := failure.New("The Dockerfile of the repository cannot be built at commit %s.", commit)
		of.Diagnostics = append(of.Diagnostics, ofRun.Diagnostics...)
		return nil, of.With(log.Tail(assayv1.Stream_STREAM_STDERR))
	}
	if err != nil {
		return nil, err
	}
	p.Version = commit
	return p, nil
}

// The first version of Buildah in which a Dockerfile cannot reach the files of its builder, by any of CVE-2024-1753,
// CVE-2024-9675 and CVE-2024-11218.
const fixed = "v1.38.1"

var versions = regexp.MustCompile(`(?m)^buildah version (\d+\.\d+\.\d+)`)

// checkVersion refuses builders that are older than the fixed version.
func checkVersion(printed string) error {
	found := versions.FindStringSubmatch(printed)
	if found == nil {
		return fmt.Errorf("the builder does not tell its version as %s --version does", buildah)
	}
	if semver.Compare("v"+found[1], fixed) < 0 {
		return fmt.Errorf("the builder is %q, and versions before %s let a Dockerfile reach the files of the builder: take an image of a newer one", found[0], fixed[1:])
	}
	return nil
}

// The trials of a builder. Each runs Buildah itself from a mount: the first, of a folder that it may mount, shows its version; the
// others lead out of what they mount by a link (CVE-2024-1753) and by the name of a cache (CVE-2024-9675).
var trials = []struct{ name, context, dockerfile string }{
	{"plain", "/", "FROM scratch\nCOPY assay/input/links /\nRUN --mount=type=bind,source=usr,target=/mnt/usr [\"/mnt" + buildah + "\", \"--version\"]\n"},
	{"link", inputMount, "FROM scratch AS s\nCOPY links /\nFROM scratch\nCOPY links /\nRUN --mount=type=bind,from=s,source=/root,target=/mnt,rw [\"/mnt" + buildah + "\", \"--version\"]\n"},
	{"cache", inputMount, "FROM scratch\nCOPY links /\nRUN --mount=type=cache,id=../../../../../../../..,target=/mnt [\"/mnt" + buildah + "\", \"--version\"]\n"},
}

// checkBuilder refuses a builder that is too old, does not work here, or lets a Dockerfile out.
func (c *Container) checkBuilder(ctx context.Context, j *Job) error {
	if os.Geteuid() != 0 || c.machine.Host.Security.Rootless {
		return errors.New("the worker must run as root, to give each build a network and a file system of its own; the build itself does not")
	}
	if _, err := c.call(ctx, "image", "exists", c.Builder); err != nil {
		if _, err := c.call(ctx, "pull", "--quiet", "docker://"+c.Builder); err != nil { // it is not collected as images of runs are
			return fmt.Errorf("the image of the builder cannot be pulled: %w", err)
		}
	}
	d, err := c.describe(ctx, c.Builder)
	if err != nil {
		return err
	}
	c.Builder = d.ID // the archive of a build may bring its name, for a moment
	for i, t := range trials {
		printed, err := c.tryBuilder(ctx, *j, t.name, t.dockerfile, t.context)
		switch shown := versions.MatchString(printed); {
		case i == 0:
			if old := checkVersion(printed); old != nil {
				return errors.Join(old, err)
			}
		case shown:
			return fmt.Errorf("the builder lets a Dockerfile reach its files (trial %q): take an image of a newer one", t.name)
		}
	}
	return nil
}

// tryBuilder builds a Dockerfile in a context of the builder's file system once, and returns what the build printed.
func (c *Container) tryBuilder(ctx context.Context, j Job, name, dockerfile, context string) (string, error) {
	folder := filepath.Join(j.Owner, name)
	links := filepath.Join(folder, "input", "links")
	if err := errors.Join(os.MkdirAll(links, 0o755), os.WriteFile(filepath.Join(folder, "input", "Dockerfile"), []byte(dockerfile), 0o644), //nolint:gosec // for other users
		os.Symlink("/", filepath.Join(links, "root")), os.Symlink("/mnt/usr/lib", filepath.Join(links, "lib")), os.Symlink("/mnt/usr/lib64", filepath.Join(links, "lib64"))); err != nil {
		return "", err
	}
	var printed, said short
	j.Name, j.Stdout, j.Stderr = j.Name+"-"+name, &printed, &said
	job, err := c.buildJob(ctx, j, folder, filepath.Join(folder, "input"), "build --network=host --file="+inputMount+"/Dockerfile "+context)
	if err != nil {
		return "", err
	}
	defer func() { _ = job.Folders[len(job.Folders)-1].Root.Close() }()
	if err = Run(ctx, c, job); err != nil {
		err = fmt.Errorf("the builder cannot build here: %w: %s", err, &said)
	}
	return printed.String(), err
}
