package directory

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"assay/shared/storage/blob"
	"assay/shared/storage/durable"
)

const (
	keyBytes    = 32
	linkKeyName = "link.key"
)

// linkKey reads the key that signs links. It creates the key if it is missing.
func linkKey(root string) ([]byte, error) {
	path := filepath.Join(root, linkKeyName)
	key, err := os.ReadFile(path)
	if err == nil && len(key) != keyBytes {
		return nil, fmt.Errorf("key file %s has %d bytes, not %d: remove it to have a new one made; links handed out before then stop working",
			path, len(key), keyBytes)
	}
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key = make([]byte, keyBytes)
	rand.Read(key)
	if err = durable.WriteBytes(root, path, key); err != nil {
		return nil, fmt.Errorf("make a key for links: %w", err)
	}
	return key, nil
}

// Parameters of a link. The signature covers all parameters, the method and the key.
const (
	paramExpires   = "expires" // Unix nanoseconds
	paramFilename  = "filename"
	paramMediaType = "mediaType"
	paramSize      = "size"
	paramSHA256    = "sha256"
	paramSignature = "signature"
)

// SignGet implements blob.Store.
func (s *Store) SignGet(_ context.Context, key, filename, mediaType string, expires time.Time) (blob.Link, error) {
	if err := cmp.Or(blob.CheckKey(key), blob.CheckMediaType(mediaType), blob.CheckExpiry(s.Now(), expires)); err != nil {
		return blob.Link{}, err
	}
	query := url.Values{paramFilename: {filename}}
	if mediaType != "" {
		query.Set(paramMediaType, mediaType)
	}
	return s.link(http.MethodGet, key, query, expires), nil
}

// SignPut implements blob.Store.
func (s *Store) SignPut(_ context.Context, o blob.Object, expires time.Time) (blob.Link, error) {
	if err := cmp.Or(o.Check(), blob.CheckExpiry(s.Now(), expires)); err != nil {
		return blob.Link{}, err
	}
	o.MediaType = cmp.Or(o.MediaType, blob.DefaultMediaType)
	link := s.link(http.MethodPut, o.Key, url.Values{
		paramSize:      {strconv.FormatInt(o.Size, 10)},
		paramSHA256:    {o.SHA256},
		paramMediaType: {o.MediaType},
	}, expires)
	link.Headers = map[string]string{"Content-Type": o.MediaType}
	return link, nil
}

func (s *Store) link(method, key string, query url.Values, expires time.Time) blob.Link {
	query.Set(paramExpires, strconv.FormatInt(expires.UnixNano(), 10))
	query.Set(paramSignature, base64.RawURLEncoding.EncodeToString(s.mac(method, key, query)))
	return blob.Link{Method: method, URL: s.baseURL + "/" + key + "?" + query.Encode(), ExpiresAt: expires}
}

// mac returns the signature of a link. Methods and keys contain no line breaks, and Encode is deterministic, so different links are
// different messages.
func (s *Store) mac(method, key string, query url.Values) []byte {
	h := hmac.New(sha256.New, s.key)
	fmt.Fprintf(h, "assay file link\n%s\n%s\n%s", method, key, query.Encode())
	return h.Sum(nil)
}

var (
	errSignature = errors.New("signature does not match")
	errExpired   = errors.New("link has expired")
)

// verify checks the signature of a request and returns its parameters. It also returns them with errExpired.
func (s *Store) verify(method, key, rawQuery string) (url.Values, error) {
	query, err := url.ParseQuery(rawQuery)
	if err != nil {
		return nil, errSignature
	}
	given, err := base64.RawURLEncoding.Strict().DecodeString(query.Get(paramSignature))
	if err != nil || len(query[paramSignature]) != 1 {
		return nil, errSignature
	}
	query.Del(paramSignature)
	if !hmac.Equal(given, s.mac(method, key, query)) {
		return nil, errSignature
	}
	if !s.Now().Before(linkExpiry(query)) {
		return query, errExpired
	}
	return query, nil
}

// linkExpiry returns the expiry in parameters that verify has accepted.
func linkExpiry(query url.Values) time.Time {
	ns, _ := strconv.ParseInt(query.Get(paramExpires), 10, 64)
	return time.Unix(0, ns)
}

func upload(key string, query url.Values) blob.Object {
	size, _ := strconv.ParseInt(query.Get(paramSize), 10, 64)
	return blob.Object{Key: key, Size: size, SHA256: query.Get(paramSHA256), MediaType: query.Get(paramMediaType)}
}
