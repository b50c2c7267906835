//go:build release

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/language/buildinfo"
)

// imageDigest is the digest that the stub of skopeo reports.
const imageDigest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"

// stub replaces each program that publishes. It records its arguments, fails without the archive that skopeo pushes, and reports a digest.
const stub = `#!/bin/sh
echo "${0##*/} $*" >>"$RECORD"
while [ $# -gt 0 ]; do
	case $1 in
	--digestfile) printf %s ` + imageDigest + ` >"$2" ;;
	oci-archive:*) [ -f "${1#oci-archive:}" ] || exit 1 ;;
	esac
	shift
done
`

// dryRun runs the steps of a workflow, each job in its own folder, with stubs for the programs that publish.
type dryRun struct {
	t         *testing.T
	workflow  workflow
	origin    string // repository with the tag
	tag       string
	stubs     string // folder of the stubs and of the record of their calls
	artifacts string // folder of uploaded artifacts
	attested  []string
	ran       map[string]bool
}

// jobRun is one run of a job, with the values of the expressions in its steps.
type jobRun struct {
	*dryRun
	folder string
	values map[string]string
}

// run runs the job after those that it needs.
func (d *dryRun) run(name string) {
	j := d.workflow.Jobs[name]
	if d.ran[name] {
		return
	}
	d.ran[name] = true
	for _, needed := range j.Needs {
		d.run(needed)
	}
	images := j.Strategy.Matrix["image"]
	if len(images) == 0 {
		images = []string{""}
	}
	for _, image := range images {
		r := jobRun{dryRun: d, folder: d.t.TempDir(), values: map[string]string{"github.token": "token", "matrix.image": image}}
		for _, s := range j.Steps {
			r.step(s)
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{ *(\S+) *\}\}`)

// expand returns the text with the values of its expressions.
func (r *jobRun) expand(text string) string {
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		value := r.values[expression.FindStringSubmatch(found)[1]]
		if value == "" {
			r.t.Fatalf("%s has no value", found)
		}
		return value
	})
}

// step runs the command of a step, or simulates its action.
func (r *jobRun) step(s step) {
	with := func(name string) string { return r.expand(s.With[name]) }
	artifact := filepath.Join(r.artifacts, with("name"))
	path := filepath.Join(r.folder, with("path"))
	switch action, _, _ := strings.Cut(s.Uses, "@"); action {
	case "":
		r.command(s)
	case "actions/checkout":
		call(r.t, nil, "", "git", "clone", "--quiet", "--branch", r.tag, "--config", "advice.detachedHead=false", r.origin, r.folder)
	case "actions/setup-go":
	case "actions/upload-artifact":
		r.copy(path, artifact)
	case "actions/download-artifact":
		r.copy(artifact, path)
	case "actions/attest":
		if checksums := with("subject-checksums"); checksums != "" {
			call(r.t, nil, filepath.Join(r.folder, filepath.Dir(checksums)), "sha256sum", "--check", "--strict", filepath.Base(checksums))
			r.attested = append(r.attested, checksums)
		} else {
			r.attested = append(r.attested, with("subject-name")+"@"+with("subject-digest"))
		}
	default:
		r.t.Fatalf("the dry run does not know the action %q", action)
	}
}

func (r *jobRun) copy(from, to string) {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		r.t.Fatal(err)
	}
}

// command runs the command of a step like GitHub, and stores its outputs for later steps.
func (r *jobRun) command(s step) {
	outputs := filepath.Join(r.t.TempDir(), "outputs")
	env := []string{
		"PATH=" + r.stubs + ":" + os.Getenv("PATH"), "RECORD=" + filepath.Join(r.stubs, "calls"), "PLATFORMS=linux/amd64",
		"GITHUB_REF_NAME=" + r.tag, "GITHUB_ACTOR=olivia", "GITHUB_REPOSITORY_OWNER=Lake-Lab", "GITHUB_OUTPUT=" + outputs,
	}
	for _, variables := range []map[string]string{r.workflow.Env, s.Env} {
		for name, value := range variables {
			env = append(env, name+"="+r.expand(value))
		}
	}
	call(r.t, env, r.folder, "bash", "-e", "-c", s.Run)
	text, err := os.ReadFile(outputs)
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		r.values["steps."+s.ID+".outputs."+name] = value
	}
}

// tagged returns a clone whose last commit dates the version in CHANGELOG.md, like that of a release, and has the tag.
func tagged(t *testing.T, tag string) (clone string) {
	t.Helper()
	clone = t.TempDir()
	call(t, nil, "", "git", "clone", "--quiet", root, clone)
	path := filepath.Join(clone, "CHANGELOG.md")
	text, err := os.ReadFile(path)
	dated := regexp.MustCompile(`(?m)^(## \[`+regexp.QuoteMeta(buildinfo.Version)+`\] - ).*$`).ReplaceAll(text, []byte("${1}2026-12-01"))
	put(t, path, dated, 0o600, time.Now(), err)
	call(t, nil, clone, "git", "-c", "user.name=Olivia", "-c", "user.email=olivia@lab.example", "commit", "--quiet", "--allow-empty", "--all",
		"--message", "release "+tag)
	call(t, nil, clone, "git", "tag", tag)
	return clone
}

// TestWorkflow_DryRun makes a release of the last commit for Linux on amd64, and checks the published files and their names.
func TestWorkflow_DryRun(t *testing.T) {
	tag := "v" + buildinfo.Version
	d := &dryRun{
		t: t, workflow: releaseWorkflow(t), origin: tagged(t, tag), tag: tag, stubs: t.TempDir(), artifacts: t.TempDir(), ran: map[string]bool{},
	}
	for _, program := range []string{"docker", "gh", "python3", "skopeo"} {
		put(t, filepath.Join(d.stubs, program), []byte(stub), 0o755, time.Now(), nil)
	}
	d.run("wheels")
	if len(d.ran) != len(d.workflow.Jobs) {
		t.Errorf("of the jobs, only %v lead to the wheels", d.ran)
	}
	wheel := "assay_tasks-" + buildinfo.Version + "-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl"
	files := []string{
		"LICENSE", "SHA256SUMS", "assay-grpc-image.tar", "assay-linux-amd64", "assay-server-image.tar", "assay-server-linux-amd64",
		"assay-worker-linux-amd64", "assay.cdx.json", wheel,
	}
	registry := "ghcr.io/lake-lab/"
	wantCalls := []string{
		"docker login ghcr.io --username olivia --password-stdin",
		push(registry, "assay-server"),
		"docker login ghcr.io --username olivia --password-stdin",
		push(registry, "assay-grpc"),
		"gh release create " + tag + " --verify-tag --title Assay " + buildinfo.Version + " --notes-file bin/notes.md bin/release/" +
			strings.Join(files, " bin/release/"),
		"python3 -m pip install --require-hashes --target bin/uv --requirement .ci/requirements.txt",
		"python3 -m uv publish --trusted-publishing always bin/release/" + wheel,
	}
	calls, err := os.ReadFile(filepath.Join(d.stubs, "calls"))
	if got := strings.Split(strings.TrimSpace(string(calls)), "\n"); err != nil || !slices.Equal(got, wantCalls) {
		t.Errorf("%v: it would call\n%s\nwant\n%s", err, calls, strings.Join(wantCalls, "\n"))
	}
	wantAttested := []string{registry + "assay-server@" + imageDigest, registry + "assay-grpc@" + imageDigest, "bin/release/SHA256SUMS"}
	if !slices.Equal(d.attested, wantAttested) {
		t.Errorf("%q are attested, want %q", d.attested, wantAttested)
	}
	sums, err := os.ReadFile(filepath.Join(d.artifacts, "release", "SHA256SUMS"))
	if err != nil || strings.Count(string(sums), "\n") != len(files)-1 {
		t.Errorf("%v: the checksums are\n%s", err, sums)
	}
	for document, name := range map[string]string{"local/cli/README.md": wheel, "local/containers/README.md": "assay-server-image.tar"} {
		if text, err := os.ReadFile(filepath.Join(root, document)); err != nil || !strings.Contains(string(text), name) {
			t.Errorf("%s does not name %s: %v", document, name, err)
		}
	}
}

// push returns the command that pushes an image without changing its digest.
func push(registry, image string) string {
	return "skopeo copy --all --preserve-digests --digestfile bin/image-digest oci-archive:bin/release/" + image + "-image.tar docker://" +
		registry + image + ":" + buildinfo.Version
}
