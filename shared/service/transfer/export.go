package transfer

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"assay/shared/domain/record"
	"assay/shared/storage/blob"
	"assay/shared/storage/durable"
	"assay/shared/storage/store"
)

// Export writes a store, or the records of an organizer or a task, to a folder.
type Export struct {
	Store  store.Scanner
	Files  blob.Store
	Now    func() time.Time
	Scope  Scope
	Origin string // description of the store in the manifest

	folder   string
	manifest Manifest
	lines    *json.Encoder
	err      error           // the first error, which ends reading
	objects  map[string]bool // keys of written ground truths, because a dataset and its Truth name the same
	named    map[string]bool // IDs that the exported records name, of users and of other resources
}

// WriteTo writes the export to the folder, and creates the folder if it does not exist. It completes an interrupted export, and does
// not read files again that the folder has.
func (e *Export) WriteTo(ctx context.Context, folder string) (*Manifest, error) {
	if _, err := os.Stat(filepath.Join(folder, manifestName)); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has an export already: choose another folder, or remove that one", folder)
	}
	if err := os.MkdirAll(filepath.Join(folder, filesName), 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(folder, 0o700); err != nil { //nolint:gosec // a folder is entered with x
		return nil, err
	}
	e.folder = folder
	e.objects = map[string]bool{}
	e.named = map[string]bool{}
	e.err = nil
	e.manifest = Manifest{Format: format, Schema: record.Schema, Digest: record.Digest, Scope: e.Scope, Origin: e.Origin,
		ExportedAt: record.At(e.Now()), Counts: map[string]int{}}
	err := durable.Write(folder, filepath.Join(folder, itemsName), func(f *os.File) error {
		sum, buffer := sha256.New(), bufio.NewWriter(f)
		e.lines = json.NewEncoder(io.MultiWriter(buffer, sum))
		e.lines.SetEscapeHTML(false) // keeps the stored data unchanged
		if e.Scope.whole() {
			e.readWhole(ctx)
		} else {
			e.readPart(ctx)
		}
		e.manifest.SHA256 = hex.EncodeToString(sum.Sum(nil))
		return errors.Join(e.err, buffer.Flush())
	})
	if err != nil {
		return nil, err
	}
	return &e.manifest, e.manifest.writeTo(folder)
}

func (m *Manifest) writeTo(folder string) error {
	return durable.Write(folder, filepath.Join(folder, manifestName), func(f *os.File) error {
		lines := json.NewEncoder(f)
		lines.SetIndent("", "  ")
		return lines.Encode(m)
	})
}

// failed records the first error, and reports whether there was one.
func (e *Export) failed(err error) bool {
	e.err = cmp.Or(e.err, err)
	return e.err != nil
}

func (e *Export) readWhole(ctx context.Context) {
	for after := (store.Key{}); ; {
		items, last, err := e.Store.Scan(ctx, after, page)
		if e.failed(err) {
			return
		}
		for _, it := range items {
			e.add(ctx, it)
		}
		if last.IsZero() {
			return
		}
		after = last
	}
}

// add writes the item and the objects that it names, and returns the record. It returns nil if the record is not moved.
func (e *Export) add(ctx context.Context, it store.Item) record.Record {
	k, err := kindOf(it.Key)
	if e.failed(err) || k.new == nil || k.fate == personal && !e.Scope.whole() {
		return nil
	}
	r := k.new(it.Key)
	if e.failed(record.Decode(it, r)) {
		return nil
	}
	if u, ok := r.(*record.Usage); ok && u.Quota.IsZero() {
		return nil
	}
	if e.failed(e.lines.Encode(line{Partition: it.Partition, Sort: it.Sort, Data: it.Data})) {
		return nil
	}
	e.manifest.Counts[k.name()]++
	if !e.Scope.whole() {
		for _, id := range wholeID.FindAllString(string(it.Data), -1) {
			e.named[id[1:len(id)-1]] = true
		}
	}
	if holder, ok := r.(record.FileHolder); ok {
		for _, key := range holder.ObjectKeys() {
			if err := e.addObject(ctx, key); err != nil {
				e.failed(fmt.Errorf("file %s: %w", key, err))
			}
		}
	}
	return r
}

// addObject writes the object, and its content unless the folder has it.
func (e *Export) addObject(ctx context.Context, key string) error {
	if holder, _, _, _ := record.ParseObjectKey(key); holder == record.HolderTruths {
		if e.objects[key] {
			return nil
		}
		e.objects[key] = true
	}
	o, err := e.Files.Stat(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		e.manifest.Missing = append(e.manifest.Missing, key)
		return nil
	}
	if err != nil {
		return err
	}
	files := filepath.Join(e.folder, filesName)
	path := filepath.Join(files, o.SHA256)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		content, err := e.Files.Open(ctx, key)
		if err != nil {
			return err
		}
		err = durable.Write(files, path, func(f *os.File) error { return blob.Copy(ctx, f, o, content) })
		if err := errors.Join(err, content.Close()); err != nil {
			return err
		}
	}
	e.manifest.Objects++
	e.manifest.Bytes += o.Size
	return e.lines.Encode(line{Object: &o})
}
