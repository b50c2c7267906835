package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/shared/language/buildinfo"
)

// instructions returns the instructions of a Dockerfile with their arguments.
func instructions(t *testing.T, path string) [][2]string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	var all [][2]string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			name, argument, _ := strings.Cut(line, " ")
			all = append(all, [2]string{name, argument})
		}
	}
	return all
}

// TestImages_HoldAProgramAndNoMore lists every instruction of the Dockerfiles, so that each new one is a deliberate change here.
func TestImages_HoldAProgramAndNoMore(t *testing.T) {
	for path, want := range map[string][][2]string{
		"grpc/Dockerfile": {
			{"FROM", "scratch"},
			{"ARG", "TARGETARCH"},
			{"LABEL", `org.opencontainers.image.title="Assay, gRPC server" org.opencontainers.image.licenses="Apache-2.0"`},
			{"COPY", "LICENSE /"},
			{"COPY", "bin/container/${TARGETARCH}/assay-grpc /"},
			{"USER", nobody},
			{"EXPOSE", "50052"},
			{"HEALTHCHECK", `--interval=30s --timeout=5s --start-period=15s --retries=3 CMD ["/assay-grpc", "-check"]`},
			{"ENTRYPOINT", `["/assay-grpc"]`},
		},
		"local/Dockerfile": {
			{"FROM", "scratch"},
			{"ARG", "TARGETARCH"},
			{"LABEL", `org.opencontainers.image.title="Assay" org.opencontainers.image.licenses="Apache-2.0"`},
			{"COPY", "LICENSE /"},
			{"COPY", "bin/container/${TARGETARCH}/assay-server /"},
			{"COPY", "--chown=" + nobody + " bin/container/data /data"},
			{"ENV", "ASSAY_ADDR=:80 ASSAY_GRPC_ADDR=:50052 ASSAY_DATA=/data"},
			{"USER", nobody},
			{"VOLUME", "/data"},
			{"EXPOSE", "80 50052"},
			{"ENTRYPOINT", `["/assay-server"]`},
		},
	} {
		if got := instructions(t, path); !slices.Equal(got, want) {
			t.Errorf("%s has\n%q, want\n%q", path, got, want)
		}
	}
}

// TestImages_AreBuiltByMake checks the commands that make would run, with a container engine that does not exist.
func TestImages_AreBuiltByMake(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		cmd := exec.Command("make", "-C", "..", "--no-print-directory", "-n", "images", "ARCH="+arch, "ENGINE=podman", "GO=go")
		cmd.Env = append(os.Environ(), "MAKEFLAGS=") // not those of the make that runs the tests
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		said := string(out)
		for path, image := range map[string]string{"grpc/Dockerfile": "assay-grpc", "local/Dockerfile": "assay-server"} {
			if !strings.Contains(said, "podman build --platform linux/"+arch+" --build-arg TARGETARCH="+arch+" --format docker"+
				" -t localhost/"+image+":"+buildinfo.Version+" -f "+path+" .\n") {
				t.Errorf("make does not build %s for %s:\n%s", path, arch, said)
			}
			for _, i := range instructions(t, path) {
				words := strings.Fields(i[1])
				if i[0] != "COPY" || words[len(words)-2] == "LICENSE" {
					continue
				}
				source := strings.ReplaceAll(words[len(words)-2], "${TARGETARCH}", arch)
				built := regexp.MustCompile("GOOS=linux GOARCH=" + arch + " CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags " +
					"'-s -w [^']*' -o " + source + " ./" + filepath.Dir(path) + "\n")
				if !built.MatchString(said) && !strings.Contains(said, "mkdir -p "+source+"\n") {
					t.Errorf("%s copies %s, which make does not make:\n%s", path, source, said)
				}
			}
		}
	}
}

// TestImages_HaveCertificates checks that the programs embed certificates. Their images have none, and without certificates a program
// trusts neither AWS nor an issuer.
func TestImages_HaveCertificates(t *testing.T) {
	for _, program := range []string{"local", "grpc"} {
		out, err := exec.Command("go", "list", "-deps", "assay/"+program).Output()
		if err != nil {
			t.Fatal(program, err)
		}
		if !slices.Contains(strings.Fields(string(out)), "golang.org/x/crypto/x509roots/fallback") {
			t.Errorf("%s brings no certificates", program)
		}
	}
}

// TestImages_AreBuiltFromTheirFilesAlone checks the files that the CDK would send to the image build.
func TestImages_AreBuiltFromTheirFilesAlone(t *testing.T) {
	var got []string
	found, err := filepath.Glob(filepath.Join(withServer.folder, "asset.*", "grpc"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	staged := filepath.Dir(found[0])
	err = filepath.WalkDir(staged, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			path, err = filepath.Rel(staged, path)
			got = append(got, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".dockerignore", "LICENSE", "bin/container/arm64/assay-grpc", dockerfile}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
