package attack

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// diskBytes is how large the tmpfs is that has the data of the process.
const diskBytes = 256 << 20

// disk is where the process keeps its data: a tmpfs of fixed size in a mount namespace of its own, which needs no rights on the
// machine and ends with the process that holds it. Others reach it through that process.
type disk struct {
	data  string
	small bool
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	folder := t.TempDir()
	holder := exec.Command("unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size="$1" assay "$2" && echo mounted && exec cat`, "sh",
		strconv.Itoa(diskBytes), folder)
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = holder.Start(); err == nil {
		t.Cleanup(func() {
			_ = in.Close()
			_ = holder.Wait() // ends when its input does
		})
		_, err = io.ReadFull(out, make([]byte, len("mounted")))
	}
	if err != nil {
		t.Logf("NOT CHECKED: a full disk. A tmpfs in a namespace of its own (unshare -rm) cannot be mounted here: %v", err)
		return &disk{data: filepath.Join(folder, "data")}
	}
	return &disk{data: fmt.Sprintf("/proc/%d/root%s/data", holder.Process.Pid, folder), small: true}
}

func (d *disk) String() string {
	if d.small {
		return fmt.Sprintf("a tmpfs of %d MiB", diskBytes>>20)
	}
	return "a disk that nothing bounds"
}

// fill writes a file until the disk is full, and returns what removes it.
func (d *disk) fill() (remove func(), err error) {
	f, err := os.Create(filepath.Join(filepath.Dir(d.data), "ballast"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	for size := 1 << 20; size >= 4<<10; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return func() { _ = os.Remove(f.Name()) }, nil
}
