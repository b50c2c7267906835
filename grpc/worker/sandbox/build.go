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

	"assay/grpc/assayv1"
	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
	"assay/shared/edge/publicip"

	"golang.org/x/mod/semver"
)

// A build runs Buildah in a container like that of a run, with the same limits, user namespace, timeout and watchdog. In addition, it
// may mount within its user namespace, and reach public addresses through the proxy in egress.go. Its output folder contains its image
// store and caches. The result is an archive of the image.

const (
	buildTimeout = 30 * time.Minute
	buildah      = "/usr/bin/buildah"
	inputMount   = "/assay/input"
	outputMount  = "/assay/output"
	archiveName  = "image.tar"
	capabilities = "CHOWN,DAC_OVERRIDE,FOWNER,FSETID,KILL,NET_BIND_SERVICE,SETFCAP,SETGID,SETPCAP,SETUID,SYS_CHROOT"
)

var buildOptions = []string{
	"--cap-add=SYS_ADMIN," + capabilities, "--tmpfs=/run:rw,nosuid,nodev,size=16777216,notmpcopyup",
	"--env=HOME=" + outputMount, "--env=TMPDIR=" + outputMount, "--env=BUILDAH_ISOLATION=chroot",
	"--env=http_proxy=http://" + proxyListen, "--env=https_proxy=http://" + proxyListen, "--env=HTTP_PROXY=http://" + proxyListen,
	"--env=HTTPS_PROXY=http://" + proxyListen,
}

// containersConfig is the content of /etc/containers in a build. It allows only images from registries.
var containersConfig = map[string]string{
	"policy.json": `{"default": [{"type": "reject"}], "transports": {"docker": {"": [{"type": "insecureAcceptAnything"}]}}}`,
	"registries.conf": "unqualified-search-registries = [\"docker.io\"]\nshort-name-mode = \"disabled\"\n[[registry]]\nprefix = " +
		"\"localhost\"\nlocation = \"localhost\"\nblocked = true\n",
	"storage.conf":    "[storage]\ndriver = \"overlay\"\ngraphroot = \"" + outputMount + "/store\"\nrunroot = \"" + outputMount + "/run\"\n",
	"containers.conf": "[containers]\ndefault_capabilities = [\"" + strings.ReplaceAll(capabilities, ",", `", "`) + "\"]\n",
}

// buildJob returns a job that runs Buildah over an input folder. Its configuration and output are in folder. The caller closes the root
// of the output.
func (c *Container) buildJob(ctx context.Context, j Job, folder, input, command string) (*Job, error) {
	settings := filepath.Join(folder, "settings")
	out := filepath.Join(folder, "build")
	if err := os.Mkdir(settings, 0o755); err != nil { //nolint:gosec // programs in containers are other users
		return nil, err
	}
	for name, content := range containersConfig {
		if err := os.WriteFile(filepath.Join(settings, name), []byte(content), 0o644); err != nil { //nolint:gosec // as above
			return nil, err
		}
	}
	root, err := c.Output(ctx, out, j.Limits.Disk)
	if err != nil {
		return nil, err
	}
	j.Program = &Program{image: c.Builder}
	j.Command = command
	j.build = true
	j.Folders = []Folder{
		{Path: input, Mount: inputMount}, {Path: settings, Mount: "/etc/containers"}, {Path: out, Mount: outputMount, Writable: true, Root: root},
	}
	return &j, nil
}

// openEgress starts the proxy of a build in its container, before the container is started.
func (c *Container) openEgress(ctx context.Context, name string) (stop func(), err error) {
	if _, err := c.call(ctx, "init", name); err != nil {
		return nil, err
	}
	s, err := c.state(ctx, name)
	if err != nil {
		return nil, err
	}
	l, err := listenInNamespace(ctx, s.Pid)
	if err != nil {
		return nil, fmt.Errorf("the network of a build cannot be prepared: %w", err)
	}
	return serve(l, egress(publicip.Is)), nil
}

// build builds the Dockerfile of the checkout and imports the image into Podman's store.
func (c *Container) build(ctx context.Context, j Job, folder, checkout string) (*Program, error) {
	j.Limits.Time = min(j.Limits.Time, buildTimeout)
	if c.Builder == "" {
		return nil, errors.New("this worker builds no repositories: it was started without -builds")
	}
	job, err := c.buildJob(ctx, j, folder, checkout, "build --network=host --tag=oci-archive:"+outputMount+"/"+archiveName+" --file="+
		inputMount+"/Dockerfile "+inputMount)
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
	id, pulled, err := c.pull(ctx, "oci-archive:"+filepath.Join(built.Path, archiveName))
	if err != nil {
		c.Log.Warn("the image of a build cannot be imported", "error", err)
		return nil, errors.Join(ctx.Err(), failure.New("The image that was built cannot be imported."))
	}
	if pulled {
		// The archive may have given the image the name of another image.
		if _, err := c.call(ctx, "untag", id); err != nil {
			return nil, err
		}
	}
	p, err := c.program(ctx, "", id)
	if err != nil {
		return nil, err
	}
	p.discard = pulled
	return p, nil
}

