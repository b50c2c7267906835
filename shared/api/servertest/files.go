package servertest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"time"
)

// File is a file as a request describes it; a member can be added or replaced.
type File = map[string]any

// Inline is a file that comes with its content.
func Inline(name, content string) File {
	return File{"name": name, "content": base64.StdEncoding.EncodeToString([]byte(content))}
}

// Announced is a file whose content is uploaded later.
func Announced(name, content string) File {
	return File{"name": name, "size": len(content), "sha256": Digest(content)}
}

// Digest is the SHA-256 of the content as files have it.
func Digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// Upload is the body of a submission of files to a dataset.
func Upload(datasetID string, files ...File) map[string]any {
	for _, f := range files {
		f["datasetId"] = datasetID
	}
	return map[string]any{"type": "upload", "files": files}
}

// Image is the body of a submission of a container image to datasets.
func Image(datasetIDs ...string) map[string]any {
	return map[string]any{"type": "image", "image": "registry.example.org/entry:1", "datasetIds": datasetIDs}
}

// FileCount counts the files that are stored.
func (s *Server) FileCount() (n int) {
	s.t.Helper()
	for _, err := range s.Files.List(s.t.Context(), "", s.Now().Add(time.Hour)) {
		if err != nil {
			s.t.Fatal(err)
		}
		n++
	}
	return n
}
