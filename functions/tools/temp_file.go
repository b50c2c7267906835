package tools

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"

	"assay/functions/tools/inputs"
	"assay/shared/problem"
	"assay/shared/record"
)

// maxFileBytes is how large a file may be that a tool writes: less than half of the 512 MB that a function has on its disk,
// for the store makes a copy there before it sends the file.
const maxFileBytes = 240 << 20

// FileResult is a file that a tool has written.
type FileResult struct {
	Name      string          `json:"name" example:"fused.txt"`
	MediaType string          `json:"mediaType" example:"text/plain; charset=utf-8"`
	Size      int64           `json:"size" doc:"bytes"`
	SHA256    string          `json:"sha256" doc:"SHA-256 of the bytes in lower-case hexadecimal"`
	Content   []byte          `json:"content,omitempty" doc:"the bytes in base64, up to 3 MiB"`
	URL       string          `json:"url,omitempty" format:"uri" doc:"instead of content: where to get the bytes for a while"`
	ExpiresAt *record.Instant `json:"expiresAt,omitempty" doc:"until when the url works"`
	temp      *tempFile
}

// maxFileSize is how large a file the caller may have written: nobody but who is logged in gets more than an answer has room for.
func maxFileSize(resolver *inputs.Resolver) int64 {
	if resolver.Anonymous() {
		return record.MaxInlineBytes
	}
	return maxFileBytes
}

// tempFile takes a file while it is written, on the disk: whether it is of any use is known only at its end, and so are its size
// and digest, which the object store wants first.
type tempFile struct {
	disk     *os.File // not embedded, or its WriteString and ReadFrom would go past Write
	size     int64
	limit    int64 // bytes
	digest   hash.Hash
	buffered *bufio.Writer
}

// writeTempFile returns a file with what write writes, whose temp is for the caller to close. When there is an error, or write
// panics, it is closed already. It has at most so many bytes.
func writeTempFile(name, mediaType string, most int64, write func(io.Writer) error) (*FileResult, error) {
	f, err := os.CreateTemp("", "assay-tool-*")
	if err != nil {
		return nil, err
	}
	whole := false
	defer func() {
		if !whole {
			_ = f.Close() // nobody reads it
		}
	}()
	if err := os.Remove(f.Name()); err != nil { // it stays until it is closed, and goes with the process if that dies
		return nil, err
	}
	s := &tempFile{disk: f, digest: sha256.New(), limit: most}
	s.buffered = bufio.NewWriterSize(io.MultiWriter(f, s.digest), 256<<10)
	if err := write(s); err != nil {
		return nil, err
	}
	if err := s.buffered.Flush(); err != nil {
		return nil, err
	}
	whole = true
	return &FileResult{Name: name, MediaType: mediaType, Size: s.size, SHA256: hex.EncodeToString(s.digest.Sum(nil)), temp: s}, nil
}

// Write implements io.Writer.
func (s *tempFile) Write(p []byte) (int, error) {
	switch s.size += int64(len(p)); {
	case s.size <= s.limit:
		return s.buffered.Write(p)
	case s.limit == record.MaxInlineBytes:
		return 0, problem.Unauthorized.New("The result has more than the %d bytes that are answered to everyone. Log in to get a link to it: "+
			"Authorization: Bearer <token>.", s.limit)
	default:
		return 0, problem.TooLarge.New("The result has more than %d bytes. Give a depth, or fewer or smaller files.", s.limit)
	}
}

// reader returns the file from its start.
func (s *tempFile) reader() (io.Reader, error) {
	_, err := s.disk.Seek(0, io.SeekStart)
	return s.disk, err
}

func (s *tempFile) close() { _ = s.disk.Close() } // nobody reads it again
