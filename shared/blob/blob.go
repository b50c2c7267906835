// Package blob is the contract of the object store. A directory and S3 both implement it, with signed links that let a
// client upload and download without the bytes passing through the API.
//
// The contract is the weaker of the two. A file is whole or absent: what Put or a signed PUT could not finish
// or verify leaves nothing behind. Size and SHA-256 are declared first and checked while the bytes arrive, so
// what Stat reports has been verified. There are no partial writes, no appends and no renames.
package blob

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of every implementation: S3's own, with room left for a prefix before the key.
const (
	MaxKeyBytes       = 512
	MaxMediaTypeBytes = 255
	MaxSize           = 5 << 30            // the largest single PUT of S3
	MaxLinkLife       = 7 * 24 * time.Hour // the longest life of a presigned URL
)

// DefaultMediaType is that of a file without a declared one.
const DefaultMediaType = "application/octet-stream"

// mediaTypes are those that Assay's files mostly have. The types that package mime knows differ between machines.
var mediaTypes = map[string]string{
	".csv": "text/csv", ".gz": "application/gzip", ".json": "application/json", ".jsonl": "application/jsonl", ".md": "text/markdown",
	".qrels": "text/plain", ".run": "text/plain", ".trec": "text/plain", ".tsv": "text/tab-separated-values", ".txt": "text/plain",
	".xml": "application/xml", ".zip": "application/zip",
}

// MediaTypeOf is the media type of a file by the end of its name.
func MediaTypeOf(name string) string {
	return cmp.Or(mediaTypes[strings.ToLower(path.Ext(name))], DefaultMediaType)
}

var (
	// ErrNotFound means that nothing is stored under the key.
	ErrNotFound = errors.New("no file is stored under this key")
	// ErrMismatch means that the bytes are not those declared: another size or another SHA-256. Nothing was stored.
	ErrMismatch = errors.New("the bytes differ from the declared size or SHA-256")
)

// Digest is a SHA-256 as 64 lower-case hexadecimal digits.
type Digest = string

// Object is a stored file, or the declaration of one before its upload.
type Object struct {
	Key       string
	Size      int64
	SHA256    Digest
	MediaType string // of the whole file; empty when declared means DefaultMediaType
}

// Link lets its holder make one kind of request without further credentials.
type Link struct {
	Method string
	URL    string // absolute
	// Headers must be sent with the request exactly as they stand here. Content-Length is not among them,
	// because HTTP clients set it themselves; for an upload it must be the declared size, not chunked.
	Headers map[string]string
	// ExpiresAt is the instant from which the link is refused; never later than asked for.
	ExpiresAt time.Time
}

// Store keeps files. All methods may be called concurrently.
type Store interface {
	// Put reads r to its end and stores the bytes under o.Key, replacing what was there; when it returns nil they
	// are durable. When their size or SHA-256 is not what o declares it returns ErrMismatch. After that, or an error
	// of r, what was there before is untouched; after any other error either that or the new file is there, whole.
	Put(ctx context.Context, o Object, r io.Reader) error

	// Open returns the bytes stored under key, or ErrNotFound. A later Put or Delete doesn't affect the reader.
	Open(ctx context.Context, key string) (io.ReadCloser, error)

	// Stat returns what is stored under key, with the size and digest that were verified when it was stored, or
	// ErrNotFound.
	Stat(ctx context.Context, key string) (Object, error)

	// Delete removes what is stored under keys. A key with nothing stored is no error.
	Delete(ctx context.Context, keys ...string) error

	// List yields the keys under prefix whose files were stored before the given instant, in no certain order, so
	// that files that no record names any more can be found. The prefix is empty or ends in a slash. Files that
	// are stored or deleted meanwhile may be yielded or not. After an error the sequence ends.
	//
	// What ends early goes on with the last key that it handled as after: keys that an earlier List yielded up to that one may be
	// left out. S3, which lists in the order of keys, leaves them out; a directory, which has no order, begins again.
	List(ctx context.Context, prefix, after string, before time.Time) iter.Seq2[string, error]

	// SignGet returns a link that downloads what is stored under key, whether or not something is stored yet. The
	// answer tells browsers to save it, never to show it, under the given file name, as the given media
	// type; an empty media type means the stored one. The link also serves byte ranges.
	SignGet(ctx context.Context, key, filename, mediaType string, expires time.Time) (Link, error)

	// SignPut returns a link that uploads exactly o and nothing else, and only where nothing is stored. The answer to
	// the PUT is 2xx only when the file is durable and verified, 412 when a file is stored under the key already, which
	// stays as it is, and another 4xx when it is not what o declares. A client that repeats an upload because it got no answer
	// takes 412 for success.
	SignPut(ctx context.Context, o Object, expires time.Time) (Link, error)
}

