// Package durable writes files that are whole or absent, whatever ends the process, and that stay once they are written.
package durable

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Write gives a file that write has filled the path, in place of what had it before, and returns once it is on disk. Until then
// the file is in the folder, which is on the same file system.
func Write(folder, path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(folder, filepath.Base(path)+".*") // with permissions 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // finds nothing once the file has its final name
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

// WriteBytes is Write for content that is in memory.
func WriteBytes(folder, path string, content []byte) error {
	return Write(folder, path, func(f *os.File) error {
		_, err := f.Write(content)
		return err
	})
}

// Sync makes the names in a folder durable; Windows does so by itself and knows no sync of a folder.
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
