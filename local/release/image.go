package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/shared/language/buildinfo"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layout holds the files of an OCI image layout by their paths.
type layout map[string][]byte

func (l layout) add(mediaType types.MediaType, content []byte) v1.Descriptor {
	sum := digest(content)
	l["blobs/sha256/"+sum.Hex] = content
	return v1.Descriptor{MediaType: mediaType, Digest: sum, Size: int64(len(content))}
}

func (l layout) addJSON(mediaType types.MediaType, value any) (v1.Descriptor, error) {
	content, err := json.Marshal(value)
	return l.add(mediaType, content), err
}

func digest(content []byte) v1.Hash {
	return v1.Hash{Algorithm: "sha256", Hex: fmt.Sprintf("%x", sha256.Sum256(content))}
}

// writeImage writes the image of a Dockerfile for each architecture, as an archive of an OCI image layout.
func writeImage(out io.Writer, name, dockerfile string, architectures []string) error {
	l := layout{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`)}
	var manifests []v1.Descriptor
	for _, arch := range architectures {
		d, err := l.image(dockerfile, v1.Platform{Architecture: arch, OS: "linux"})
		if err != nil {
			return fmt.Errorf("%s for %s: %w", dockerfile, arch, err)
		}
		manifests = append(manifests, d)
	}
	all, err := l.addJSON(types.OCIImageIndex, index(manifests...))
	// Podman names the loaded image by the first, Docker by the second. Without a host both would take a name in Docker's library.
	loaded := "localhost/" + name + ":" + buildinfo.Version
	all.Annotations = map[string]string{"org.opencontainers.image.ref.name": loaded, "io.containerd.image.name": loaded}
	if err != nil {
		return err
	}
	if l["index.json"], err = json.Marshal(index(all)); err != nil {
		return err
	}
	w := tar.NewWriter(out)
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if err := add(w, &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644}, l[name]); err != nil {
			return err
		}
	}
	return w.Close()
}

func index(manifests ...v1.Descriptor) v1.IndexManifest {
	return v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: manifests}
}

// image adds the image for a platform: a layer, its configuration and its manifest.
func (l layout) image(dockerfile string, p v1.Platform) (v1.Descriptor, error) {
	c, layer, err := readDockerfile(dockerfile, p.Architecture)
	if err != nil {
		return v1.Descriptor{}, err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(layer)
	if err := errors.Join(err, z.Close()); err != nil {
		return v1.Descriptor{}, err
	}
	created := v1.Time{Time: time.Unix(0, 0).UTC()}
	settings, err := l.addJSON(types.OCIConfigJSON, v1.ConfigFile{
		Created: created, Architecture: p.Architecture, OS: p.OS, Config: c,
		RootFS:  v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{digest(layer)}},
		History: []v1.History{{Created: created, CreatedBy: dockerfile}},
	})
	if err != nil {
		return v1.Descriptor{}, err
	}
	d, err := l.addJSON(types.OCIManifestSchema1, v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: settings,
		Layers: []v1.Descriptor{l.add(types.OCILayer, packed.Bytes())}})
	d.Platform = &p
	return d, err
}

var pair = regexp.MustCompile(`(\S+?)=(?:"([^"]*)"|(\S*))`)

// readDockerfile returns the configuration of a Dockerfile FROM scratch, and its files as a layer. It supports only the instructions that
// the Dockerfiles of this project use.
func readDockerfile(name, arch string) (c v1.Config, layer []byte, err error) {
	text, err := os.ReadFile(name) //nolint:gosec // the release names the file
	if err != nil {
		return c, nil, err
	}
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(strings.ReplaceAll(line, "${TARGETARCH}", arch))
		if line == "" || line[0] == '#' || line == "FROM scratch" || line == "ARG TARGETARCH" {
			continue
		}
		instruction, argument, _ := strings.Cut(line, " ")
		if instruction == "COPY" {
			err = addCopied(w, strings.Fields(argument))
		} else {
			err = set(&c, instruction, argument)
		}
		if err != nil {
			return c, nil, fmt.Errorf("%q: %w", line, err)
		}
	}
	return c, files.Bytes(), w.Close()
}

func set(c *v1.Config, instruction, argument string) (err error) {
	switch instruction {
	case "USER":
		c.User = argument
	case "EXPOSE":
		c.ExposedPorts = map[string]struct{}{}
		for port := range strings.FieldsSeq(argument) {
			c.ExposedPorts[port+"/tcp"] = struct{}{}
		}
	case "ENV":
		for _, p := range pair.FindAllStringSubmatch(argument, -1) {
			c.Env = append(c.Env, p[1]+"="+p[2]+p[3])
		}
	case "LABEL":
		c.Labels = map[string]string{"org.opencontainers.image.version": buildinfo.Version}
		for _, p := range pair.FindAllStringSubmatch(argument, -1) {
			c.Labels[p[1]] = p[2] + p[3]
		}
	case "VOLUME":
		c.Volumes = map[string]struct{}{argument: {}}
	case "ENTRYPOINT":
		return json.Unmarshal([]byte(argument), &c.Entrypoint)
	case "HEALTHCHECK":
		return setHealthcheck(c, argument)
	default:
		return errors.New("the instruction is not known here")
	}
	return nil
}

func setHealthcheck(c *v1.Config, argument string) (err error) {
	c.Healthcheck = &v1.HealthConfig{}
	options, command, _ := strings.Cut(argument, " CMD ")
	for _, p := range pair.FindAllStringSubmatch(options, -1) {
		var faulty error
		switch p[1] {
		case "--interval":
			c.Healthcheck.Interval, faulty = time.ParseDuration(p[3])
		case "--timeout":
			c.Healthcheck.Timeout, faulty = time.ParseDuration(p[3])
		case "--start-period":
			c.Healthcheck.StartPeriod, faulty = time.ParseDuration(p[3])
		case "--retries":
			c.Healthcheck.Retries, faulty = strconv.Atoi(p[3])
		default:
			faulty = fmt.Errorf("the option %s is not known here", p[1])
		}
		err = errors.Join(err, faulty)
	}
	err = errors.Join(err, json.Unmarshal([]byte(command), &c.Healthcheck.Test))
	c.Healthcheck.Test = append([]string{"CMD"}, c.Healthcheck.Test...)
	return err
}

// addCopied adds the files of a COPY instruction: [--chown=USER:GROUP] FILE FOLDER/, or an empty folder and its new name.
func addCopied(w *tar.Writer, words []string) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Mode: 0o644}
	if owner, given := strings.CutPrefix(words[0], "--chown="); given {
		if _, err := fmt.Sscanf(owner, "%d:%d", &h.Uid, &h.Gid); err != nil {
			return err
		}
		words = words[1:]
	}
	from, to := words[0], strings.TrimPrefix(words[1], "/")
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		h.Typeflag = tar.TypeDir
		h.Name = to + "/"
		h.Mode = 0o755
		return add(w, h, nil)
	}
	h.Name = to + path.Base(from)
	if info.Mode()&0o100 != 0 {
		h.Mode = 0o755
	}
	content, err := os.ReadFile(from)
	return errors.Join(err, add(w, h, content))
}

// add adds an entry without the time and the user of this build.
func add(w *tar.Writer, h *tar.Header, content []byte) error {
	h.Size = int64(len(content))
	h.ModTime = time.Unix(0, 0)
	h.Format = tar.FormatUSTAR
	err := w.WriteHeader(h)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}