// Check reports what is wrong with a declaration.
func (o Object) Check() error {
	if err := CheckKey(o.Key); err != nil {
		return err
	}
	if o.Size < 0 || o.Size > MaxSize {
		return fmt.Errorf("size %d of file %q: give 0 to %d bytes", o.Size, o.Key, int64(MaxSize))
	}
	if sum, err := hex.DecodeString(o.SHA256); err != nil || len(sum) != 32 || strings.ToLower(o.SHA256) != o.SHA256 {
		return fmt.Errorf("SHA-256 %.80q of file %q: give 64 lower-case hexadecimal digits", o.SHA256, o.Key)
	}
	return CheckMediaType(o.MediaType)
}

// CheckMediaType reports what is wrong with a media type (RFC 9110, section 8.3.1). The empty one is valid.
func CheckMediaType(mediaType string) error {
	if mediaType == "" {
		return nil
	}
	kind, _, err := mime.ParseMediaType(mediaType)
	if err != nil || !strings.Contains(kind, "/") || len(mediaType) > MaxMediaTypeBytes || !printable(mediaType) {
		return fmt.Errorf("media type %.300q: give a type and subtype such as text/plain, at most %d bytes", mediaType, MaxMediaTypeBytes)
	}
	return nil
}

// CheckKey reports what is wrong with a key: slash-separated segments of ASCII letters, digits, '.', '_' and '-',
// none of them empty, "." or "..", together at most MaxKeyBytes.
func CheckKey(key string) error {
	if len(key) > MaxKeyBytes {
		return fmt.Errorf("key %.80q... has %d bytes: at most %d are allowed", key, len(key), MaxKeyBytes)
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "" || segment == "." || segment == ".." || strings.ContainsFunc(segment, notInKey) {
			return fmt.Errorf("key %q: its segments must be letters, digits, '.', '_' and '-', and not empty, %q or %q", key, ".", "..")
		}
	}
	return nil
}

// CheckPrefix reports what is wrong with a prefix given to List.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	folder, ok := strings.CutSuffix(prefix, "/")
	if !ok {
		return fmt.Errorf("prefix %.80q: end it with a slash", prefix)
	}
	return CheckKey(folder)
}

// CheckExpiry reports whether a link made now may expire at the given instant.
func CheckExpiry(now, expires time.Time) error {
	if !expires.After(now) || expires.After(now.Add(MaxLinkLife)) {
		return fmt.Errorf("a link made at %s can't expire at %s: choose an instant at most %s ahead",
			now.UTC().Format(time.RFC3339), expires.UTC().Format(time.RFC3339), MaxLinkLife)
	}
	return nil
}

func notInKey(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
}

func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// maxBufferBytes is how much of a file is in memory while it is copied.
const maxBufferBytes = 256 << 10

// Copy copies r, to its end, to w. It returns ErrMismatch when r is not what o declares, and as soon as r has yielded too much.
func Copy(ctx context.Context, w io.Writer, o Object, r io.Reader) error {
	sum := sha256.New()
	bounded := io.LimitReader(cancellable{ctx, r}, o.Size+1)
	size, err := io.CopyBuffer(io.MultiWriter(sum, w), bounded, make([]byte, min(maxBufferBytes, o.Size+1)))
	switch got := hex.EncodeToString(sum.Sum(nil)); {
	case err != nil:
		return err
	case size > o.Size:
		return fmt.Errorf("%w: more than %d bytes", ErrMismatch, o.Size)
	case size < o.Size:
		return fmt.Errorf("%w: %d of %d bytes", ErrMismatch, size, o.Size)
	case got != o.SHA256:
		return fmt.Errorf("%w: SHA-256 is %s, not %s", ErrMismatch, got, o.SHA256)
	}
	return nil
}

// cancellable is a reader that fails once ctx is done.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (c cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// maxFilenameBytes is what common file systems allow a name to have.
const maxFilenameBytes = 255

// Disposition returns a Content-Disposition value (RFC 6266) that makes a browser save a download under the
// given name. Names come from users: what could end the header, name a folder or disguise the ending is
// replaced by an underscore. A name beyond plain ASCII is given twice, the second time encoded by RFC 8187.
func Disposition(filename string) string {
	name := safeFilename(filename)
	plain := strings.Map(func(r rune) rune {
		if r == '"' || r == '\\' || r == '%' || r > '~' {
			return '_'
		}
		return r
	}, name)
	if plain == name {
		return `attachment; filename="` + name + `"`
	}
	encoded := strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
	return `attachment; filename="` + plain + `"; filename*=UTF-8''` + encoded
}

func safeFilename(filename string) string {
	name := strings.Map(func(r rune) rune {
		// unicode.Cf holds the characters that turn the direction of writing, so that "gpj.exe" shows as "exe.jpg".
		if r == '/' || r == '\\' || r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '_'
		}
		return r
	}, filename)
	if len(name) > maxFilenameBytes {
		cut := maxFilenameBytes
		for !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut]
	}
	if strings.Trim(name, ". ") == "" {
		return "download"
	}
	return name
}
