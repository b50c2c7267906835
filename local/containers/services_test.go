// Package containers has files that run the two servers as containers, for Docker Compose and for Kubernetes. It has only tests. They read
// the files, and start the containers as processes.
package containers

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/shared/language/buildinfo"
	"assay/shared/testing/programtest"

	"go.yaml.in/yaml/v3"
)

// service is the description of one server in a file.
type service struct {
	image    string // name without registry and version
	args     []string
	env      map[string]string // environment from the image and from the file
	ports    []int             // ports of the container
	copies   int
	hardened bool
	probes   []probe
}

// probe is a request for liveness or readiness, of HTTP or of gRPC.
type probe struct{ path, service string }

// images maps each image to its Dockerfile. An image has the name of its program.
var images = map[string]string{"assay-server": "local/Dockerfile", "assay-grpc": "grpc/Dockerfile"}

func TestFiles_HaveBothServersWithNothingToWriteTo(t *testing.T) {
	for file, services := range map[string]map[string]service{
		"compose.yaml": composeServices(t, map[string]string{"S3_SECRET": "secret"}), "kubernetes.yaml": kubernetesServices(t),
	} {
		for image, port := range map[string]int{"assay-server": 80, "assay-grpc": 50052} {
			s, ok := services[image]
			if !ok || !slices.Equal(s.ports, []int{port}) || !s.hardened {
				t.Errorf("%s: %s is there %v, serves the ports %v, is hardened %v", file, image, ok, s.ports, s.hardened)
			}
		}
		if len(services["objects"].args) == 0 && file == "compose.yaml" {
			t.Errorf("%s has no server of files", file)
		}
	}
}

// TestFiles_NameImagesOfThisVersion checks that Compose starts the images of `make images` unless a variable names a registry, and that no
// image is in Docker's library.
func TestFiles_NameImagesOfThisVersion(t *testing.T) {
	const registry = "registry.example.org"
	for _, test := range []struct {
		file, images, registry string
		servers                []string
	}{
		{file: "local/containers/compose.yaml", registry: "localhost", servers: []string{"assay-server", "assay-grpc"}},
		{file: "local/containers/compose.yaml", images: registry, registry: registry, servers: []string{"assay-server", "assay-grpc"}},
		{file: "local/containers/kubernetes.yaml", registry: registry, servers: []string{"assay-server", "assay-grpc"}},
		{file: "local/lab/compose.yaml", registry: "localhost", servers: []string{"assay-server"}},
		{file: "local/lab/compose.yaml", images: registry, registry: registry, servers: []string{"assay-server"}},
	} {
		text, err := interpolate(read(t, test.file), map[string]string{"S3_SECRET": "secret", "ASSAY_IMAGES": test.images})
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, m := range regexp.MustCompile(`image: (\S*assay\S*)`).FindAllStringSubmatch(text, -1) {
			got = append(got, m[1])
		}
		for _, server := range test.servers {
			want = append(want, test.registry+"/"+server+":"+buildinfo.Version)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s with the images of %q has %q, want %q", test.file, test.images, got, want)
		}
	}
}

func TestCompose_RefusesToGuessASecret(t *testing.T) {
	if _, err := interpolate("${S3_SECRET:?give one}", nil); err == nil || !strings.Contains(err.Error(), "give one") {
		t.Errorf("%v", err)
	}
	if strings.Count(read(t, "local/containers/compose.yaml"), "${S3_SECRET:?") != 2 {
		t.Error("the secret of the server of files is not asked for")
	}
}

// read reads a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(programtest.Root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// composeServices returns the services of the compose file with the variables, by image, or by name for images of other projects.
func composeServices(t *testing.T, variables map[string]string) map[string]service {
	t.Helper()
	text, err := interpolate(read(t, "local/containers/compose.yaml"), variables)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]struct {
			Image       string
			Command     []string
			Environment map[string]any
			Ports       []string
			ReadOnly    bool     `yaml:"read_only"`
			CapDrop     []string `yaml:"cap_drop"`
			SecurityOpt []string `yaml:"security_opt"`
		}
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	all := map[string]service{}
	for name, s := range file.Services {
		one := service{image: imageName(s.Image), args: s.Command, env: imageEnvironment(t, imageName(s.Image)), copies: 1,
			hardened: s.ReadOnly && slices.Equal(s.CapDrop, []string{"ALL"}) && slices.Contains(s.SecurityOpt, "no-new-privileges:true")}
		for variable, value := range s.Environment {
			one.env[variable] = fmt.Sprint(value)
			if value == nil {
				one.env[variable] = ""
			}
		}
		for _, p := range s.Ports {
			one.ports = append(one.ports, portOf(t, p[strings.LastIndex(p, ":")+1:]))
		}
		if images[one.image] != "" {
			name = one.image
		}
		all[name] = one
	}
	return all
}

