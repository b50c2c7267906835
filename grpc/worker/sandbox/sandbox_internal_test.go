package sandbox

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/shared/edge/publicip"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestVolumes_AreCleanedBeforeTheyAreChecked(t *testing.T) {
	for _, refused := range []string{"/a/../../sys", "/run/../dev", "/proc/./x", "//proc", "/", "/..", "relative", "", "/a:b", "/a,b", "/a b",
		"/a\n", `/a"b`} {
		if at, err := volumes(map[string]struct{}{refused: {}}); err == nil ||
			!strings.Contains(err.Error(), "over which nothing can be mounted") {
			t.Errorf("%q: %v %v", refused, at, err)
		}
	}
	at, err := volumes(map[string]struct{}{"/data/": {}, "/data": {}, "/assay/./output": {}, "/tmp": {}, "/a/../b": {}, "/system": {}})
	if want := []string{"/assay/output", "/b", "/data", "/system"}; err != nil || !slices.Equal(at, want) {
		t.Errorf("%v %v, want %v", at, err, want)
	}
	many := map[string]struct{}{}
	for i := range maxVolumes + 1 {
		many[fmt.Sprintf("/v%d", i)] = struct{}{}
	}
	if _, err := volumes(many); err == nil || !strings.Contains(err.Error(), "more than 32 volumes") {
		t.Errorf("many: %v", err)
	}
}

func TestCreate_IsolatesAndLimits(t *testing.T) {
	c := &Container{}
	args := c.create(&Job{
		Name: "assay-x", Owner: "/w", Program: &Program{image: "i", volumes: []string{"/assay/output", "/data"}}, Limits: Limits{
			CPUs: 1, Memory: 1 << 20, Time: time.Minute},
		Folders: []Folder{{Path: "/w/output", Mount: "/assay/output", Writable: true}},
	}, "/w/tmp")
	for _, want := range []string{
		"--timeout=65", "--no-hosts", "--userns=auto:size=65536", "--network=none", "--label=assay.worker=/w",
		"--volume=/w/output:/assay/output:rw,nosuid,nodev,Z",
		"--volume=/w/tmp:/tmp:rw,nosuid,nodev,Z", "--tmpfs=/data:rw,nosuid,nodev,size=1048576,mode=1777", "--cap-drop=ALL",
	} {
		if !slices.Contains(args, want) {
			t.Errorf("not among the arguments: %s", want)
		}
	}
	if slices.ContainsFunc(args, func(a string) bool {
		return strings.HasPrefix(a, "--tmpfs=/assay") || strings.HasPrefix(a, "--cap-add")
	}) {
		t.Errorf("arguments %q", args)
	}
}

func TestHostInfo_RefusesMachinesWithoutLimits(t *testing.T) {
	all := []string{"cpuset", "cpu", "memory", "pids"}
	for want, change := range map[string]func(*hostInfo){
		"":                               func(*hostInfo) {},
		"limits no memory, processes":    func(m *hostInfo) { m.Host.Security.Rootless, m.Host.CgroupVersion = true, "v1" },
		"\"memory\" is not available":    func(m *hostInfo) { m.Host.CgroupControllers = []string{"cpu", "pids"} },
		"\"pids\" is not available":      func(m *hostInfo) { m.Host.CgroupControllers = []string{"cpu", "memory"} },
		"Podman runs on another machine": func(m *hostInfo) { m.Host.ServiceIsRemote = true },
	} {
		var m hostInfo
		m.Host.CgroupVersion, m.Host.CgroupControllers = "v2", all
		change(&m)
		if err := m.check(); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestCheckVersion_RefusesOldBuilders(t *testing.T) {
	for printed, refused := range map[string]bool{
		"buildah version 1.28.2 (image-spec 1.1.0-rc2)": true, "buildah version 1.35.1 (x)": true, "buildah version 1.38.0 (x)": true,
		"buildah version 0.99.9": true,
		"podman version 5.0.0":   true, "": true,
		"buildah version 1.38.1 (x)": false, "buildah version 1.41.5 (x)": false, "buildah version 2.0.0-dev": false,
		"time=x\nbuildah version 1.39.0 (x)": false,
	} {
		if err := checkVersion(printed); (err != nil) != refused {
			t.Errorf("%q: %v", printed, err)
		}
	}
}

// proxiedGet requests a URL through a proxy to the allowed addresses.
func proxiedGet(t *testing.T, server *httptest.Server, allowed func(netip.Addr) bool) (status int, body string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	shut := serve(l, egress(allowed))
	defer shut()
	client := server.Client()
	transport := client.Transport.(*http.Transport).Clone()
	transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()})
	answer, err := (&http.Client{Transport: transport}).Get(server.URL + "/path")
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, string(b)
}

