// Command probe tells from within a container what can be done there.
package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strings"
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
		_ = os.WriteFile("/assay/output/run", make([]byte, 3<<20), 0o600)
		time.Sleep(time.Minute)
	case "sleep":
		fmt.Println("begun")
		time.Sleep(10 * time.Minute)
	case "fail":
		fmt.Fprintln(os.Stderr, "the cause")
		os.Exit(7)
	}
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