var variable = regexp.MustCompile(`\$\{(\w+)(?::([-?])([^}]*))?\}`)

// interpolate replaces variables in a text like Compose.
func interpolate(text string, variables map[string]string) (replaced string, err error) {
	replaced = variable.ReplaceAllStringFunc(text, func(found string) string {
		m := variable.FindStringSubmatch(found)
		value := variables[m[1]]
		if value == "" && m[2] == "-" {
			value = m[3]
		}
		if value == "" && m[2] == "?" {
			err = fmt.Errorf("%s: %s", m[1], m[3])
		}
		return value
	})
	return replaced, err
}

// kubernetesServices returns the deployments of the manifest, by image.
func kubernetesServices(t *testing.T) map[string]service {
	t.Helper()
	type security struct {
		RunAsNonRoot             bool  `yaml:"runAsNonRoot"`
		AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities             struct{ Drop []string }
	}
	type request struct {
		HTTPGet *struct{ Path string } `yaml:"httpGet"`
		GRPC    *struct {
			Port    int
			Service string
		} `yaml:"grpc"`
	}
	type document struct {
		Kind string
		Data map[string]string // data of a ConfigMap
		Spec struct {
			Replicas int
			Template struct {
				Spec struct {
					SecurityContext security `yaml:"securityContext"`
					Containers      []struct {
						Image string
						Args  []string
						Ports []struct {
							ContainerPort int `yaml:"containerPort"`
						}
						SecurityContext security `yaml:"securityContext"`
						LivenessProbe   request  `yaml:"livenessProbe"`
						ReadinessProbe  request  `yaml:"readinessProbe"`
					}
				}
			}
		}
	}
	settings, all := map[string]string{}, map[string]service{}
	for text := range strings.SplitSeq(read(t, "local/containers/kubernetes.yaml"), "\n---\n") {
		var d document
		if err := yaml.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		switch d.Kind {
		case "ConfigMap":
			maps.Copy(settings, d.Data)
		case "Deployment":
			pod := d.Spec.Template.Spec
			c := pod.Containers[0]
			s := service{image: imageName(c.Image), args: c.Args, copies: d.Spec.Replicas}
			s.env = imageEnvironment(t, s.image)
			maps.Copy(s.env, settings)
			own := c.SecurityContext
			s.hardened = pod.SecurityContext.RunAsNonRoot && own.ReadOnlyRootFilesystem && own.AllowPrivilegeEscalation != nil &&
				!*own.AllowPrivilegeEscalation && slices.Equal(own.Capabilities.Drop, []string{"ALL"})
			for _, p := range c.Ports {
				s.ports = append(s.ports, p.ContainerPort)
			}
			for _, r := range []request{c.LivenessProbe, c.ReadinessProbe} {
				switch {
				case r.HTTPGet != nil:
					s.probes = append(s.probes, probe{path: r.HTTPGet.Path})
				case r.GRPC != nil && r.GRPC.Port == s.ports[0]:
					s.probes = append(s.probes, probe{service: r.GRPC.Service})
				}
			}
			all[s.image] = s
		}
	}
	return all
}

// imageName returns the name of an image without registry and version.
func imageName(image string) string {
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// imageEnvironment returns the environment in the Dockerfile of an image. It is empty for images of other projects.
func imageEnvironment(t *testing.T, image string) map[string]string {
	t.Helper()
	env := map[string]string{}
	if images[image] == "" {
		return env
	}
	for line := range strings.Lines(read(t, images[image])) {
		words := strings.Fields(line)
		switch {
		case len(words) > 1 && words[0] == "ENV":
			for _, w := range words[1:] {
				name, value, _ := strings.Cut(w, "=")
				env[name] = value
			}
		case len(words) == 2 && words[0] == "ENTRYPOINT":
			var entry []string
			if err := json.Unmarshal([]byte(words[1]), &entry); err != nil || !slices.Equal(entry, []string{"/" + image}) {
				t.Fatalf("the image %s starts %s, %v", image, words[1], err)
			}
		}
	}
	return env
}

func portOf(t *testing.T, text string) (port int) {
	t.Helper()
	if _, err := fmt.Sscanf(text, "%d", &port); err != nil {
		t.Fatalf("the port %q: %v", text, err)
	}
	return port
}