func TestEgress_ProxiesAllowedAddresses(t *testing.T) {
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello from ", r.URL.Path) })
	for name, server := range map[string]*httptest.Server{"HTTP": httptest.NewServer(hello), "HTTPS": httptest.NewTLSServer(hello)} {
		t.Cleanup(server.Close)
		status, body := proxiedGet(t, server, func(netip.Addr) bool { return true })
		if status != http.StatusOK || body != "hello from /path" {
			t.Errorf("%s to an address that is allowed: %d %s", name, status, body)
		}
		status, body = proxiedGet(t, server, publicip.Is)
		if name == "HTTP" && status != http.StatusForbidden || status == http.StatusOK || strings.Contains(body, "hello") ||
			strings.Contains(body, "refused") {
			t.Errorf("%s to this machine: %d %s", name, status, body)
		}
	}
}

// TestContract_NamesLimitsOfContainers checks that the comments of the protocol, which authors of workers read, name the limits of
// containers.
func TestContract_NamesLimitsOfContainers(t *testing.T) {
	contract, err := os.ReadFile("../../proto/assay/v1/worker.proto")
	must(t, err)
	for _, want := range []string{fmt.Sprintf("at most %d processes", maxPids), fmt.Sprintf("at most %.0f minutes", buildTimeout.Minutes())} {
		if !strings.Contains(string(contract), want) {
			t.Errorf("the protocol does not say %q", want)
		}
	}
}

func jobOver(t *testing.T, folder string) *Job {
	t.Helper()
	root, err := os.OpenRoot(folder)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return &Job{Folders: []Folder{{Path: folder, Writable: true, Root: root}}, Limits: Limits{Disk: 1 << 20}}
}

func TestDiskExceeded_UncountableFoldersAreOverTheLimit(t *testing.T) {
	folder := t.TempDir()
	j := jobOver(t, folder)
	if why := diskExceeded(j); why != "" {
		t.Fatalf("an empty folder: %s", why)
	}
	// Each step is relative. So a program can create folders deeper than the greatest length of a path.
	at, err := os.OpenRoot(folder)
	must(t, err)
	for range 100 {
		name := strings.Repeat("d", 200)
		must(t, at.Mkdir(name, 0o700))
		next, err := at.OpenRoot(name)
		must(t, err)
		at.Close()
		at = next
	}
	defer at.Close()
	if why := diskExceeded(j); !strings.Contains(why, "cannot be counted, which is over the limit of 1 MiB") {
		t.Errorf("deep folders: %q", why)
	}
}

func TestDiskExceeded_CountsAReplacedFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "output")
	must(t, os.Mkdir(folder, 0o700))
	j := jobOver(t, folder)
	must(t, os.WriteFile(filepath.Join(folder, "run"), make([]byte, 2<<20), 0o600))
	must(t, os.Rename(folder, folder+".moved"))
	must(t, os.Symlink(t.TempDir(), folder))
	if why := diskExceeded(j); !strings.Contains(why, "It wrote 2 MiB into its folders") {
		t.Errorf("%q", why)
	}
}

func TestDiskExceeded_IgnoresLinks(t *testing.T) {
	folder := t.TempDir()
	large := filepath.Join(t.TempDir(), "large")
	must(t, os.WriteFile(large, make([]byte, 2<<20), 0o600))
	for name, target := range map[string]string{"file": large, "folder": filepath.Dir(large), "self": "."} {
		must(t, os.Symlink(target, filepath.Join(folder, name)))
	}
	if why := diskExceeded(jobOver(t, folder)); why != "" {
		t.Error(why)
	}
}
