package embedded

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// The test binary runs itself as another process, with what to do there and on which file in the environment.
const (
	childRole = "STORE_CHILD_ROLE"
	childFile = "STORE_CHILD_FILE"
	childArg  = "STORE_CHILD_ARG"
)

var children = map[string]func(path, arg string) error{
	"open":  openInChild,
	"crash": writeUntilKilled,
}

func TestMain(m *testing.M) {
	role := os.Getenv(childRole)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := children[role](os.Getenv(childFile), os.Getenv(childArg)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child returns a process that does the role on the file, and what it will say on its standard error.
func child(t *testing.T, role, path, arg string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childRole+"="+role, childFile+"="+path, childArg+"="+arg)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}
