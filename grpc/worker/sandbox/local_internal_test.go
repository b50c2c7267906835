package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"assay/grpc/worker/scratch"
	"assay/shared/testing/waittest"
)

// descendantVariable makes the test program lock the folder that it names, and sleep. descendantChild makes it do so in a child process
// that it leaves behind.
const (
	descendantVariable = "ASSAY_TEST_DESCENDANT"
	descendantChild    = "ASSAY_TEST_DESCENDANT_CHILD"
)

func TestMain(m *testing.M) {
	folder := os.Getenv(descendantVariable)
	if folder == "" {
		os.Exit(m.Run())
	}
	if os.Getenv(descendantChild) != "" {
		_ = os.Unsetenv(descendantChild)
		if err := exec.Command(os.Args[0]).Start(); err != nil { // without a context, because it outlives this process
			panic(err)
		}
		for scratch.Abandoned(folder) {
			time.Sleep(time.Millisecond)
		}
		return
	}
	if _, err := scratch.Lock(folder); err != nil {
		panic(err)
	}
	time.Sleep(time.Hour)
}

func TestRunGroup_LeavesNoDescendants(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "held")
	cmd := groupCommand(t.Context(), os.Args[0])
	cmd.Env = append(cmd.Env, descendantVariable+"="+folder, descendantChild+"=1")
	must(t, runGroup(cmd))
	waittest.Until(t, "the process has ended that the child process of the command started", func() bool { return scratch.Abandoned(folder) })
}
