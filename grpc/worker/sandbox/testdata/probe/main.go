// Command probe reports what a program can do within a container.
package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

func main() {
	switch os.Args[1] {
	case "look":
		look()
	case "memory":
		full := bytes.Repeat([]byte{1}, 300<<20)
		fmt.Println("had", len(full))
	case "disk":
		createLarge("/assay/output/run")
		time.Sleep(time.Minute)
	case "deep":
		deep()
	case "unlisted":
		_ = os.Mkdir("/assay/output/folder", 0o700)
		createLarge("/assay/output/folder/run")
		_ = os.Chmod("/assay/output/folder", 0o333)
		time.Sleep(time.Minute)
	case "held":
		held()
	case "canary":
		canary(os.Args[2])
	case "reach":
		for _, address := range os.Args[2:] {
			reach(address)
		}
	case "threads":
		threads()
	case "fill":
		fmt.Println("filled:", os.WriteFile("/full", make([]byte, 512<<20), 0o600))
	case "cache":
		before, err := os.ReadFile("/cache/x")
		fmt.Printf("cache: %q %v\n", before, err)
		_ = os.WriteFile("/cache/x", []byte("left"), 0o600)
	case "sleep":
		fmt.Println("begun")
		time.Sleep(10 * time.Minute)
	case "fail":
		fmt.Fprintln(os.Stderr, "the cause")
		os.Exit(7)
	}
}

// createLarge creates a file of 3 MiB at once. During a slow write, a measurement would find a smaller file.
func createLarge(path string) {
	_ = os.WriteFile(path, nil, 0o600)
	_ = os.Truncate(path, 3<<20)
}

func look() {
	input, err := os.ReadFile("/assay/input/in")
	fmt.Printf("input: %s %v\n", input, err)
	fmt.Println("root:", writes("/x"))
	fmt.Println("input folder:", writes("/assay/input/x"))
	fmt.Println("tmp:", writes("/tmp/x"))
	fmt.Println("volume:", writes("/data/x"))
	fmt.Println("output:", writes("/assay/output/run"))
	all, err := net.Interfaces()
	for _, i := range all {
		fmt.Println("interface:", i.Name, err)
	}
	info, err := os.Stat("/tmp")
	fmt.Println("mode of tmp:", info.Mode(), err)
	hosts, err := os.ReadFile("/etc/hosts")
	fmt.Printf("hosts: %q %v\n", hosts, err != nil)
	users, _ := os.ReadFile("/proc/self/uid_map")
	fmt.Println("users:", strings.Join(strings.Fields(string(users)), " "))
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "CapEff") || strings.HasPrefix(line, "CapBnd") || strings.HasPrefix(line, "NoNewPrivs") {
			fmt.Println(strings.Join(strings.Fields(line), " "))
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); f[1] == "/data" {
			fmt.Println("volume is", f[0])
		} else if f[1] == "/assay/output" {
			fmt.Println("output is", f[3])
		}
	}
	fmt.Println("environment:", strings.Join(os.Environ(), " "))
}

func writes(path string) string {
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		return "refused"
	}
	return "written"
}

// deep writes a file at a path that is too long for a system call.
func deep() {
	_ = os.Chdir("/assay/output")
	name := strings.Repeat("d", 200)
	for range 100 {
		_ = os.Mkdir(name, 0o700)
		_ = os.Chdir(name)
	}
	_ = os.WriteFile("run", make([]byte, 3<<20), 0o600)
	time.Sleep(time.Minute)
}

// held writes into a deleted file that it keeps open.
func held() {
	f, err := os.Create("/assay/output/held")
	if err != nil {
		panic(err)
	}
	_ = os.Remove(f.Name())
	written := 0
	for err == nil && written < 256<<20 {
		var n int
		n, err = f.Write(make([]byte, 1<<20))
		written += n
	}
	fmt.Println("held:", written, err)
	_ = os.WriteFile("/assay/output/run", []byte("x"), 0o600)
	f.Close()
	_ = os.WriteFile("/assay/output/run", []byte("x"), 0o600)
}

// canary reads and overwrites a file of the machine below each place at which a build could have mounted it.
func canary(path string) {
	for _, root := range []string{"", "/mnt", "/proc/1/root", "/mnt/proc/1/root"} {
		content, err := os.ReadFile(root + path)
		fmt.Printf("canary below %q: %s %v\n", root, content, err != nil)
		_ = os.WriteFile(root+path, []byte("overwritten"), 0o600)
	}
}

// reach connects to an address directly, and requests it through the proxy of the environment.
func reach(address string) {
	connection, err := net.DialTimeout("tcp", address, 3*time.Second)
	if err == nil {
		connection.Close()
	}
	answer, asked := (&http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
		return url.Parse(os.Getenv("http_proxy"))
	}}}).Get("http://" + address)
	status := ""
	if asked == nil {
		status = answer.Status
	}
	fmt.Printf("reached %s: %v %s %v\n", address, err == nil, status, asked)
}

// threads starts more threads than a job may have.
func threads() {
	var started sync.WaitGroup
	for range 3000 {
		started.Add(1)
		go func() {
			runtime.LockOSThread()
			started.Done()
			select {}
		}()
	}
	started.Wait()
	fmt.Println("threads: 3000")
}
