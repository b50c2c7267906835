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

	"assay/shared/buildinfo"
)

// config is how an image is run (OCI image configuration), with the health check that Docker reads there.
type config struct {
	User         string
	ExposedPorts map[string]struct{} `json:",omitempty"`
	Env          []string            `json:",omitempty"`
	Entrypoint   []string
	Volumes      map[string]struct{} `json:",omitempty"`
	Labels       map[string]string   `json:",omitempty"`
	Healthcheck  *healthcheck        `json:",omitempty"`
}

type healthcheck struct {
	Test                           []string
	Interval, Timeout, StartPeriod time.Duration
	Retries                        int
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// descriptor points to content by its digest.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

const media = "application/vnd.oci.image."

// layout is an OCI image layout: its files by their paths.
type layout map[string][]byte

func (l layout) add(mediaType string, content []byte) descriptor {
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	l["blobs/sha256/"+sum] = content
	return descriptor{MediaType: media + mediaType, Digest: "sha256:" + sum, Size: len(content)}
}

func (l layout) addJSON(mediaType string, value any) (descriptor, error) {
	content, err := json.Marshal(value)
	return l.add(mediaType, content), err
}

// writeImage writes the image that a Dockerfile describes, for each of the architectures, as an archive of an OCI image layout.
func writeImage(out io.Writer, name, dockerfile string, architectures []string) error {
	l := layout{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`)}
	var manifests []descriptor
	for _, arch := range architectures {
		d, err := l.image(dockerfile, platform{arch, "linux"})
		if err != nil {
			return fmt.Errorf("%s for %s: %w", dockerfile, arch, err)
		}
		manifests = append(manifests, d)
	}
	all, err := l.addJSON("index.v1+json", index(manifests))
	all.Annotations = map[string]string{ // by which Podman names what it loads, and Docker
		"org.opencontainers.image.ref.name": name + ":" + buildinfo.Version,
		"io.containerd.image.name":          "docker.io/library/" + name + ":" + buildinfo.Version,
	}
	if err != nil {
		return err
	}
	if l["index.json"], err = json.Marshal(index([]descriptor{all})); err != nil {
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

func index(manifests []descriptor) any {
	return map[string]any{"schemaVersion": 2, "mediaType": media + "index.v1+json", "manifests": manifests}
}

// image adds the image for a platform: one layer, its configuration and its manifest.
func (l layout) image(dockerfile string, p platform) (descriptor, error) {
	c, layer, err := readDockerfile(dockerfile, p.Architecture)
	if err != nil {
		return descriptor{}, err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(layer)
	if err := errors.Join(err, z.Close()); err != nil {
		return descriptor{}, err
	}
	files := l.add("layer.v1.tar+gzip", packed.Bytes())
	settings, err := l.addJSON("config.v1+json", map[string]any{
		"created": time.Unix(0, 0).UTC(), "architecture": p.Architecture, "os": p.OS, "config": c,
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
		"history": []any{map[string]any{"created": time.Unix(0, 0).UTC(), "created_by": dockerfile}},
	})
	if err != nil {
		return descriptor{}, err
	}
	d, err := l.addJSON("manifest.v1+json", map[string]any{"schemaVersion": 2, "mediaType": media + "manifest.v1+json", "config": settings,
		"layers": []descriptor{files}})
	d.Platform = &p
	return d, err
}

var pair = regexp.MustCompile(`(\S+?)=(?:"([^"]*)"|(\S*))`)

// readDockerfile returns what a Dockerfile FROM scratch says, with its files as a layer. It knows those instructions that ours have.
func readDockerfile(name, arch string) (c config, layer []byte, err error) {
	text, err := os.ReadFile(name) //nolint:gosec // the one who makes the release names it
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
			err = c.set(instruction, argument)
		}
		if err != nil {
			return c, nil, fmt.Errorf("%q: %w", line, err)
		}
	}
	return c, files.Bytes(), w.Close()
}

func (c *config) set(instruction, argument string) (err error) {
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
		return c.setHealthcheck(argument)
	default:
		return errors.New("the instruction is not known here")
	}
	return nil
}

func (c *config) setHealthcheck(argument string) (err error) {
	c.Healthcheck = &healthcheck{}
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

// addCopied adds what COPY names: [--chown=USER:GROUP] FILE FOLDER/, or an empty folder and its new name.
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
		h.Typeflag, h.Name, h.Mode = tar.TypeDir, to+"/", 0o755
		return add(w, h, nil)
	}
	if h.Name = to + path.Base(from); info.Mode()&0o100 != 0 {
		h.Mode = 0o755
	}
	content, err := os.ReadFile(from)
	return errors.Join(err, add(w, h, content))
}

// add adds an entry without the time and the user of this build.
func add(w *tar.Writer, h *tar.Header, content []byte) error {
	h.Size, h.ModTime, h.Format = int64(len(content)), time.Unix(0, 0), tar.FormatUSTAR
	err := w.WriteHeader(h)
	if err == nil {
		_, err = w.Write(content)
	}
	return err
}
