// Package transfer moves a whole store, an organizer or a task from one server to another through a folder, with files, ground truth
// (qrels, labels), logs and audit entries. The servers can use different stores. IDs stay the same, except those of users, which
// depend on the sign-in issuer.
//
// # The folder
//
//	items.jsonl      a line for each record, with the stored key and data, and for each object that it names
//	files/<sha256>   the content of the objects, each once
//	manifest.json    the description of the export, with the SHA-256 of items.jsonl; written last
//
// A folder without a manifest belongs to an interrupted export. Repeating the export completes the folder. The folder contains hidden
// ground truth and the names of people: protect it like the store. The table in kinds.go says what happens to each kind of records.
//
// # Records that are not moved
//
// Invitations are not moved, because their links lead to the origin. Deleted resources in the trash are not moved either. Daily counts
// of quotas start again. Stored bytes are counted again, with each record that names files.
//
// # Consistency
//
// Nothing may write to the origin during an export. The folder does not contain index entries: an import decodes each record and writes
// it like a request, so that the target can have other indexes. The manifest names the form of the records. A build refuses folders of
// another form than its own.
package transfer

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"assay/shared/domain/record"
	"assay/shared/storage/blob"
	"assay/shared/storage/store"
)

// Names in the folder.
const (
	manifestName = "manifest.json"
	itemsName    = "items.jsonl"
	filesName    = "files"
)

// The format of folders, and limits of reading them.
const (
	format           = 1
	maxManifestBytes = 64 << 20 // the manifest lists missing objects
	maxLineBytes     = store.MaxItemBytes + 16<<10
)

// Manifest describes an export.
type Manifest struct {
	Format     int            `json:"format"`
	Schema     int            `json:"schema"` // Schema and Digest name the form of the records
	Digest     string         `json:"digest"`
	Scope      Scope          `json:"scope,omitzero"`
	Origin     string         `json:"origin"` // description of the store
	ExportedAt record.Instant `json:"exportedAt"`
	Counts     map[string]int `json:"counts"` // number of records by kind
	Objects    int            `json:"objects"`
	Bytes      int64          `json:"bytes"` // total size of the objects
	SHA256     string         `json:"sha256"`
	// Missing lists keys of objects that records name and the origin does not have, such as announced uploads.
	Missing []string `json:"missing,omitempty"`
}

// Scope is the exported part of a store: the organizer or the task with the ID. The zero Scope is the whole store.
type Scope struct {
	Organizer string `json:"organizer,omitempty"`
	Task      string `json:"task,omitempty"`
}

func (s Scope) whole() bool { return s == Scope{} }

// line is a line of items.jsonl: a record or an object.
type line struct {
	Partition string          `json:"partition,omitempty"`
	Sort      string          `json:"sort,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	Object    *blob.Object    `json:"object,omitempty"`
}

// Folder is a complete export.
type Folder struct {
	Manifest

	root *os.Root
	path string
}

// OpenFolder opens the export in the folder. It does not verify the content.
func OpenFolder(folder string) (*Folder, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("the folder of the export: %w", err)
	}
	f := &Folder{root: root, path: folder}
	if err := f.readManifest(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return f, nil
}

// Close releases the folder.
func (f *Folder) Close() error { return f.root.Close() }

func (f *Folder) readManifest() error {
	file, err := f.open(manifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s has no %s: it is no export, or one that was interrupted; repeat the export into the same folder", f.path,
			manifestName)
	}
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := json.NewDecoder(io.LimitReader(file, maxManifestBytes)).Decode(&f.Manifest); err != nil {
		return f.damaged(manifestName, err)
	}
	if f.Format != format {
		return fmt.Errorf("the export in %s has the format %d, and this build reads %d: use the build that exported", f.path, f.Format, format)
	}
	return record.CheckForm(f.path, f.Schema, f.Digest)
}

func (f *Folder) damaged(name string, err error) error {
	return fmt.Errorf("%s is not as it was exported: %w; copy the folder again", filepath.Join(f.path, name), err)
}

// open opens a regular file of the folder. os.Root refuses names outside the folder.
func (f *Folder) open(name string) (*os.File, error) {
	info, err := f.root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = f.damaged(name, errors.New("it is no regular file"))
	}
	if err != nil {
		return nil, err
	}
	return f.root.Open(name)
}

// openObject opens the file with the content of the object.
func (f *Folder) openObject(o *blob.Object) (*os.File, error) {
	return f.open(path.Join(filesName, o.SHA256))
}

// verify reads the whole folder. It returns an error that names the first file that differs from the export.
func (f *Folder) verify(ctx context.Context) error {
	items, err := f.open(itemsName)
	if err != nil {
		return err
	}
	sum := sha256.New()
	if _, err = io.Copy(sum, items); err == nil && hex.EncodeToString(sum.Sum(nil)) != f.SHA256 {
		err = f.damaged(itemsName, errors.New("it has another SHA-256 than the manifest says"))
	}
	if err := errors.Join(err, items.Close()); err != nil {
		return err
	}
	return f.each(ctx, func(l *line) error {
		if l.Object == nil {
			return nil
		}
		file, err := f.openObject(l.Object)
		if err != nil {
			return err
		}
		if err := errors.Join(blob.Copy(ctx, io.Discard, *l.Object, file), file.Close()); err != nil {
			return f.damaged(path.Join(filesName, l.Object.SHA256), err)
		}
		return nil
	})
}

// each calls do with every line.
func (f *Folder) each(ctx context.Context, do func(*line) error) error {
	items, err := f.open(itemsName)
	if err != nil {
		return err
	}
	defer func() { _ = items.Close() }()
	lines := bufio.NewScanner(items)
	lines.Buffer(nil, maxLineBytes)
	for n := 1; lines.Scan(); n++ {
		l := new(line)
		err := ctx.Err()
		if err == nil {
			err = json.Unmarshal(lines.Bytes(), l)
		}
		if err == nil && l.Object != nil {
			err = checkObject(l.Object)
		}
		if err == nil {
			err = do(l)
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w", itemsName, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return f.damaged(itemsName, err)
	}
	return nil
}

// checkObject returns an error unless the object's key is one of a record's file and contains the object's digest.
func checkObject(o *blob.Object) error {
	if _, _, digest, ok := record.ParseObjectKey(o.Key); !ok || digest != o.SHA256 {
		return fmt.Errorf("%.80q with the SHA-256 %.80q is no object of a record", o.Key, o.SHA256)
	}
	return o.Check()
}
