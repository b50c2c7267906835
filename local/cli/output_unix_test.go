//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOutput_KeepsPipesAndLinks writes to a pipe and a link. The command must not replace them by a file.
func TestOutput_KeepsPipesAndLinks(t *testing.T) {
	p := local(t)
	run := p.write("run.txt", goodRun)
	target := p.write("target", "longer than what is written over it"+strings.Repeat(".", 4096))
	pipe, link := filepath.Join(p.folder, "pipe"), filepath.Join(p.folder, "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	want := p.want(done, "convert", run)
	reader, err := os.OpenFile(pipe, os.O_RDWR|syscall.O_NONBLOCK, 0) // Opening never waits for a writer.
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	p.want(done, "convert", run, "-o", pipe)
	p.want(done, "convert", run, "-o", link)
	for path, kind := range map[string]os.FileMode{pipe: os.ModeNamedPipe, link: os.ModeSymlink} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Type() != kind {
			t.Errorf("%s has become %v, %v", path, info.Mode(), err)
		}
	}
	piped := make([]byte, len(want))
	err = reader.SetReadDeadline(time.Now().Add(time.Minute)) // The pipe has all of it already.
	if err == nil {
		_, err = io.ReadFull(reader, piped)
	}
	if err != nil || string(piped) != want {
		t.Errorf("the pipe got %q, %v", piped, err)
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != want {
		t.Errorf("the target of the link has %q, %v", got, err)
	}
}

// TestEval_ReadsPipes evaluates a run that can be read only once, like <(zcat run.gz) in a shell. The program needs it twice.
func TestEval_ReadsPipes(t *testing.T) {
	p := local(t)
	qrels := p.write("qrels.txt", qrelsFile)
	run := p.write("run.txt", goodRun)
	pipe := filepath.Join(t.TempDir(), "run.txt")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"eval", "--trec", qrels}, {"eval", qrels}, {"validate"}, {"fuse", run}} {
		want := p.want(done, append(args, run)...)
		written := make(chan error, 1)
		go func() { written <- os.WriteFile(pipe, []byte(goodRun), 0) }()
		late := time.AfterFunc(3*time.Minute, func() { _ = os.WriteFile(pipe, nil, 0) }) // It ends a program that opens the pipe a second time.
		if got := p.want(done, append(args, pipe)...); got != strings.ReplaceAll(want, run, pipe) {
			t.Errorf("%v prints %q, want %q", args, got, want)
		}
		late.Stop()
		if err := <-written; err != nil {
			t.Error(err)
		}
	}
}
