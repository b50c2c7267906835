// Package blob is the contract of the object store. A directory and S3 both implement it. Clients upload and download with signed links,
// so that the bytes do not pass through the API.
//
// The contract contains only what both implementations can do. A file is complete or absent: a Put or a signed PUT that fails, or whose
// bytes are wrong, leaves nothing behind. Size and SHA-256 are declared first and checked while the bytes arrive, so Stat reports
// verified values. There are no partial writes, no appends and no renames.
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

// Limits of every implementation. They are S3's limits, with room for a prefix before the key.
const (
	MaxKeyBytes       = 512
	MaxMediaTypeBytes = 255
	MaxSize           = 5 << 30            // greatest size of a single PUT in S3
	MaxLinkLife       = 7 * 24 * time.Hour // longest life of a presigned URL in S3
)

// DefaultMediaType is the media type of a file that declares none.
const DefaultMediaType = "application/octet-stream"

// mediaTypes lists the usual media types of Assay's files. Package mime is not used, because its list differs between machines.
var mediaTypes = map[string]string{
	".csv": "text/csv", ".gz": "application/gzip", ".json": "application/json", ".jsonl": "application/jsonl", ".md": "text/markdown",
	".qrels": "text/plain", ".run": "text/plain", ".trec": "text/plain", ".tsv": "text/tab-separated-values", ".txt": "text/plain",
	".xml": "application/xml", ".zip": "application/zip",
}

// MediaTypeOf returns the media type of a file by its extension.
func MediaTypeOf(name string) string {
	return cmp.Or(mediaTypes[strings.ToLower(path.Ext(name))], DefaultMediaType)
}

var (
	// ErrNotFound means that nothing is stored under the key.
	ErrNotFound = errors.New("no file is stored under this key")
	// ErrMismatch means that the bytes have another size or SHA-256 than declared. Nothing was stored.
	ErrMismatch = errors.New("the bytes differ from the declared size or SHA-256")
)

// Digest is a SHA-256 as 64 lower-case hexadecimal digits.
type Digest = string

// Object is a stored file, or the declaration of one before its upload.
type Object struct {
	Key       string
	Size      int64
	SHA256    Digest
	MediaType string // of the whole file; an empty declaration means DefaultMediaType
}

// Link lets its holder make one kind of request without further credentials.
type Link struct {
	Method string
	URL    string // absolute
	// Headers must be sent with the request unchanged. They do not include Content-Length, because HTTP clients set it. For an upload it
	// must be the declared size; chunked bodies are refused.
	Headers map[string]string
	// ExpiresAt is the time from which the link is refused. It is never later than requested.
	ExpiresAt time.Time
}

// Store stores files. All methods may be called concurrently.
type Store interface {
	// Put reads r to its end and stores the bytes durably under o.Key. It replaces an existing file. It returns ErrMismatch if the size
	// or SHA-256 of the bytes differs from o. After that error, or an error of r, the existing file is unchanged. After any other error,
	// either the existing or the new file is stored completely.
	Put(ctx context.Context, o Object, r io.Reader) error

	// Open returns the bytes stored under key, or ErrNotFound. A later Put or Delete does not affect the reader.
	Open(ctx context.Context, key string) (io.ReadCloser, error)

	// Stat returns the file stored under key, with its verified size and digest, or ErrNotFound.
	Stat(ctx context.Context, key string) (Object, error)

	// Delete removes the files stored under keys. A missing file is no error.
	Delete(ctx context.Context, keys ...string) error

	// List yields the keys under prefix whose files were stored before the given time, in no particular order. It serves to find files
	// that no record names. The prefix is empty or ends in a slash. Files that are stored or deleted meanwhile may be missing. The
	// sequence ends after an error.
	//
	// To continue an interrupted listing, pass the last handled key as after. List may then leave out keys that an earlier List yielded
	// up to that key. S3 lists in the order of keys and leaves them out. A directory has no order and begins again.
	List(ctx context.Context, prefix, after string, before time.Time) iter.Seq2[string, error]

	// SignGet returns a link that downloads the file under key. The file may still be missing. The answer makes browsers save the file,
	// never show it, with the given file name and media type. An empty media type means the stored one. The link also serves byte
	// ranges.
	SignGet(ctx context.Context, key, filename, mediaType string, expires time.Time) (Link, error)

	// SignPut returns a link that uploads exactly o, and only if no file is stored under the key. The PUT is answered with 2xx after the
	// file is durable and verified. It is answered with 412 if a file is already stored, which remains unchanged, and with another 4xx
	// if the bytes differ from o. A client that repeats an upload because it got no answer treats 412 as success.
	SignPut(ctx context.Context, o Object, expires time.Time) (Link, error)
}

// Check returns an error if the declaration is invalid.
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

// CheckMediaType returns an error if a media type is invalid (RFC 9110, section 8.3.1). The empty media type is valid.
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

// CheckKey returns an error if a key is invalid. A key has at most MaxKeyBytes. Its slash-separated segments consist of ASCII letters,
// digits, '.', '_' and '-', and are not empty, "." or "..".
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

// CheckPrefix returns an error if a prefix for List is invalid.
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

// CheckExpiry returns an error if a link that is made now may not expire at the given time.
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

// maxBufferBytes is the size of the buffer of Copy.
const maxBufferBytes = 256 << 10

// Copy copies r to w until the end of r. It returns ErrMismatch if r differs from o, without reading further than one byte too many.
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

// cancellable is a reader that fails after ctx is done.
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

// maxFilenameBytes is the greatest length of a file name in common file systems.
const maxFilenameBytes = 255

// Disposition returns a Content-Disposition value (RFC 6266) that makes a browser save a download under the given name. Users choose the
// names. Characters that could end the header, name a folder or disguise the extension become underscores. A name beyond plain ASCII
// appears twice, the second time encoded by RFC 8187.
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
		// unicode.Cf contains characters that change the direction of writing: with them "gpj.exe" appears as "exe.jpg".
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
