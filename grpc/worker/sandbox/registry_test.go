//go:build container

package sandbox_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// registry serves one image over the OCI distribution API, with a tag for each command of the probe.
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
	if err != nil {
		t.Fatal(err)
	}
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	if err := archive.WriteHeader(&tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o700}); err != nil {
		t.Fatal(err)
	}
	if err := archive.WriteHeader(&tar.Header{Name: "probe", Mode: 0o755, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(conf, fmt.Appendf(nil, "[[registry]]\nlocation = %q\ninsecure = true\n", r.address), 0o600); err != nil {
		t.Fatal(err)
	}
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
