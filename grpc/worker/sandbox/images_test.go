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
		if err := os.Chtimes(notes[0], at, at); err != nil {
			t.Fatal(err)
		}
	}
	own := s.registry.address + "/lakeside/probe:look"
	podman(t, "pull", "--quiet", own) // by the machine's administrator
	t.Cleanup(func() { podman(t, "rmi", own) })
	pulled := s.registry.address + "/lakeside/probe:fail"
	for _, reference := range []string{own, pulled} {
		if _, err := s.box.Image(t.Context(), reference, s.log); err != nil {
			t.Fatal(err)
		}
	}
	// A worker that stops does not forget its images.
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

func TestImage_PullFailuresAreTheRuns(t *testing.T) {
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

// silentAddress returns an address of this machine that answers nothing. With full, its queue of connections is full, so that it does not
// even accept them.
func silentAddress(t *testing.T, full bool) (address string) {
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
	for name, get := range map[string]func() error{
		"no registry": func() error {
			_, err := s.box.Image(ctx, silentAddress(t, true)+"/lakeside/probe:look", s.log)
			return err
		},
		"a registry that says nothing": func() error {
			_, err := s.box.Image(ctx, silentAddress(t, false)+"/lakeside/probe:look", s.log)
			return err
		},
		"layers on no host": func() error {
			_, err := s.box.Image(ctx, s.registry.address+"/elsewhere/probe:look", s.log)
			return err
		},
		"no repository": func() error {
			folder := filepath.Join(s.job.Owner, "silent", "repository")
			if err := os.MkdirAll(folder, 0o700); err != nil {
				return err
			}
			_, err := s.box.Repository(ctx, "https://"+silentAddress(t, true)+"/a.git", "", folder, "silent", s.log)
			return err
		},
	} {
		all.Go(func() {
			if err := get(); !isRunError(err) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	all.Wait()
}
