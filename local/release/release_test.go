package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/language/buildinfo"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// root is the root folder of the repository, independent of the working folder.
var root, _ = filepath.Abs("../..")

// packed returns the output of run in a folder with a program and documents of the repository, all with the given time and mode.
func packed(t *testing.T, mode os.FileMode, at time.Time, args ...string) []byte {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range []string{"LICENSE", "local/Dockerfile", "grpc/Dockerfile", "local/cli/python/assay_tasks.py"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		put(t, name, content, 0o644, at, err)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		for _, name := range []string{"assay-server", "assay-grpc", "assay.exe"} {
			put(t, "bin/container/"+arch+"/"+name, []byte(arch+" "+name), mode, at, os.MkdirAll("bin/container/data", 0o700))
		}
	}
	var out bytes.Buffer
	if err := run(args, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func put(t *testing.T, name string, content []byte, mode os.FileMode, at time.Time, err error) {
	t.Helper()
	err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, content, mode), os.Chtimes(name, at, at))
	if err != nil {
		t.Fatal(err)
	}
}

// TestImage_IsALayoutOfTheDockerfile reads the images back, from the index to the files of the layer, and checks each digest on the way.
func TestImage_IsALayoutOfTheDockerfile(t *testing.T) {
	args := []string{"image", "assay-server", "local/Dockerfile", "amd64", "arm64"}
	archive := packed(t, 0o755, time.Now(), args...)
	if other := packed(t, 0o700, time.Now().Add(-time.Hour), args...); !bytes.Equal(archive, other) {
		t.Error("another folder, time and mask make other bytes")
	}
	files := untar(t, archive)
	blob := func(d v1.Descriptor, into any) []byte {
		t.Helper()
		content := files["blobs/sha256/"+d.Digest.Hex]
		if sum, size, err := v1.SHA256(bytes.NewReader(content)); err != nil || sum != d.Digest || size != d.Size {
			t.Fatalf("the content of %s has the digest %s and %d bytes, want %d", d.Digest, sum, len(content), d.Size)
		}
		if into != nil && json.Unmarshal(content, into) != nil {
			t.Fatalf("%s", content)
		}
		return content
	}
	var top, images v1.IndexManifest
	if err := json.Unmarshal(files["index.json"], &top); err != nil || len(top.Manifests) != 1 {
		t.Fatalf("%v: %s", err, files["index.json"])
	}
	for _, key := range []string{"org.opencontainers.image.ref.name", "io.containerd.image.name"} {
		if name := top.Manifests[0].Annotations[key]; name != "localhost/assay-server:"+buildinfo.Version {
			t.Errorf("%s is %q", key, name)
		}
	}
	blob(top.Manifests[0], &images)
	for i, arch := range []string{"amd64", "arm64"} {
		var manifest v1.Manifest
		var image v1.ConfigFile
		if p := images.Manifests[i].Platform; p.Architecture != arch || p.OS != "linux" {
			t.Errorf("the platform is %v", p)
		}
		blob(images.Manifests[i], &manifest)
		blob(manifest.Config, &image)
		z, err := gzip.NewReader(bytes.NewReader(blob(manifest.Layers[0], nil)))
		if err != nil {
			t.Fatal(err)
		}
		layer, err := io.ReadAll(z)
		if err != nil || digest(layer) != image.RootFS.DiffIDs[0] {
			t.Errorf("the layer is not that of the configuration: %v", err)
		}
		if got := untar(t, layer); string(got["assay-server"]) != arch+" assay-server" || len(got["LICENSE"]) == 0 || got["data/"] == nil {
			t.Errorf("%s holds %v", arch, got)
		}
		if c := image.Config; image.Architecture != arch || c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/assay-server"}) ||
			!slices.Contains(c.Env, "ASSAY_ADDR=:80") || len(c.ExposedPorts) != 2 || len(c.Volumes) != 1 ||
			c.Labels["org.opencontainers.image.title"] != "Assay" {
			t.Errorf("the configuration is %+v", c)
		}
	}
}

