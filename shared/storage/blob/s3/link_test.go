package s3

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay/shared/storage/blob"
	"assay/shared/testing/nightlytest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func signedBy(c aws.Credentials) aws.Config {
	return aws.Config{
		Region:      "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return c, nil }),
	}
}

func newStore(cfg aws.Config, now time.Time) *Store {
	s := New(cfg, "files")
	s.now = func() time.Time { return now }
	return s
}

var plain = aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI"}

func output(size int64) blob.Object {
	return blob.Object{
		Key: "runs/1/output", Size: size, MediaType: "text/csv",
		SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	}
}

func query(t interface{ Fatal(...any) }, link blob.Link) url.Values {
	u, err := url.Parse(link.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query()
}

func TestLinks_ToTheSameEndAreTheSame(t *testing.T) {
	end := noon.Add(45 * time.Minute)
	links := map[blob.Object]string{}
	for _, now := range []time.Time{noon, noon.Add(time.Nanosecond), noon.Add(14*time.Minute + 59*time.Second), noon.Add(44 * time.Minute)} {
		s := newStore(signedBy(plain), now)
		get, err := s.SignGet(t.Context(), "runs/1/output", "run.csv", "text/csv", end)
		if err != nil {
			t.Fatal(err)
		}
		put, err := s.SignPut(t.Context(), output(3), end)
		if err != nil {
			t.Fatal(err)
		}
		for o, link := range map[blob.Object]blob.Link{{}: get, output(3): put} {
			if former, ok := links[o]; ok && former != link.URL {
				t.Errorf("at %s the link became\n%s from\n%s", now, link.URL, former)
			}
			links[o] = link.URL
		}
	}
	later, err := newStore(signedBy(plain), noon).SignGet(t.Context(), "runs/1/output", "run.csv", "text/csv", end.Add(time.Second))
	if err != nil || later.URL == links[blob.Object{}] {
		t.Errorf("a link to another end is the same: %s, %v", later.URL, err)
	}
}

// TestLinks_AreValidAtOnce checks that S3 accepts each link: it is signed in the past, and lives at most seven days.
func TestLinks_AreValidAtOnce(t *testing.T) {
	nightlytest.Check(t, func(t *rapid.T) {
		now := noon.Add(time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "now")))
		expires := now.Add(time.Duration(rapid.Int64Range(1, int64(blob.MaxLinkLife)).Draw(t, "life")))
		link, err := newStore(signedBy(plain), now).SignGet(context.Background(), "a", "a", "", expires)
		if err != nil {
			t.Fatal(err)
		}
		q := query(t, link)
		from, err := time.Parse("20060102T150405Z", q.Get("X-Amz-Date"))
		if err != nil {
			t.Fatal(err)
		}
		seconds, err := strconv.Atoi(q.Get("X-Amz-Expires"))
		if err != nil || seconds < 1 || seconds > 7*24*60*60 {
			t.Errorf("the life is %s seconds", q.Get("X-Amz-Expires"))
		}
		end := from.Add(time.Duration(seconds) * time.Second)
		if from.After(now) || end.After(expires) || expires.Sub(end) >= time.Second || !link.ExpiresAt.Equal(end) {
			t.Errorf("made at %s to expire at %s, the link counts from %s to %s and says %s", now, expires, from, end, link.ExpiresAt)
		}
	})
}

func TestSignPut_SignsWhatItAllows(t *testing.T) {
	s := newStore(signedBy(plain), noon)
	for size, signed := range map[int64]string{
		3: "content-length;content-type;host;if-none-match;x-amz-checksum-sha256",
		0: "content-type;host;if-none-match;x-amz-checksum-sha256", // the SHA-256 of no bytes implies the length
	} {
		link, err := s.SignPut(t.Context(), output(size), noon.Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		if got := query(t, link).Get("X-Amz-SignedHeaders"); got != signed {
			t.Errorf("%d bytes: signed are %s, want %s", size, got, signed)
		}
		if len(link.Headers) != 3 || link.Headers["If-None-Match"] != "*" || link.Headers["Content-Type"] != "text/csv" ||
			link.Headers["X-Amz-Checksum-Sha256"] != "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" {
			t.Errorf("%d bytes: headers are %v", size, link.Headers)
		}
	}
}

func TestSignGet_NamesTheFile(t *testing.T) {
	link, err := newStore(signedBy(plain), noon).SignGet(t.Context(), "a", "Läufe.csv", "text/csv; charset=utf-8", noon.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	q := query(t, link)
	if got := q.Get("response-content-disposition"); got != blob.Disposition("Läufe.csv") {
		t.Errorf("Content-Disposition is %q", got)
	}
	if got := q.Get("response-content-type"); got != "text/csv; charset=utf-8" {
		t.Errorf("Content-Type is %q", got)
	}
	if len(link.Headers) > 0 {
		t.Errorf("a browser would have to send %v", link.Headers)
	}
}

// TestLinks_EndWithTheCredentials signs with temporary credentials. Their session token must be part of the link.
func TestLinks_EndWithTheCredentials(t *testing.T) {
	c := plain
	c.SessionToken, c.CanExpire = "session", true
	for end, want := range map[time.Duration]time.Duration{30 * time.Minute: 30 * time.Minute, 2 * time.Hour: time.Hour} {
		c.Expires = noon.Add(time.Hour)
		link, err := newStore(signedBy(c), noon).SignPut(t.Context(), output(3), noon.Add(end))
		if err != nil {
			t.Fatal(err)
		}
		if !link.ExpiresAt.Equal(noon.Add(want)) || query(t, link).Get("X-Amz-Security-Token") != "session" {
			t.Errorf("link is %+v, want it to expire %s from now", link, want)
		}
	}
}

// service configures an endpoint for S3 only, like the environment variable AWS_ENDPOINT_URL_S3.
type service string

func (s service) GetServiceBaseEndpoint(_ context.Context, name string) (string, bool, error) {
	return string(s), name == "S3", nil
}

func TestNew_ReachesEachKindOfAddress(t *testing.T) {
	onAWS := signedBy(plain)
	withBase := signedBy(plain)
	withSource := signedBy(plain)
	withBase.BaseEndpoint = aws.String("http://gateway:7070")
	withSource.ConfigSources = []any{service("http://gateway:7071")}
	withBoth := withBase
	withBoth.ConfigSources = withSource.ConfigSources
	for name, test := range map[string]struct {
		cfg  aws.Config
		want string
	}{
		"on AWS":                 {onAWS, "https://files.s3.eu-central-1.amazonaws.com/a/b?"},
		"with an endpoint":       {withBase, "http://gateway:7070/files/a/b?"},
		"with an endpoint of S3": {withSource, "http://gateway:7071/files/a/b?"},
		"with both":              {withBoth, "http://gateway:7071/files/a/b?"},
	} {
		link, err := newStore(test.cfg, noon).SignGet(t.Context(), "a/b", "b", "", noon.Add(time.Hour))
		if err != nil || !strings.HasPrefix(link.URL, test.want) {
			t.Errorf("%s: %s, %v; want %s", name, link.URL, err, test.want)
		}
	}
}

func BenchmarkSignGet(b *testing.B) {
	s := newStore(signedBy(plain), noon)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.SignGet(b.Context(), "runs/1/output", "run.csv", "text/csv", noon.Add(time.Hour)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSignPut(b *testing.B) {
	s := newStore(signedBy(plain), noon)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.SignPut(b.Context(), output(3), noon.Add(time.Hour)); err != nil {
			b.Fatal(err)
		}
	}
}
