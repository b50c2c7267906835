// Package client is a client of the API of a server. It repeats requests that may succeed later, reads all pages of lists, returns problem
// documents as errors, and uploads and downloads files by links of the API.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"assay/shared/edge/jsoncheck"
	"assay/shared/language/clock"
	"assay/shared/language/lists"
	"assay/shared/language/problem"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/oklog/ulid/v2"
)

// Client sends requests to one server.
type Client struct {
	Base *url.URL
	// Token returns the bearer token of requests, or an empty string for anonymous requests. After a 401, Do calls it once with refused.
	Token func(ctx context.Context, refused bool) (string, error)
	// Words returns the text of a problem for the user. Without it, the text is in the words of the API.
	Words  func(*Problem) string
	http   *http.Client
	agent  string
	notify Notify
}

// Bounds of attempts and of the waits between them. Proxies and authorities come from the environment (HTTPS_PROXY, SSL_CERT_FILE).
const (
	attempts   = 6
	shortest   = 500 * time.Millisecond
	longest    = 15 * time.Second
	longestAsk = 60 * time.Second // longest Retry-After that is awaited
	silence    = 5 * time.Minute  // longest time until an answer begins
)

// New returns a client of the server at base. notify is called before each wait.
func New(base *url.URL, agent string, notify Notify) *Client {
	usual := retryablehttp.NewClient().HTTPClient.Transport
	return &Client{
		Base: base, agent: agent, notify: notify,
		Token: func(context.Context, bool) (string, error) { return "", nil },
		http:  &http.Client{Transport: patient(usual), CheckRedirect: withoutToken},
	}
}

// Problem is the error of an answer with a problem document (RFC 9457).
type Problem struct {
	problem.Document
	words func(*Problem) string
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ")

// OneLine returns the text with blanks in place of line breaks and tabs.
func OneLine(text string) string { return lineBreaks.Replace(text) }

// Error returns the problem in the words of the client, or in the words of the API.
func (p *Problem) Error() string {
	if p.words != nil {
		return p.words(p)
	}
	return strings.Join(append([]string{OneLine(p.Detail)},
		lists.Map(p.Errors, func(f problem.Field) string { return f.Pointer + ": " + OneLine(f.Detail) })...), "\n")
}

// LocalTime returns an instant of the API in the local time zone, with the zone. ok is false for any other text.
func LocalTime(text string) (local string, ok bool) {
	at, err := time.Parse(time.RFC3339, text)
	return clock.Local(at), err == nil
}

// IsKind reports whether err is a problem of one of the kinds.
func IsKind(err error, kinds ...*problem.Kind) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && slices.ContainsFunc(kinds, func(k *problem.Kind) bool { return p.Type == k.Type() })
}

// Request is a request to the API.
type Request struct {
	Method string
	Path   string // below the server, with its query
	Body   any
	Known  string // entity tag of an earlier answer to a GET; the answer is 304 if it is still current
}

// Answer is a successful answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request. It repeats the request while it may succeed later, and once with another token if the first was refused.
func (c *Client) Do(ctx context.Context, r Request) (*Answer, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = json.Marshal(r.Body); err != nil {
			return nil, err
		}
	}
	key := ulid.Make().String()
	for refused := false; ; refused = true {
		res, err := c.send(ctx, r, body, key, refused)
		if _, ok := errors.AsType[*fault](err); ok {
			return nil, fmt.Errorf("%s cannot be reached: %w", c.Base, err)
		}
		if err != nil {
			return nil, err
		}
		if res.StatusCode == http.StatusUnauthorized && !refused {
			_ = res.Body.Close()
			continue
		}
		return c.read(res)
	}
}

