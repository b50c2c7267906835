//go:build container

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/grpc/worker/output"
	"assay/grpc/worker/sandbox"
	"assay/shared/language/wait"
)

// builderImage creates an image from scratch with the program in the place of Buildah, and with the files that Podman needs to run it.
func builderImage(t *testing.T, program string) (name string) {
	t.Helper()
	root := t.TempDir()
	content, err := os.ReadFile(program)
	must(t, err)
	for path, content := range map[string][]byte{
		"usr/bin/buildah": content, "usr/libexec/podman/netavark": []byte("#!/bin/false\n"),
		"etc/passwd": []byte("root:x:0:0:root:/root:/bin/sh\n"),
	} {
		must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, path), content, 0o755))
	}
	must(t, os.MkdirAll(filepath.Join(root, "var", "tmp"), 0o755))
	archive := filepath.Join(t.TempDir(), "image.tar")
	if out, err := exec.Command("tar", "-C", root, "--owner=0", "--group=0", "-cf", archive, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	name = fmt.Sprintf("localhost/assay-test-builder:%d", time.Now().UnixNano())
	podman(t, "import", "--quiet", archive, name)
	t.Cleanup(func() { podman(t, "rmi", "--force", name) })
	return name
}

func compile(t *testing.T, folder string, options ...string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), filepath.Base(folder))
	build := exec.Command("go", slices.Concat([]string{"build", "-o", program}, options, []string{folder})...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// buildFixture is a sandbox that builds repositories.
type buildFixture struct {
	*fixture
	probe string // content of the program
	count int
}

func newBuildFixture(t *testing.T) *buildFixture {
	t.Helper()
	program := os.Getenv("ASSAY_BUILDAH")
	if program == "" {
		t.Fatal("ASSAY_BUILDAH must name a statically linked Buildah: make test-container builds one.")
	}
	s := newFixture(t)
	s.settings.Builder = builderImage(t, program)
	s.settings.Limits = sandbox.Limits{CPUs: 1, Memory: 256 << 20, Disk: 128 << 20, Time: time.Minute}
	s.box = s.container(t)
	probe, err := os.ReadFile(compile(t, "./testdata/probe"))
	must(t, err)
	return &buildFixture{fixture: s, probe: string(probe)}
}

// build builds a repository with the files and the probe, and returns the output of the build.
func (b *buildFixture) build(ctx context.Context, t *testing.T, files map[string]string) (p *sandbox.Program, printed string, err error) {
	t.Helper()
	b.count++
	folder := filepath.Join(b.job.Owner, fmt.Sprintf("work-%d", b.count), "repository")
	must(t, os.MkdirAll(folder, 0o700))
	files["probe"] = b.probe
	log := output.New()
	p, err = b.box.Repository(ctx, serveRepository(t, files), "v1", folder, fmt.Sprintf("test-%d-%d", b.count, time.Now().UnixNano()), log)
	_, lines := log.Next()
	for _, l := range lines {
		printed += l.GetText() + "\n"
	}
	if left := b.containers(t); left != "" {
		t.Errorf("containers are left: %s", left)
	}
	if err := b.box.Remove(context.WithoutCancel(ctx), filepath.Dir(folder)); err != nil {
		t.Error(err)
	}
	return p, printed, err
}

func TestRepository_IsBuilt(t *testing.T) {
	b := newBuildFixture(t)
	before := podman(t, "images", "--all", "--quiet", "--no-trunc")
	p, printed, err := b.build(t.Context(), t, map[string]string{
		"Dockerfile": "FROM scratch\nCOPY probe /probe\nRUN [\"/probe\", \"cache\"]\nVOLUME /data\nCMD [\"/probe\", \"look\"]\n",
	})
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	b.job.Program = p
	if err := sandbox.Run(t.Context(), b.box, b.job); err != nil || !strings.Contains(b.stdout.String(), "input: topics") ||
		len(p.Version) != 40 {
		t.Errorf("it ended with %v: %s", err, b.stdout.String())
	}
	if after := podman(t, "images", "--all", "--quiet", "--no-trunc"); after != before {
		t.Errorf("images are left: %s, before %s", after, before)
	}
	if !strings.Contains(b.stdout.String(), "volume is tmpfs") {
		t.Error("the volume of a built image is not bounded")
	}
}

// Each Dockerfile tries to reach a file of the machine.
func TestBuild_DoesNotReachTheMachine(t *testing.T) {
	b := newBuildFixture(t)
	canary := filepath.Join(t.TempDir(), "canary")
	must(t, os.WriteFile(canary, []byte("of the machine"), 0o666))
	must(t, os.Chmod(canary, 0o666))
	podman(t, "tag", b.settings.Builder, "localhost/assay-other:1")
	t.Cleanup(func() { podman(t, "untag", b.settings.Builder, "localhost/assay-other:1") })
	look := "[\"/probe\", \"canary\", \"" + canary + "\"]\n"
	for name, files := range map[string]map[string]string{
		"link": {"Dockerfile": "FROM scratch AS s\nCOPY . /\nFROM scratch\nCOPY probe /\nRUN " +
			"--mount=type=bind,from=s,source=/root,target=/mnt,rw " + look, "root": "-> /"},
		"cache":        {"Dockerfile": "FROM scratch\nCOPY probe /\nRUN --mount=type=cache,id=../../../../../../../..,target=/mnt " + look},
		"context":      {"Dockerfile": "FROM scratch\nCOPY probe /\nRUN --mount=type=bind,source=root,target=/mnt,rw " + look, "root": "-> /"},
		"insecure":     {"Dockerfile": "FROM scratch\nCOPY probe /\nRUN --security=insecure " + look},
		"copy":         {"Dockerfile": "FROM scratch\nCOPY root" + canary + " /canary\n", "root": "-> /"},
		"image":        {"Dockerfile": "FROM localhost/assay-other:1\n"},
		"stored image": {"Dockerfile": "FROM containers-storage:localhost/assay-other:1\n"},
		"folder":       {"Dockerfile": "FROM dir:/etc\n"},
		"archive":      {"Dockerfile": "FROM oci-archive:/assay/input/probe\n"},
		"docker":       {"Dockerfile": "FROM docker-archive:/assay/input/probe\n"},
		"from mount":   {"Dockerfile": "FROM scratch\nCOPY probe /\nRUN --mount=type=bind,from=localhost/assay-other:1,target=/mnt " + look},
		"copy from":    {"Dockerfile": "FROM scratch\nCOPY --from=localhost/assay-other:1 /etc/passwd /\n"},
		"Dockerfile":   {"Dockerfile": "-> " + canary},
	} {
		t.Run(name, func(t *testing.T) {
			_, printed, err := b.build(t.Context(), t, files)
			if strings.Contains(printed, "of the machine") {
				t.Errorf("the build read the file: %s", printed)
			}
			if content, err := os.ReadFile(canary); err != nil || string(content) != "of the machine" {
				t.Errorf("the file is %q now: %v", content, err)
			}
			if ran := strings.Contains(printed, "canary below"); !ran && !isRunError(err) {
				t.Errorf("%v: %s", err, printed)
			}
		})
	}
}

func TestBuild_ReachesNoPrivateAddress(t *testing.T) {
	b := newBuildFixture(t)
	var reached atomic.Int32
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", ":0")
	must(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) })}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	addresses := []string{"127.0.0.1:" + port, "localhost:" + port, "[::1]:" + port, "10.0.2.2:" + port, "169.254.169.254:80", "10.88.0.1:" +
		port, "192.168.0.1:80"}
	own, err := net.InterfaceAddrs()
	must(t, err)
	for _, a := range own {
		ip, _, _ := strings.Cut(a.String(), "/")
		addresses = append(addresses, net.JoinHostPort(ip, port))
	}
	_, printed, err := b.build(t.Context(), t, map[string]string{
		"Dockerfile": "FROM scratch\nCOPY probe /\nRUN [\"/probe\", \"reach\", \"" + strings.Join(addresses, "\", \"") + "\"]\n",
	})
	if err != nil {
		t.Fatalf("%v: %s", err, printed)
	}
	for _, a := range addresses {
		if !strings.Contains(printed, "reached "+a+": false 403 Forbidden") {
			t.Errorf("%s: %s", a, printed)
		}
	}
	for _, address := range []string{"127.0.0.1:" + port, "localhost:" + port} {
		if _, _, err := b.build(t.Context(), t, map[string]string{"Dockerfile": "FROM scratch\nADD http://" + address + "/x /x\n"}); err == nil {
			t.Errorf("ADD of %s was built", address)
		}
	}
	if _, _, err := b.build(t.Context(), t, map[string]string{"Dockerfile": "FROM 127.0.0.1:" + port + "/lakeside/x\n"}); err == nil {
		t.Error("an image of this machine's registry was built on")
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the machine was asked %d times", n)
	}
}

