package directory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"assay/shared/blob"
)

// An object's file starts with one line of JSON, the header, and goes on with the bytes of the object. Being one
// file, the two can't part: one rename brings both in.
type header struct {
	Key       string      `json:"key"`
	Size      int64       `json:"size"`
	SHA256    blob.Digest `json:"sha256"`
	MediaType string      `json:"mediaType"`
}

// maxHeaderBytes is more than a header with the longest key and media type needs, however JSON escapes them.
const maxHeaderBytes = 4 << 10

// writeObject writes the whole file. It returns blob.ErrMismatch when r is not what o declares, and as
// soon as r has yielded too much.
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

// openObject opens an object's file. A file that is shorter or longer than its header says was damaged outside
// of Assay.
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
