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
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay/grpc/worker/sandbox"
)

func TestImages_AreGarbageCollected(t *testing.T) {
	s := newFixture(t)
	exists := func(reference string) bool { return exec.Command("podman", "image", "exists", reference).Run() == nil }
	age := func(d time.Duration) {
		t.Helper()
		notes, err := filepath.Glob(filepath.Join(s.settings.Folder, "images", "*"))
		if err != nil || len(notes) != 1 {
			t.Fatalf("noted: %v %v", notes, err)
		}
		at := time.Now().Add(-d)
		must(t, os.Chtimes(notes[0], at, at))
	}
	own := s.registry.address + "/lakeside/probe:look"
	podman(t, "pull", "--quiet", own) // like the machine's administrator
	t.Cleanup(func() { podman(t, "rmi", own) })
	pulled := s.registry.address + "/lakeside/probe:fail"
	for _, reference := range []string{own, pulled} {
		if _, err := s.box.Image(t.Context(), reference, s.log); err != nil {
			t.Fatal(err)
		}
	}
	// A stopped worker does not forget its images.
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.box.Image(ended, pulled, s.log); err == nil {
		t.Error("an image was pulled after the end")
	}
	for _, c := range []struct {
		age  time.Duration
		most sandbox.Bytes
		kept bool
	}{{0, 1, true}, {time.Hour, 1 << 30, true}, {time.Hour, 1, false}} {
		age(c.age)
		s.settings.Images = c.most
		s.container(t)
		if exists(pulled) != c.kept || !exists(own) {
			t.Errorf("unused for %s, at most %d bytes: kept %v, want %v; the administrator's %v", c.age, c.most, exists(pulled), c.kept, exists(own))
		}
	}
}

func TestImage_PullFailureFailsTheRun(t *testing.T) {
	s := newFixture(t)
	for _, reference := range []string{
		s.registry.address + "/lakeside/probe:none", s.registry.address + "/lakeside/probe:bad", s.registry.address + "/loop/probe:look",
		"127.0.0.1:1/lakeside/probe:look", "docker-archive:/etc/passwd", "oci:/etc", "--privileged",
	} {
		_, err := s.box.Image(t.Context(), reference, s.log)
		if !isRunError(err) {
			t.Errorf("%s is not the run's own fault: %v", reference, err)
			continue
		}
		said := strings.ReplaceAll(err.Error(), reference, "")
		if !strings.Contains(said, "cannot be pulled within 10m0s. Is its name right") &&
			!strings.Contains(said, "is not the name of an image") || strings.Contains(said, "127.0.0.1") {
			t.Errorf("%s: %s", reference, said)
		}
	}
}

// silentAddress returns an address of this machine that never answers. With full, it does not even accept connections, because its queue
// of connections is full.
func silentAddress(t *testing.T, full bool) (address string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	must(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	must(t, errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)))
	name, err := syscall.Getsockname(fd)
	must(t, err)
	address = fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for full { // until no connection is accepted
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			break
		}
		t.Cleanup(func() { c.Close() })
	}
	return address
}

func TestImage_SilentHostsTimeOut(t *testing.T) {
	s := newFixture(t)
	s.registry.elsewhere = silentAddress(t, true)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for name, reference := range map[string]string{
		"no registry":                  silentAddress(t, true) + "/lakeside/probe:look",
		"a registry that says nothing": silentAddress(t, false) + "/lakeside/probe:look",
		"layers on no host":            s.registry.address + "/elsewhere/probe:look",
	} {
		all.Go(func() {
			if _, err := s.box.Image(ctx, reference, s.log); !isRunError(err) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	folder := filepath.Join(s.job.Owner, "silent", "repository")
	must(t, os.MkdirAll(folder, 0o700))
	if _, err := s.box.Repository(ctx, "https://"+silentAddress(t, true)+"/a.git", "", folder, "silent", s.log); !isRunError(err) {
		t.Errorf("no repository: %v", err)
	}
	all.Wait()
}

// registry serves an image over the OCI distribution API, with a tag for each command of the probe.
type registry struct {
	address string
	blobs   map[string][]byte
	tags    map[string]string // digests of manifests

	elsewhere string // address to which the blobs of the repository elsewhere are redirected
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	content, err := os.ReadFile(compile(t, "./testdata/probe"))
	must(t, err)
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	must(t, archive.WriteHeader(&tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o700}))
	must(t, archive.WriteHeader(&tar.Header{Name: "probe", Mode: 0o755, Size: int64(len(content))}))
	archive.Write(content)
	archive.Close()
	r := &registry{blobs: map[string][]byte{}, tags: map[string]string{}}
	for _, mode := range []string{"look", "memory", "disk", "sleep", "fail", "deep", "unlisted", "held"} {
		r.add(mode, layer.Bytes(), object{"Cmd": []string{"/probe", mode}, "Volumes": object{"/data": object{}}})
	}
	r.add("user", layer.Bytes(), object{"Cmd": []string{"/probe", "look"}, "User": "nobody-of-this-name"})
	r.add("file", layer.Bytes(), object{"Cmd": []string{"/probe", "look"}, "Volumes": object{"/probe": object{}}})
	r.add("sys", layer.Bytes(), object{"Cmd": []string{"/probe", "look"}, "Volumes": object{"/a/../../sys": object{}}})
	r.add("output", layer.Bytes(), object{
		"Cmd": []string{"/probe", "look"}, "Volumes": object{"/assay/./output": object{}, "/data": object{}}})
	r.blobs[digestOf([]byte("{}"))] = []byte("{}")
	r.tags["bad"] = digestOf([]byte("{}"))
	server := httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(server.Close)
	r.address = strings.TrimPrefix(server.URL, "http://")
	conf := filepath.Join(t.TempDir(), "registries.conf")
	must(t, os.WriteFile(conf, fmt.Appendf(nil, "[[registry]]\nlocation = %q\ninsecure = true\n", r.address), 0o600))
	t.Setenv("CONTAINERS_REGISTRIES_CONF", conf)
	return r
}

type object = map[string]any

func (r *registry) add(mode string, layer []byte, settings object) {
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
		"config": settings,
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
	case strings.Contains(req.URL.Path, "/loop/"):
		http.Redirect(w, req, req.URL.Path, http.StatusTemporaryRedirect)
	case strings.Contains(req.URL.Path, "/elsewhere/") && strings.Contains(req.URL.Path, "/blobs/"):
		http.Redirect(w, req, "http://"+r.elsewhere+req.URL.Path, http.StatusTemporaryRedirect)
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