func TestImage_ChecksItsHealth(t *testing.T) {
	packed(t, 0o755, time.Now(), "image", "assay-grpc", "grpc/Dockerfile", "arm64")
	c, _, err := readDockerfile("grpc/Dockerfile", "arm64")
	want := v1.HealthConfig{
		Test: []string{"CMD", "/assay-grpc", "-check"}, Interval: 30 * time.Second, Timeout: 5 * time.Second,
		StartPeriod: 15 * time.Second, Retries: 3,
	}
	if err != nil || !reflect.DeepEqual(*c.Healthcheck, want) {
		t.Errorf("%v, %+v", err, c.Healthcheck)
	}
	for _, line := range []string{"RUN true", "FROM alpine", "COPY missing /", "HEALTHCHECK --start=3s CMD []", "COPY --chown=a LICENSE /"} {
		if err := os.WriteFile("Dockerfile", []byte("FROM scratch\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := readDockerfile("Dockerfile", "arm64"); err == nil {
			t.Errorf("%q is passed over", line)
		}
	}
}

// untar returns the files of an archive, and checks that no entry has a time.
func untar(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		executable := h.Name == "assay-server" || h.Name == "data/"
		if h.ModTime.Unix() != 0 || h.Uname != "" || executable != (h.Mode&0o100 != 0) {
			t.Errorf("the entry is %+v", h)
		}
		if files[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWheel_RecordsItsFiles(t *testing.T) {
	args := []string{"wheel", "py3-none-win_amd64.win_arm64", "bin/container/amd64/assay.exe", "local/cli/python/assay_tasks.py"}
	wheel := packed(t, 0o755, time.Now(), args...)
	if other := packed(t, 0o700, time.Now().Add(-time.Hour), args...); !bytes.Equal(wheel, other) {
		t.Error("another folder, time and mask make other bytes")
	}
	r, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		t.Fatal(err)
	}
	about := "assay_tasks-" + buildinfo.Version + ".dist-info/"
	record, err := fsRead(r, about+"RECORD")
	if err != nil || strings.Count(record, "\n") != len(r.File) {
		t.Fatalf("%v: %d files in\n%s", err, len(r.File), record)
	}
	for _, f := range r.File {
		content, err := fsRead(r, f.Name)
		sum := sha256.Sum256([]byte(content))
		line := fmt.Sprintf("%s,sha256=%s,%d\n", f.Name, base64.RawURLEncoding.EncodeToString(sum[:]), len(content))
		if f.Name == about+"RECORD" {
			line = f.Name + ",,\n"
		}
		if err != nil || !strings.Contains(record, line) {
			t.Errorf("%v: the record lacks %s", err, line)
		}
	}
	if tags, err := fsRead(r, about+"WHEEL"); err != nil || !strings.HasSuffix(tags, "Tag: py3-none-win_amd64\nTag: py3-none-win_arm64\n") {
		t.Errorf("%v: %s", err, tags)
	}
	named := "\nName: assay-tasks\nVersion: " + buildinfo.Version + "\n"
	if text, err := fsRead(r, about+"METADATA"); err != nil || !strings.Contains(text, named) {
		t.Errorf("%v: %s", err, text)
	}
	if module, err := fsRead(r, "assay_tasks.py"); err != nil || !strings.Contains(module, "\ndef evaluate(") {
		t.Errorf("%v: %s", err, module)
	}
	if program, err := fsRead(r, "assay_tasks-"+buildinfo.Version+".data/scripts/assay.exe"); err != nil || program != "amd64 assay.exe" {
		t.Errorf("%v: %s", err, program)
	}
}

func fsRead(r *zip.Reader, name string) (string, error) {
	f, err := r.Open(name)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(f)
	return string(content), errors.Join(err, f.Close())
}
