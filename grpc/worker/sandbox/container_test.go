//go:build container

package sandbox_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"assay/grpc/assayv1"
	"assay/grpc/worker/failure"
	"assay/grpc/worker/output"
	"assay/grpc/worker/sandbox"
)

// registry serves one image over the OCI distribution API, with a tag for each command of the probe.
type registry struct {
	address string
	blobs   map[string][]byte
	tags    map[string]string // digests of manifests
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	program := filepath.Join(t.TempDir(), "probe")
	build := exec.Command("go", "build", "-o", program, "./testdata/probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	if err := archive.WriteHeader(&tar.Header{Name: "probe", Mode: 0o755, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	archive.Write(content)
	archive.Close()
	r := &registry{blobs: map[string][]byte{}, tags: map[string]string{}}
	for _, mode := range []string{"look", "memory", "disk", "sleep", "fail"} {
		r.add(mode, layer.Bytes())
	}
	server := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(server.Close)
	r.address = strings.TrimPrefix(server.URL, "http://")
	conf := filepath.Join(t.TempDir(), "registries.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, "[[registry]]\nlocation = %q\ninsecure = true\n", r.address), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CONTAINERS_REGISTRIES_CONF", conf) // Docker trusts registries of this machine by itself
	return r
}

func (r *registry) add(mode string, layer []byte) {
	type object = map[string]any
	put := func(v any) (digest string, size int) {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		r.blobs[digestOf(b)] = b
		return digestOf(b), len(b)
	}
	r.blobs[digestOf(layer)] = layer
	config, size := put(object{
		"architecture": runtime.GOARCH, "os": "linux", "rootfs": object{"type": "layers", "diff_ids": []string{digestOf(layer)}},
		"config": object{"Cmd": []string{"/probe", mode}, "Volumes": object{"/data": object{}}},
	})
	r.tags[mode], _ = put(object{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": object{"mediaType": "application/vnd.oci.image.config.v1+json", "digest": config, "size": size},
		"layers": []object{{"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": digestOf(layer), "size": len(layer)}},
	})
}

func (r *registry) serve(w http.ResponseWriter, req *http.Request) {
	last := req.URL.Path[strings.LastIndexByte(req.URL.Path, '/')+1:]
	if digest, ok := r.tags[last]; ok {
		last = digest
	}
	content, ok := r.blobs[last]
	switch {
	case req.URL.Path == "/v2/":
	case !ok:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}`)
	case strings.Contains(req.URL.Path, "/manifests/"):
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Docker-Content-Digest", last)
		fallthrough
	default:
		http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(content))
	}
}

// scene is a container runtime and what a job needs.
type scene struct {
	box  *sandbox.Container
	from *registry
	log  *output.Log
	job  *sandbox.Job
	out  bytes.Buffer
	said bytes.Buffer // on standard error

	pulled []string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{from: newRegistry(t), log: output.New()}
	var err error
	if s.box, err = sandbox.NewContainer(t.Context(), os.Getenv("CONTAINER_RUNTIME")); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, name := range []string{"input", "output", "home"} {
		if err := os.Mkdir(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(folder, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "input", "in"), []byte("topics"), 0o444); err != nil {
		t.Fatal(err)
	}
	s.job = &sandbox.Job{
		Name: fmt.Sprintf("assay-test-%d", time.Now().UnixNano()), Owner: folder, Stdout: &s.out, Stderr: &s.said,
		Folders: []sandbox.Folder{
			{Path: filepath.Join(folder, "input"), Mount: "/assay/input", Variables: []string{"ASSAY_INPUT", "inputDataset"}},
			{Path: filepath.Join(folder, "output"), Mount: "/assay/output", Variables: []string{"ASSAY_OUTPUT"}, Writable: true},
			{Path: filepath.Join(folder, "home"), Variables: []string{"HOME"}, Writable: true},
		},
		Limits: sandbox.Limits{CPUs: 1, Memory: 64 << 20, Disk: 1 << 20, Time: time.Minute},
	}
	t.Cleanup(func() {
		if left := s.containers(t); left != "" {
			t.Errorf("containers are left: %s", left)
		}
		if out, err := exec.Command(s.box.Path(), append([]string{"rmi", "--force"}, s.pulled...)...).CombinedOutput(); err != nil && len(s.pulled) > 0 {
			t.Errorf("the images cannot be removed: %v: %s", err, out)
		}
	})
	return s
}

func (s *scene) containers(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(s.box.Path(), "ps", "-aq", "--filter=label=assay.worker="+s.job.Owner).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// run pulls the image of the probe's command and runs it.
func (s *scene) run(ctx context.Context, t *testing.T, mode string) error {
	t.Helper()
	p, err := s.box.Image(ctx, s.from.address+"/lakeside/probe:"+mode, s.log)
	if err != nil {
		t.Fatal(err)
	}
	s.pulled = append(s.pulled, p.Version)
	if want := s.from.address + "/lakeside/probe@" + s.from.tags[mode]; p.Version != want {
		t.Errorf("the image is %s, want %s", p.Version, want)
	}
	s.job.Program = p
	return sandbox.Run(ctx, s.box, s.job)
}

func TestContainersAreShutIn(t *testing.T) {
	t.Setenv("ASSAY_WORKER_TOKEN", "secret")
	t.Setenv("HTTPS_PROXY", "http://user:password@proxy.example.org")
	t.Setenv("NO_PROXY", "127.0.0.1")
	s := newScene(t)
	if err := s.run(t.Context(), t, "look"); err != nil {
		t.Fatal(err)
	}
	saw := s.out.String()
	for _, want := range []string{
		"input: topics <nil>", "root: refused", "input folder: refused", "tmp: written", "output: written", "interface: lo",
		"CapEff: 0000000000000000", "CapBnd: 0000000000000000", "NoNewPrivs: 1", "volume is tmpfs",
		"ASSAY_INPUT=/assay/input", "inputDataset=/assay/input", "ASSAY_OUTPUT=/assay/output", "HOME=/tmp",
	} {
		if !strings.Contains(saw, want) {
			t.Errorf("not seen: %s", want)
		}
	}
	if strings.Count(saw, "interface:") != 1 || strings.Contains(saw, "secret") || strings.Contains(saw, "PROXY") {
		t.Error("more is seen than should be")
	}
	if t.Failed() {
		t.Log(saw)
	}
	if _, err := os.Stat(filepath.Join(s.job.Owner, "output", "run")); err != nil {
		t.Error(err)
	}
}

func TestContainersEnd(t *testing.T) {
	s := newScene(t)
	for _, c := range []struct{ mode, command, want string }{
		{"fail", "", "It ended with exit code 7 after"},
		{"memory", "", "wanted more memory than the 64 MiB that are allowed"},
		{"disk", "", "It wrote 3 MiB into its folders, more than the 1 MiB"},
		{"look", "echo a", "The image cannot run this"},
		{"sleep", "", "It was ended after 1s: no more time is allowed."},
	} {
		t.Run(c.mode+c.command, func(t *testing.T) {
			s.job.Command, s.job.Limits.Time = c.command, 20*time.Second
			if c.mode == "sleep" {
				s.job.Limits.Time = time.Second
			}
			_ = os.Remove(filepath.Join(s.job.Owner, "output", "run"))
			err := s.run(t.Context(), t, c.mode)
			var ofRun *failure.OfRun
			if !errors.As(err, &ofRun) || !ofRun.Diagnostics[0].GetDiscreet() || !strings.Contains(ofRun.Diagnostics[0].GetMessage(), c.want) {
				t.Errorf("it ended with %v, want %s", err, c.want)
			}
		})
	}
	if !strings.Contains(s.said.String(), "the cause") {
		t.Errorf("what it printed: %s", s.said.String())
	}
}

func TestContainersEndWithTheContext(t *testing.T) {
	s := newScene(t)
	gone := errors.New("the lease is gone")
	ctx, end := context.WithCancelCause(t.Context())
	time.AfterFunc(800*time.Millisecond, func() { end(gone) })
	if err := s.run(ctx, t, "sleep"); !errors.Is(err, gone) {
		t.Errorf("it ended with %v", err)
	}
}

func TestTidyFindsWhatADeadWorkerLeft(t *testing.T) {
	s := newScene(t)
	p, err := s.box.Image(t.Context(), s.from.address+"/lakeside/probe:sleep", s.log)
	if err != nil {
		t.Fatal(err)
	}
	s.pulled = append(s.pulled, p.Version)
	left := exec.Command(s.box.Path(), "run", "--detach", "--network=none", "--label=assay.worker="+s.job.Owner, p.Version)
	if out, err := left.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if s.containers(t) == "" {
		t.Fatal("nothing was left")
	}
	if err := s.box.Tidy(t.Context(), s.job.Owner); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(s.job.Owner); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is there: %v", err)
	}
}

func TestImagesThatCannotBePulled(t *testing.T) {
	s := newScene(t)
	for _, c := range []struct {
		reference string
		ofRun     bool
	}{
		{s.from.address + "/lakeside/probe:none", true},
		{"docker-archive:/etc/passwd", true},
		{"oci:/etc", true},
		{"--privileged", true},
		{"127.0.0.1:1/lakeside/probe:look", false},
	} {
		_, err := s.box.Image(t.Context(), c.reference, s.log)
		var ofRun *failure.OfRun
		if err == nil || errors.As(err, &ofRun) != c.ofRun {
			t.Errorf("%s: %v, the run's own: %v", c.reference, err, !c.ofRun)
		}
	}
}

func TestRepositoriesAreBuilt(t *testing.T) {
	s := newScene(t)
	program := filepath.Join(t.TempDir(), "probe")
	build := exec.Command("go", "build", "-o", program, "./testdata/probe")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(s.job.Owner, "work", "repository")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	address := serveRepository(t, map[string]string{
		"Dockerfile": "FROM scratch\nCOPY probe /probe\nCMD [\"/probe\", \"look\"]\n", "probe": string(content),
	})
	if s.job.Program, err = s.box.Repository(t.Context(), address, "v1", folder, "test", s.log); err != nil {
		t.Fatal(err)
	}
	if err := sandbox.Run(t.Context(), s.box, s.job); err != nil || !strings.Contains(s.out.String(), "input: topics") {
		t.Errorf("it ended with %v: %s", err, s.out.String())
	}
	if images, err := exec.Command(s.box.Path(), "images", "-q", "--filter=label=assay.worker="+s.job.Owner).Output(); err != nil || len(images) > 0 {
		t.Errorf("images are left: %s %v", images, err)
	}
	_, lines := s.log.Next()
	if len(lines) < 2 || lines[0].GetStream() != assayv1.Stream_STREAM_WORKER {
		t.Errorf("the log: %v", lines)
	}
}
