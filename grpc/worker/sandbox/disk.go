package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// watched is how often the folders of a job are measured.
const watched = time.Second

// watchDisk ends the job when it has written more than it may.
func watchDisk(ctx context.Context, j *Job, end context.CancelCauseFunc) {
	tick := time.NewTicker(watched)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if used := usage(j); used > j.Limits.Disk {
			end(&exceeded{tooMuch(used, j.Limits.Disk)})
			return
		}
	}
}

func tooMuch(used, limit Bytes) string {
	return fmt.Sprintf("It wrote %s into its folders, more than the %s that are allowed.", used, limit)
}

// entryBytes is what each file and folder counts besides its content, so that many empty ones are not for nothing.
const entryBytes = 1 << 10

// usage is how many bytes the files have that are in folders which the job may write to. Files come and go meanwhile: what
// cannot be read is not counted.
func usage(j *Job) Bytes {
	var used Bytes
	for _, f := range j.Folders {
		if !f.Writable {
			continue
		}
		// The function returns no error, so that WalkDir goes on to the end and returns none.
		_ = filepath.WalkDir(f.Path, func(_ string, e fs.DirEntry, err error) error {
			used += entryBytes
			if err == nil && e.Type().IsRegular() {
				if info, err := e.Info(); err == nil {
					used += Bytes(info.Size())
				}
			}
			return nil
		})
	}
	return used
}