// Repository implements Sandbox. It builds the Dockerfile of the checkout.
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
	// The build must not follow links to other files.
	for _, name := range []string{"Dockerfile", ".dockerignore", ".containerignore"} {
		info, err := root.Lstat(name)
		if err == nil && !info.Mode().IsRegular() {
			return nil, failure.New("%s of the repository must be a file, and no link.", name)
		}
		if err != nil && name == "Dockerfile" {
			return nil, failure.New("The repository has no Dockerfile at its top, which says how to build it.")
		}
	}
	log.Printf("The Dockerfile of the repository is being built.")
	out := log.Writer(assayv1.Stream_STREAM_STDOUT)
	said := log.Writer(assayv1.Stream_STREAM_STDERR)
	p, err := c.build(ctx, Job{Name: "assay-build-" + name, Owner: filepath.Dir(filepath.Dir(folder)), Limits: c.Limits, Stdout: out,
		Stderr: said}, folder, checkout)
	out.Close()
	said.Close()
	if ofRun, ok := errors.AsType[*failure.RunError](err); ok {
		return nil, ofRun.Behind("The Dockerfile of the repository cannot be built at commit %s.", commit).
			With("", log.Tail(assayv1.Stream_STREAM_STDERR))
	}
	if err != nil {
		return nil, err
	}
	p.Version = commit
	return p, nil
}

// minBuildahVersion is the first version without CVE-2024-1753, CVE-2024-9675 and CVE-2024-11218, with which a Dockerfile reaches the
// files of its builder.
const minBuildahVersion = "v1.38.1"

var versionPattern = regexp.MustCompile(`(?m)^buildah version (\d+\.\d+\.\d+)`)

// checkVersion returns an error for builders before minBuildahVersion.
func checkVersion(printed string) error {
	found := versionPattern.FindStringSubmatch(printed)
	if found == nil {
		return fmt.Errorf("the builder does not print its version as %s --version does", buildah)
	}
	if semver.Compare("v"+found[1], minBuildahVersion) < 0 {
		return fmt.Errorf("the builder is %q, and versions before %s let a Dockerfile reach the files of the builder: take an image of a newer "+
			"one", found[0], minBuildahVersion[1:])
	}
	return nil
}

// trials are builds that each run Buildah itself from a mount. The first mounts an allowed folder and prints the version. The others try
// to escape through a link (CVE-2024-1753) and through the name of a cache (CVE-2024-9675).
var trials = []struct{ name, context, dockerfile string }{
	{"plain", "/", "FROM scratch\nCOPY assay/input/links /\nRUN --mount=type=bind,source=usr,target=/mnt/usr [\"/mnt" + buildah +
		"\", \"--version\"]\n"},
	{"link", inputMount, "FROM scratch AS s\nCOPY links /\nFROM scratch\nCOPY links /\nRUN " +
		"--mount=type=bind,from=s,source=/root,target=/mnt,rw [\"/mnt" + buildah + "\", \"--version\"]\n"},
	{"cache", inputMount, "FROM scratch\nCOPY links /\nRUN --mount=type=cache,id=../../../../../../../..,target=/mnt [\"/mnt" + buildah +
		"\", \"--version\"]\n"},
}

// checkBuilder returns an error if the builder is too old, does not work here, or lets a Dockerfile escape.
func (c *Container) checkBuilder(ctx context.Context, j *Job) error {
	if os.Geteuid() != 0 || c.machine.Host.Security.Rootless {
		return errors.New("the worker must run as root, to give each build a network and a file system of its own; the build itself does not")
	}
	if _, err := c.call(ctx, "image", "exists", c.Builder); err != nil {
		if _, err := c.call(ctx, "pull", "--quiet", "docker://"+c.Builder); err != nil { // unlike the images of runs it is never removed
			return fmt.Errorf("the image of the builder cannot be pulled: %w", err)
		}
	}
	d, err := c.describe(ctx, c.Builder)
	if err != nil {
		return err
	}
	c.Builder = d.ID // the archive of a build may take over the builder's name for a moment
	for i, t := range trials {
		printed, err := c.tryBuilder(ctx, *j, t.name, t.dockerfile, t.context)
		switch shown := versionPattern.MatchString(printed); {
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

// tryBuilder builds a Dockerfile with a folder of the builder's file system as context, and returns the output of the build.
func (c *Container) tryBuilder(ctx context.Context, j Job, name, dockerfile, buildContext string) (string, error) {
	folder := filepath.Join(j.Owner, name)
	links := filepath.Join(folder, "input", "links")
	if err := errors.Join(os.MkdirAll(links, 0o755), os.WriteFile(filepath.Join(folder, "input", "Dockerfile"), []byte(dockerfile), 0o644), //nolint:gosec // for other users
		os.Symlink("/", filepath.Join(links, "root")), os.Symlink("/mnt/usr/lib", filepath.Join(links, "lib")),
		os.Symlink("/mnt/usr/lib64", filepath.Join(links, "lib64"))); err != nil {
		return "", err
	}
	var printed, said headBuffer
	j.Name = j.Name + "-" + name
	j.Stdout = &printed
	j.Stderr = &said
	command := "build --network=host --file=" + inputMount + "/Dockerfile " + buildContext
	job, err := c.buildJob(ctx, j, folder, filepath.Join(folder, "input"), command)
	if err != nil {
		return "", err
	}
	defer func() { _ = job.Folders[len(job.Folders)-1].Root.Close() }()
	if err = Run(ctx, c, job); err != nil {
		err = fmt.Errorf("the builder does not work here: %w: %s", err, &said)
	}
	return printed.String(), err
}
