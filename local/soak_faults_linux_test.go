//go:build soak

package main

import (
	"bufio"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"assay/shared/storage/blob/s3/s3test"
	"assay/shared/testing/programtest"

	"golang.org/x/sys/unix"
)

// A serving child continues when writing to a file fails, like with a full disk, and allows strace to slow it down.
func init() {
	if os.Getenv(childEnv) == "" {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	_ = unix.Prctl(unix.PR_SET_PTRACER, ^uintptr(0), 0, 0, 0) // Kernels without this restriction do not know the option.
}

// soakFault is a fault of the environment. It lasts until end is called.
type soakFault struct {
	name   string
	begin  func() (end func())
	starts bool // the server is started meanwhile
}

// allFaults returns the faults that this machine can make. The first is the kill.
func (s *soak) allFaults() []soakFault {
	during := func(set func(on bool)) func() func() {
		return func() func() {
			set(true)
			return func() { set(false) }
		}
	}
	faults := []soakFault{
		{name: "kill", begin: s.kill},
		{name: "full disk", begin: s.fillDisk},
		{name: "clock", starts: true, begin: func() func() {
			s.server.setClock(s.t, time.Duration(s.random.IntN(241)-120)*time.Second)
			return func() { s.server.setClock(s.t, 0) }
		}},
		{name: "issuer away", starts: true, begin: during(s.issuer.Away.Store)},
	}
	if s.objects.gateway {
		faults = append(faults, soakFault{name: "object store", begin: during(s.objects.fails.Store)})
	} else {
		s.t.Log("NOT CHECKED: an object store that fails, since the S3 gateway is not installed; make soak builds it.")
	}
	if strace, err := exec.LookPath("strace"); err == nil {
		faults = append(faults, soakFault{name: "slow disk", begin: func() func() { return s.slowDisk(strace) }})
	} else {
		s.t.Log("NOT CHECKED: a slow disk, which needs strace.")
	}
	return faults
}

// disrupt applies the faults in random order, again and again, each at least once. After each fault it waits for the same time.
func (s *soak) disrupt(faults []soakFault, d time.Duration) {
	s.t.Helper()
	for end := time.Now().Add(d); ; {
		for _, n := range s.random.Perm(len(faults)) {
			stop := faults[n].begin()
			time.Sleep(s.span)
			stop()
			s.applied[faults[n].name]++
			time.Sleep(s.span)
		}
		if s.t.Failed() || time.Now().After(end) {
			return
		}
	}
}

// kill kills the server, again and again or during another fault.
func (s *soak) kill() (end func()) {
	during := s.random.IntN(len(s.faults))
	if during == 0 {
		for begun := time.Now(); time.Since(begun) < s.span; s.applied["kill, again"]++ {
			s.server.kill(s.t)
			s.server.start(s.t)
			time.Sleep(time.Duration(s.random.IntN(300)) * time.Millisecond)
		}
		return func() {}
	}
	f := s.faults[during]
	endFault := f.begin()
	time.Sleep(s.span / 2)
	s.server.kill(s.t)
	s.applied["kill, "+f.name]++
	if f.starts {
		s.server.start(s.t)
		return endFault
	}
	return func() {
		endFault()
		s.server.start(s.t)
	}
}

// fillDisk makes all writes of the server to files fail. A limit of the size of files has the effect of a full disk.
func (s *soak) fillDisk() (end func()) {
	process := s.server.process.Process.Pid
	var before unix.Rlimit
	if err := unix.Prlimit(process, unix.RLIMIT_FSIZE, &unix.Rlimit{Max: unix.RLIM_INFINITY}, &before); err != nil {
		s.t.Fatal(err)
	}
	return func() {
		if err := unix.Prlimit(process, unix.RLIMIT_FSIZE, &before, nil); err != nil && !errors.Is(err, unix.ESRCH) { // it was killed
			s.t.Fatal(err)
		}
	}
}

// syncDelay is the time of a slow disk for each sync.
const syncDelay = 200 * time.Millisecond

// slowDisk delays each sync of the server with strace.
func (s *soak) slowDisk(strace string) (end func()) {
	delay := "inject=fsync,fdatasync:delay_enter=" + strconv.FormatInt(syncDelay.Microseconds(), 10)
	tracer := exec.Command(strace, "-f", "-o", os.DevNull, "-e", "trace=fsync,fdatasync", "-e", delay, "-p",
		strconv.Itoa(s.server.process.Process.Pid))
	says, err := tracer.StderrPipe()
	if err == nil {
		err = tracer.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if line, err := bufio.NewReader(says).ReadString('\n'); err != nil {
		s.t.Logf("NOT CHECKED: a slow disk, since strace may not attach to a process: %s", line)
	}
	go func() { _, _ = io.Copy(io.Discard, says) }()
	return func() {
		_ = tracer.Process.Signal(syscall.SIGTERM)
		_ = tracer.Wait()
	}
}

// soakObjects is the store of the files: a bucket behind a proxy that can fail, or the folder of the data if there is no gateway.
type soakObjects struct {
	gateway bool
	flags   string
	fails   atomic.Bool
}

func newSoakObjects(t *testing.T, random *rand.Rand) *soakObjects {
	t.Helper()
	o := new(soakObjects)
	if !s3test.Installed(t) {
		return o
	}
	cfg, bucket := s3test.Start(t)
	to, err := url.Parse(*cfg.BaseEndpoint)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // The signature of the request contains this host.
	}}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if o.fails.Load() {
			switch random.IntN(4) {
			case 0:
				panic(http.ErrAbortHandler)
			case 1:
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			case 2:
				time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
			default: // Some requests are forwarded.
			}
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	credentials, err := cfg.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ENDPOINT_URL_S3", proxy.URL)
	t.Setenv("AWS_REGION", cfg.Region)
	t.Setenv("AWS_ACCESS_KEY_ID", credentials.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", credentials.SecretAccessKey)
	o.gateway, o.flags = true, " -files "+filesS3+" -bucket "+bucket
	return o
}

// opsAddress makes the server serve metrics and profiles, and returns their address.
func opsAddress(t *testing.T, v *serverProcess) string {
	t.Helper()
	addr := programtest.FreeAddress(t)
	v.args += " -ops-addr " + addr
	return addr
}