func (c *Client) send(ctx context.Context, r Request, body []byte, key string, refused bool) (*http.Response, error) {
	to, err := c.Base.Parse(r.Path)
	if err != nil {
		return nil, err
	}
	if to.Scheme != c.Base.Scheme || to.Host != c.Base.Host {
		return nil, fmt.Errorf("%s is not on this server", to)
	}
	q, err := retryablehttp.NewRequestWithContext(ctx, r.Method, to.String(), body)
	if err != nil {
		return nil, err
	}
	token, err := c.Token(ctx, refused)
	if err != nil {
		return nil, err
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	q.Header.Set("User-Agent", c.agent)
	if r.Known != "" {
		q.Header.Set("If-None-Match", r.Known)
	}
	switch r.Method {
	case http.MethodPost:
		q.Header.Set("Content-Type", "application/json")
		q.Header.Set("Idempotency-Key", key)
	case http.MethodPatch:
		q.Header.Set("Content-Type", "application/merge-patch+json")
	}
	return c.do(q)
}

// mostBytes bounds an answer in JSON. Pages have at most some MB.
const mostBytes = 64 << 20

func (c *Client) read(res *http.Response) (*Answer, error) {
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, mostBytes+1))
	if err == nil && (len(body) > mostBytes || jsoncheck.Deep(body)) { // Indenting deep JSON would take gigabytes.
		err = fmt.Errorf("it has more than %d MiB or %d levels", mostBytes>>20, jsoncheck.MaxDepth)
	}
	if err != nil {
		return nil, fmt.Errorf("the answer of %s cannot be read: %w", res.Request.URL.Host, err)
	}
	if res.StatusCode < 400 {
		return &Answer{res.StatusCode, res.Header, body}, nil
	}
	p := &Problem{words: c.Words}
	if json.Unmarshal(body, p) != nil || p.Detail == "" {
		p.Detail = fmt.Sprintf("%s answered %s: is it a server of Assay?", res.Request.URL.Host, res.Status)
		if res.StatusCode == http.StatusBadRequest && res.Request.URL.Scheme == "http" && bytes.Contains(body, []byte("HTTPS")) {
			p.Detail = "It answers only to https. Use https://" + res.Request.URL.Host + "."
		}
	}
	return nil, p
}

// Call sends a request and decodes the answer. It returns the zero value for an answer without content.
func Call[T any](ctx context.Context, c *Client, method, path string, body any) (value T, err error) {
	a, err := c.Do(ctx, Request{Method: method, Path: path, Body: body})
	return decode[T](c, a, err)
}

func decode[T any](c *Client, a *Answer, err error) (value T, _ error) {
	if err != nil || len(a.Body) == 0 {
		return value, err
	}
	if err = json.Unmarshal(a.Body, &value); err != nil {
		err = fmt.Errorf("the answer of %s is not an answer of the API: is it a server of Assay? %w", c.Base, err)
	}
	return value, err
}

// Get is Call with GET.
func Get[T any](ctx context.Context, c *Client, path string) (T, error) {
	return Call[T](ctx, c, http.MethodGet, path, nil)
}

// List returns the resources of all pages of a list.
func List[T any](ctx context.Context, c *Client, path string) (all []T, err error) {
	for size := 0; path != ""; {
		a, err := c.Do(ctx, Request{Method: http.MethodGet, Path: path})
		p, err := decode[struct {
			Data  []T
			Links struct{ Next string }
		}](c, a, err)
		if err != nil {
			return nil, err
		}
		size += len(a.Body)
		if size > 4*mostBytes || len(p.Data) == 0 && p.Links.Next != "" {
			return nil, fmt.Errorf("%s answers a list without an end: is it a server of Assay?", c.Base)
		}
		all, path = append(all, p.Data...), p.Links.Next
	}
	return all, nil
}

// Path joins segments, each escaped, below /v1.
func Path(segments ...string) string {
	path := "/v1"
	for _, s := range segments {
		path += "/" + url.PathEscape(s)
	}
	return path
}

// Query adds parameters to a path. The pairs are names and values. Parameters with an empty value are left out.
func Query(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return strings.TrimSuffix(path+"?"+q.Encode(), "?")
}