func TestBuild_HasLimits(t *testing.T) {
	b := newBuildFixture(t)
	run := func(mode string) map[string]string {
		return map[string]string{"Dockerfile": "FROM scratch\nCOPY probe /\nRUN [\"/probe\", \"" + mode + "\"]\n"}
	}
	refused := func(mode, want string) {
		t.Helper()
		_, printed, err := b.build(t.Context(), t, run(mode))
		if !isRunError(err) || !strings.Contains(err.Error(), "The Dockerfile of the repository cannot be built at commit") ||
			!strings.Contains(err.Error()+printed, want) {
			t.Errorf("%s: %v: %s", mode, err, printed)
		}
	}
	refused("memory", "")
	refused("threads", "failed to create new OS thread")
	if _, printed, err := b.build(t.Context(), t, run("fill")); err == nil && !strings.Contains(printed, "no space left on device") {
		t.Errorf("512 MiB were written: %s", printed)
	}
	// No repository finds what another one left in a cache.
	cached := map[string]string{
		"Dockerfile": "FROM scratch\nCOPY probe /\nRUN --mount=type=cache,id=shared,target=/cache [\"/probe\", \"cache\"]\n"}
	for range 2 {
		if _, printed, err := b.build(t.Context(), t, cached); err != nil || !strings.Contains(printed, `cache: "" `) {
			t.Errorf("%v: %s", err, printed)
		}
	}
	b.settings.Limits.Time = 5 * time.Second
	b.box = b.container(t)
	refused("sleep", "It was ended after 5s")
}

