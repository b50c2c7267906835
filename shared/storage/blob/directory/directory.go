// Package directory stores files in a folder of the local machine and serves signed links to them. With it, Assay on one machine needs
// no object store.
//
// The folder contains
//
//	link.key   the key that signs links; if it is missing, a new one is made and earlier links become invalid
//	objects/   one file for each key
//	uploads/   files that are being written; leftovers of a crash are removed later
//	deleted/   files that were deleted during the current backup; leftovers of a crash are removed when the folder is opened
//
// Only one process at a time may use a folder.
package directory

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"assay/shared/storage/blob"
	"assay/shared/storage/durable"
)

// abandonedAfter is the age from which an unchanged file in uploads counts as a leftover of a crash. It is far longer than stallTimeout.
const abandonedAfter = time.Hour

// Store is a blob.Store over a folder.
type Store struct {
	Now func() time.Time // the clock for the expiry of links; Open sets time.Now

	objects              string // folder
	uploads              string // folder
	deleted              string // folder
	baseURL              string
	key                  []byte
	stallTimeout         time.Duration // longest time without progress of a transfer
	expectedPollInterval time.Duration // between checks whether an upload is still expected
	inProgress           uploadsInProgress
	cleaned              atomic.Int64 // last cleaning of uploads, in Unix nanoseconds
	backup               backup
}

var _ blob.Store = (*Store)(nil)

// Open opens the folder root, and creates it if it is missing. baseURL is the URL at which clients reach the Handler, such as
// http://127.0.0.1:8080/files. Links start with it.
func Open(root, baseURL string) (*Store, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("base URL %q of the files: give one such as http://127.0.0.1:8080/files", baseURL)
	}
	s := &Store{
		objects:              filepath.Join(root, "objects"),
		uploads:              filepath.Join(root, "uploads"),
		deleted:              filepath.Join(root, "deleted"),
		baseURL:              strings.TrimSuffix(baseURL, "/"),
		stallTimeout:         time.Minute,
		expectedPollInterval: 5 * time.Second,
		Now:                  time.Now,
	}
	if err := os.RemoveAll(s.deleted); err != nil {
		return nil, fmt.Errorf("open the files in %s: %w", root, err)
	}
	for _, folder := range []string{s.objects, s.uploads, s.deleted} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, fmt.Errorf("open the files in %s: %w", root, err)
		}
	}
	if s.key, err = linkKey(root); err != nil {
		return nil, err
	}
	for _, folder := range []string{filepath.Dir(root), root} {
		if err := durable.Sync(folder); err != nil {
			return nil, fmt.Errorf("open the files in %s: %w", root, err)
		}
	}
	if err := s.removeAbandoned(); err != nil {
		return nil, err
	}
	return s, nil
}

// path returns the path of the file for a key. The name is a digest of the key. So no key can leave the folder or be too long for a file
// system, keys that differ only in case are separate files on every file system, and "a" and "a/b" can both exist.
func (s *Store) path(key string) string {
	return filepath.Join(s.objects, fmt.Sprintf("%x", sha256.Sum256([]byte(key))))
}

// Put implements blob.Store.
func (s *Store) Put(ctx context.Context, o blob.Object, r io.Reader) error {
	if err := o.Check(); err != nil {
		return err
	}
	o.MediaType = cmp.Or(o.MediaType, blob.DefaultMediaType)
	if s.Now().Sub(time.Unix(0, s.cleaned.Load())) > abandonedAfter {
		if err := s.removeAbandoned(); err != nil {
			return err
		}
	}
	return durable.Write(s.uploads, s.path(o.Key), func(f *os.File) error { return writeObject(ctx, f, o, r) })
}

