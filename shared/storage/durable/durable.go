// Package durable writes files atomically: whenever the process ends, a file is complete or absent. Written files survive a power failure.
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces the file at the path with a file that the function write fills. It returns after the file is on disk. Until then the
// content is in a temporary file in folder, which must be on the same file system as the path.
func Write(folder, path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(folder, filepath.Base(path)+".*") // with permissions 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing after the rename
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

// WriteBytes is like Write, for content in memory.
func WriteBytes(folder, path string, content []byte) error {
	return Write(folder, path, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}

// Sync makes the names in a folder durable. It does nothing on Windows, which does that by itself and cannot sync folders.
func Sync(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