func TestBuild_EndsWithTheContext(t *testing.T) {
	b := newBuildFixture(t)
	cancelled := errors.New("the run is cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	began := make(chan struct{})
	go func() {
		// The build is running once Podman lists a container for it.
		for b.containers(t) == "" {
			if !wait.Sleep(ctx, 50*time.Millisecond) {
				return
			}
		}
		close(began)
		cancel(cancelled)
	}()
	if _, printed, err := b.build(ctx, t, map[string]string{
		"Dockerfile": "FROM scratch\nCOPY probe /\nRUN [\"/probe\", \"sleep\"]\n"}); !errors.Is(err, cancelled) {
		t.Errorf("%v: %s", err, printed)
	}
	<-began
}

// Each builder imitates Buildah, with one fault.
func TestNewContainer_RefusesUnsafeBuilders(t *testing.T) {
	s := newFixture(t)
	for version, want := range map[string]string{
		"1.28.2": "versions before 1.38.1 let a Dockerfile reach the files of the builder",
		"1.41.5": `lets a Dockerfile reach its files (trial "link")`,
		"none":   "does not print its version",
	} {
		s.settings.Builder = builderImage(t, compile(t, "./testdata/builder", "-ldflags=-X main.version="+version))
		if _, err := sandbox.NewContainer(t.Context(), &s.settings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", version, err, want)
		}
	}
}
