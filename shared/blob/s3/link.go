package s3

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"assay/shared/blob"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
)

// SignGet implements blob.Store. Links of less than an hour for the same file and expiry are equal as long as the
// credentials are the same.
func (s *Store) SignGet(ctx context.Context, key, filename, mediaType string, expires time.Time) (blob.Link, error) {
	now := s.now()
	if err := cmp.Or(blob.CheckKey(key), blob.CheckMediaType(mediaType), blob.CheckExpiry(now, expires)); err != nil {
		return blob.Link{}, err
	}
	in := &sdk.GetObjectInput{Bucket: &s.bucket, Key: &key, ResponseContentDisposition: new(blob.Disposition(filename))}
	if mediaType != "" {
		in.ResponseContentType = &mediaType
	}
	span := spanOf(now, expires)
	signed, err := s.links.PresignGetObject(ctx, in, span.sign)
	return span.link(key, signed, err)
}

// SignPut implements blob.Store. S3 itself refuses other bytes: their length, SHA-256 and media type are
// headers that the signature covers, as is the condition that nothing is stored yet. A SHA-256 in the query would be signed as well, but S3
// doesn't look at it there.
func (s *Store) SignPut(ctx context.Context, o blob.Object, expires time.Time) (blob.Link, error) {
	now := s.now()
	if err := cmp.Or(o.Check(), blob.CheckExpiry(now, expires)); err != nil {
		return blob.Link{}, err
	}
	span := spanOf(now, expires)
	in := s.declare(o, nil)
	in.IfNoneMatch = aws.String("*") // a link that is used again makes no further version
	signed, err := s.links.PresignPutObject(ctx, in, span.sign, signMediaType)
	return span.link(o.Key, signed, err)
}

// signMediaType keeps the SDK from leaving out the media type of an empty file.
var signMediaType = sdk.WithPresignClientFromClientOptions(sdk.WithAPIOptions(func(stack *middleware.Stack) error {
	_, err := stack.Build.Remove("RemoveContentTypeHeader")
	return err
}))

// span is when a link is valid. S3 counts from the instant of signing, in whole seconds. That instant is put a whole number
// of hours before the end: then it has passed, as S3 demands, and links to the same end are the same link.
type span struct {
	from, until time.Time
	// credentials is the end of the signer's credentials, which ends the link too, or zero if that is not known. Those that
	// Lambda gives a function in its environment don't tell: a link may end early, and asking again gives another.
	credentials time.Time
}

func spanOf(now, expires time.Time) *span {
	until := expires.UTC().Truncate(time.Second)
	from := until.Add(-time.Hour)
	for from.After(now) {
		from = from.Add(-time.Hour)
	}
	return &span{from: from, until: until}
}

func (s *span) sign(o *sdk.PresignOptions) {
	o.Expires = s.until.Sub(s.from)
	o.Presigner = &datedSigner{o.Presigner, s}
}

// datedSigner signs as of the start of a span.
type datedSigner struct {
	sdk.HTTPPresignerV4
	span *span
}

// PresignHTTP implements sdk.HTTPPresignerV4.
func (d *datedSigner) PresignHTTP(ctx context.Context, c aws.Credentials, r *http.Request, payloadHash, service, region string,
	_ time.Time, options ...func(*v4.SignerOptions),
) (string, http.Header, error) {
	if c.CanExpire {
		d.span.credentials = c.Expires
	}
	return d.HTTPPresignerV4.PresignHTTP(ctx, c, r, payloadHash, service, region, d.span.from, options...)
}

func (s *span) link(key string, signed *v4.PresignedHTTPRequest, err error) (blob.Link, error) {
	if err != nil {
		return blob.Link{}, fmt.Errorf("sign a link to file %s: %w", key, err)
	}
	link := blob.Link{Method: signed.Method, URL: signed.URL, ExpiresAt: s.until}
	if !s.credentials.IsZero() && s.credentials.Before(s.until) {
		link.ExpiresAt = s.credentials
	}
	for name := range signed.SignedHeader {
		if name == "Host" || name == "Content-Length" { // which every HTTP client sets itself
			continue
		}
		if link.Headers == nil {
			link.Headers = map[string]string{}
		}
		link.Headers[name] = signed.SignedHeader.Get(name)
	}
	return link, nil
}