// Open implements blob.Store.
func (s *Store) Open(_ context.Context, key string) (io.ReadCloser, error) {
	f, err := s.open(key)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Stat implements blob.Store.
func (s *Store) Stat(_ context.Context, key string) (blob.Object, error) {
	f, err := s.open(key)
	if err != nil {
		return blob.Object{}, err
	}
	return f.object, f.Close()
}

func (s *Store) open(key string) (*file, error) {
	if err := blob.CheckKey(key); err != nil {
		return nil, err
	}
	f, err := openObject(s.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, blob.ErrNotFound
	}
	return f, err
}

// Delete implements blob.Store. It also ends uploads under the keys.
func (s *Store) Delete(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := blob.CheckKey(key); err != nil {
			return err
		}
	}
	removed := false
	for _, key := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.inProgress.end(key)
		if err := s.remove(s.path(key)); err == nil {
			removed = true
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if !removed {
		return nil
	}
	return durable.Sync(s.objects)
}

// List implements blob.Store. It always begins with the first file, because files are named by digests of their keys.
func (s *Store) List(ctx context.Context, prefix, _ string, before time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := blob.CheckPrefix(prefix); err != nil {
			yield("", err)
			return
		}
		for entry, err := range olderThan(s.objects, before) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield("", err)
				return
			}
			f, err := openObject(filepath.Join(s.objects, entry))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil {
				err = f.Close()
			}
			if err != nil {
				yield("", err)
				return
			}
			if strings.HasPrefix(f.object.Key, prefix) && !yield(f.object.Key, nil) {
				return
			}
		}
	}
}

// removeAbandoned removes leftovers of crashes from uploads.
func (s *Store) removeAbandoned() error {
	now := s.Now()
	s.cleaned.Store(now.UnixNano())
	for entry, err := range olderThan(s.uploads, now.Add(-abandonedAfter)) {
		if err != nil {
			return fmt.Errorf("look for abandoned uploads: %w", err)
		}
		if err := os.Remove(filepath.Join(s.uploads, entry)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove an abandoned upload: %w", err)
		}
	}
	return nil
}

// olderThan yields the names of the files in a folder that were last written before the given time. It reads the folder in parts, so
// that a million files take no more memory than a few.
func olderThan(folder string, before time.Time) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		d, err := os.Open(folder)
		if err != nil {
			yield("", err)
			return
		}
		defer d.Close()
		for {
			entries, err := d.ReadDir(1024)
			if err == io.EOF {
				return
			}
			if err != nil {
				yield("", err)
				return
			}
			for _, entry := range entries {
				info, err := entry.Info()
				if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(before) {
					continue
				}
				if !yield(entry.Name(), err) || err != nil {
					return
				}
			}
		}
	}
}

// header is the first line of an object's file, in JSON. The bytes of the object follow. One rename stores both.
type header struct {
	Key       string      `json:"key"`
	Size      int64       `json:"size"`
	SHA256    blob.Digest `json:"sha256"`
	MediaType string      `json:"mediaType"`
}

// maxHeaderBytes exceeds the length of a header with the longest key and media type, however JSON escapes them.
const maxHeaderBytes = 4 << 10

// writeObject writes header and bytes. It returns blob.ErrMismatch if r differs from o, without reading further than one byte too many.
func writeObject(ctx context.Context, f *os.File, o blob.Object, r io.Reader) error {
	line, err := json.Marshal(header(o))
	if err != nil {
		return err
	}
	if _, err := f.Write(append(line, '\n')); err != nil {
		return err
	}
	return blob.Copy(ctx, f, o, r)
}

// file is an object that is open for reading.
type file struct {
	object blob.Object
	*io.SectionReader
	disk *os.File
}

func (f *file) Close() error { return f.disk.Close() }

// openObject opens an object's file. It returns an error if the length of the file differs from its header, because then the file was
// damaged outside of Assay.
func openObject(path string) (_ *file, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	start := make([]byte, maxHeaderBytes)
	n, err := f.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	line, _, found := bytes.Cut(start[:n], []byte("\n"))
	var h header
	if err := json.Unmarshal(line, &h); !found || err != nil || info.Size() != int64(len(line))+1+h.Size {
		return nil, fmt.Errorf("file %s is damaged: bring it back from a backup, or remove it and upload the file again", path)
	}
	return &file{blob.Object(h), io.NewSectionReader(f, int64(len(line))+1, h.Size), f}, nil
}
