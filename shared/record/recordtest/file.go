package recordtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"assay/shared/blob"
	"assay/shared/blob/directory"
	"assay/shared/record"
)

// OpenFiles opens an empty store of files until the test ends.
func OpenFiles(t testing.TB) *directory.Store {
	t.Helper()
	files, err := directory.Open(t.TempDir(), "http://localhost/files")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// File is a file with the content, in the state.
func File(name, content string, state record.FileState) record.File {
	sum := sha256.Sum256([]byte(content))
	return record.File{Name: name, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), MediaType: "text/plain", State: state}
}

// File is a file of the holder with the id; its content is stored.
func (b *Builder) File(h record.Holder, id, name, content string) record.File {
	b.t.Helper()
	f := File(name, content, record.FileStored)
	if b.Files != nil {
		o := blob.Object{Key: record.ObjectKey(h, id, f.SHA256), Size: f.Size, SHA256: f.SHA256}
		b.must(b.Files.Put(context.Background(), o, strings.NewReader(content)))
	}
	return f
}
