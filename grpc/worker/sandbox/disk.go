package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"assay/grpc/worker/failure"
	"assay/shared/wait"
)

// pollInterval is how often disk usage is measured.
const pollInterval = time.Second

// watchDisk ends the job when it exceeds its disk limit.
func watchDisk(ctx context.Context, j *Job, end context.CancelCauseFunc) {
	for wait.Sleep(ctx, pollInterval) {
		if why := overDisk(j); why != "" {
			end(failure.New("%s", why))
		}
	}
}

const (
	entryBytes = 1 << 10 // counted for each file and folder in addition to its content, so that many empty ones count
	maxDepth   = 64      // of nested folders
)

// overDisk says how the job has exceeded its limit in its writable folders; empty when it has not. Folders that cannot be counted are
// over the limit. Files that disappear meanwhile do not count. No link is followed, and a replaced folder is still the one that was
// opened before the job began.
func overDisk(j *Job) string {
	var used Bytes
	for _, f := range j.Folders {
		if !f.Writable {
			continue
		}
		err := fs.WalkDir(f.Root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
			used += entryBytes
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case strings.Count(path, "/") > maxDepth:
				return fmt.Errorf("there are folders more than %d levels deep", maxDepth)
			case used > j.Limits.Disk:
				return fs.SkipAll
			case !e.Type().IsRegular():
				return nil
			}
			info, err := e.Info()
			if err == nil {
				used += Bytes(info.Size())
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Sprintf("What it wrote into its folders cannot be counted, which is over the limit of %s: use folders that everybody can "+
				"list, %d levels deep at most.", j.Limits.Disk, maxDepth)
		}
	}
	if used > j.Limits.Disk {
		return fmt.Sprintf("It wrote %s into its folders, more than the %s that are allowed.", used, j.Limits.Disk)
	}
	return ""
}
