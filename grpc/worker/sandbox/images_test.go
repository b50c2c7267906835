//go:build container

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay/grpc/worker/failure"
	"assay/grpc/worker/sandbox"
)

func TestImages_AreGarbageCollected(t *testing.T) {
	s := newScene(t)
	exists := func(reference string) bool { return exec.Command("podman", "image", "exists", reference).Run() == nil }
	age := func(d time.Duration) {
		t.Helper()
		notes, err := filepath.Glob(filepath.Join(s.with.Folder, "images", "*"))
		if err != nil || len(notes) != 1 {
			t.Fatalf("noted: %v %v", notes, err)
		}
		at := time.Now().Add(-d)
		if err := os.Chtimes(notes[0], at, at); err != nil {
			t.Fatal(err)
		}
	}
	own := s.from.address + "/lakeside/probe:look"
	podman(t, "pull", "--quiet", own) // by the machine's administrator
	t.Cleanup(func() { podman(t, "rmi", own) })
	pulled := s.from.address + "/lakeside/probe:fail"
	for _, reference := range []string{own, pulled} {
		if _, err := s.box.Image(t.Context(), reference, s.log); err != nil {
			t.Fatal(err)
		}
	}
	// A worker that stops does not forget which images are its own.
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
		s.with.Images = c.most
		s.container(t)
		if exists(pulled) != c.kept || !exists(own) {
			t.Errorf("unused for %s, at most %d bytes: kept %v, want %v; the administrator's %v", c.age, c.most, exists(pulled), c.kept, exists(own))
		}
	}
}

func TestImage_PullFailuresAreTheRuns(t *testing.T) {
	s := newScene(t)
	for _, reference := range []string{
		s.from.address + "/lakeside/probe:none", s.from.address + "/lakeside/probe:bad", s.from.address + "/loop/probe:look",
		"127.0.0.1:1/lakeside/probe:look", "docker-archive:/etc/passwd", "oci:/etc", "--privileged",
	} {
		_, err := s.box.Image(t.Context(), reference, s.log)
		var ofRun *failure.RunError
		if !errors.As(err, &ofRun) {
			t.Errorf("%s is not the run's own fault: %v", reference, err)
			continue
		}
		said := strings.ReplaceAll(err.Error(), reference, "")
		if !strings.Contains(said, "cannot be pulled within 10m0s. Is its name right") && !strings.Contains(said, "is not the name of an image") || strings.Contains(said, "127.0.0.1") {
			t.Errorf("%s: %s", reference, said)
		}
	}
}

// silence listens on an address of this machine and answers nothing. Once as many callers wait as it takes, it takes no more
// connections, as an address does behind which there is no machine.
func silence(t *testing.T, taken bool) (address string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address = fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for taken { // until no more is
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			break
		}
		t.Cleanup(func() { c.Close() })
	}
	return address
}

// Podman and git wait for minutes for a host that does not answer.
func TestImage_SilentHostsTimeOut(t *testing.T) {
	s := newScene(t)
	s.from.elsewhere = silence(t, true)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for name, get := range map[string]func() error{
		"no registry": func() error {
			_, err := s.box.Image(ctx, silence(t, true)+"/lakeside/probe:look", s.log)
			return err
		},
		"a registry that says nothing": func() error {
			_, err := s.box.Image(ctx, silence(t, false)+"/lakeside/probe:look", s.log)
			return err
		},
		"layers on no host": func() error {
			_, err := s.box.Image(ctx, s.from.address+"/elsewhere/probe:look", s.log)
			return err
		},
		"no repository": func() error {
			folder := filepath.Join(s.job.Owner, "silent", "repository")
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return err
			}
			_, err := s.box.Repository(ctx, "https://"+silence(t, true)+"/a.git", "", folder, "silent", s.log)
			return err
		},
	} {
		all.Go(func() {
			var ofRun *failure.RunError
			if err := get(); !errors.As(err, &ofRun) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
}
