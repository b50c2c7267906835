package s3

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"assay/shared/storage/blob"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
)

// SignGet implements blob.Store. Links with a life of less than an hour are equal if file, expiry and credentials are equal.
func (s *Store) SignGet(ctx context.Context, key, filename, mediaType string, expires time.Time) (blob.Link, error) {
	now := s.now()
	if err := cmp.Or(blob.CheckKey(key), blob.CheckMediaType(mediaType), blob.CheckExpiry(now, expires)); err != nil {
		return blob.Link{}, err
	}
	in := &sdk.GetObjectInput{Bucket: &s.bucket, Key: &key, ResponseContentDisposition: new(blob.Disposition(filename))}
	if mediaType != "" {
		in.ResponseContentType = &mediaType
	}
	valid := validityOf(now, expires)
	signed, err := s.presigner.PresignGetObject(ctx, in, valid.sign)
	return valid.link(key, signed, err)
}

// Origin returns the origin of signed links, such as https://bucket.s3.eu-west-1.amazonaws.com.
func (s *Store) Origin(ctx context.Context) (string, error) {
	l, err := s.SignGet(ctx, "origin", "", "", s.now().Add(time.Minute))
	if err != nil {
		return "", err
	}
	u, err := url.Parse(l.URL)
	if err != nil {
		return "", err
	}
	return u.Scheme + "://" + u.Host, nil
}

// SignPut implements blob.Store. S3 itself refuses other bytes: the signature covers headers with length, SHA-256 and media type, and
// the condition that nothing is stored yet. The SHA-256 must be in a header, because S3 ignores it in the query.
func (s *Store) SignPut(ctx context.Context, o blob.Object, expires time.Time) (blob.Link, error) {
	now := s.now()
	if err := cmp.Or(o.Check(), blob.CheckExpiry(now, expires)); err != nil {
		return blob.Link{}, err
	}
	valid := validityOf(now, expires)
	in := s.declare(o, nil)
	in.IfNoneMatch = aws.String("*") // a second upload with the link makes no further version
	signed, err := s.presigner.PresignPutObject(ctx, in, valid.sign, signMediaType)
	return valid.link(o.Key, signed, err)
}

// signMediaType keeps the SDK from dropping the media type of an empty file.
var signMediaType = sdk.WithPresignClientFromClientOptions(sdk.WithAPIOptions(func(stack *middleware.Stack) error {
	_, err := stack.Build.Remove("RemoveContentTypeHeader")
	return err
}))

// validity is the period in which a link is valid. S3 counts it in whole seconds from the time of signing. from is a whole number of
// hours before until. So from is in the past, as S3 demands, and links with the same end are equal.
type validity struct {
	from, until time.Time
	// credentials is the expiry of the signer's credentials, which also ends the link. It is zero if the expiry is unknown, for example
	// for credentials in the environment of a Lambda function. Such a link may end early; then the client asks for another one.
	credentials time.Time
}

func validityOf(now, expires time.Time) *validity {
	until := expires.UTC().Truncate(time.Second)
	from := until.Add(-time.Hour)
	for from.After(now) {
		from = from.Add(-time.Hour)
	}
	return &validity{from: from, until: until}
}

func (s *validity) sign(o *sdk.PresignOptions) {
	o.Expires = s.until.Sub(s.from)
	o.Presigner = &datedSigner{o.Presigner, s}
}

// datedSigner signs with the start of the validity as the time.
type datedSigner struct {
	sdk.HTTPPresignerV4
	valid *validity
}

// PresignHTTP implements sdk.HTTPPresignerV4.
func (d *datedSigner) PresignHTTP(ctx context.Context, c aws.Credentials, r *http.Request, payloadHash, service, region string,
	_ time.Time, options ...func(*v4.SignerOptions),
) (string, http.Header, error) {
	if c.CanExpire {
		d.valid.credentials = c.Expires
	}
	return d.HTTPPresignerV4.PresignHTTP(ctx, c, r, payloadHash, service, region, d.valid.from, options...)
}

func (s *validity) link(key string, signed *v4.PresignedHTTPRequest, err error) (blob.Link, error) {
	if err != nil {
		return blob.Link{}, fmt.Errorf("sign a link to file %s: %w", key, err)
	}
	link := blob.Link{Method: signed.Method, URL: signed.URL, ExpiresAt: s.until}
	if !s.credentials.IsZero() && s.credentials.Before(s.until) {
		link.ExpiresAt = s.credentials
	}
	for name := range signed.SignedHeader {
		if name == "Host" || name == "Content-Length" { // HTTP clients set them
			continue
		}
		if link.Headers == nil {
			link.Headers = map[string]string{}
		}
		link.Headers[name] = signed.SignedHeader.Get(name)
	}
	return link, nil
}
