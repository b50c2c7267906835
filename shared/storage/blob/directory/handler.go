package directory

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"assay/shared/language/problem"
	"assay/shared/language/wait"
	"assay/shared/storage/blob"
	"assay/shared/storage/diskfull"
)

const (
	newLink    = "Ask for its resource again to get a new link."
	unreadable = "The file could not be read. Try again later. If it stays so, tell those who run this server."
)

// Handler serves the links that the store signs. Mount it under the path of the base URL with http.StripPrefix.
//
// It calls complete with the key of each upload after the file is durable and before it answers. Another upload of a stored file is
// answered with 412, like under S3, and also calls complete, because the first call may have failed. If complete returns
// blob.ErrNotFound, no record waits for the file, and the handler removes it. After any other error the answer tells the client to try
// again. A client that disconnects does not cancel the call.
//
// expected reports whether a record waits for the file of a key. The handler calls it every few seconds during an upload, and ends the
// upload when it returns false, because no quota counts these bytes any more.
//
// fail answers a request with a *problem.Error.
//
// A transfer may take any time while it makes progress, because the handler extends the deadlines of the http.Server. For that, an
// http.ResponseWriter that wraps the server's must have the method Unwrap of http.ResponseController.
func (s *Store) Handler(complete func(ctx context.Context, key string) error, expected func(ctx context.Context, key string) bool,
	fail func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
		w.Header().Set("Cache-Control", "no-store")
		key := strings.TrimPrefix(r.URL.Path, "/")
		var err error
		switch r.Method {
		case http.MethodGet, http.MethodHead:
			err = s.serveGet(w, r, key, fail)
		case http.MethodPut:
			err = s.servePut(w, r, key, complete, expected)
			// The server's write deadline has been running since the upload began. If it cannot be extended, the connection is lost, and
			// with it the answer.
			_ = extendDeadline(http.NewResponseController(w).SetWriteDeadline, s.stallTimeout)
		default:
			w.Header().Set("Allow", "GET, HEAD, PUT")
			err = problem.MethodNotAllowed.New("A file can be read with GET or HEAD and uploaded with PUT, each with its own link.")
		}
		if err != nil {
			fail(w, r, err)
		}
	})
}

func (s *Store) serveGet(w http.ResponseWriter, r *http.Request, key string, fail func(http.ResponseWriter, *http.Request, error)) error {
	query, err := s.verify(http.MethodGet, key, r.URL.RawQuery)
	if err != nil {
		return refuse(err, query)
	}
	f, err := s.open(key)
	if errors.Is(err, blob.ErrNotFound) {
		return problem.NotFound.New("This file is not stored: it was not uploaded yet, or it was deleted. %s", newLink)
	}
	if err != nil {
		return problem.Internal.Wrap(err, unreadable)
	}
	defer f.disk.Close()
	h := w.Header()
	h.Set("Content-Type", cmp.Or(query.Get(paramMediaType), f.object.MediaType))
	h.Set("Content-Disposition", blob.Disposition(query.Get(paramFilename)))
	h.Set("Cache-Control", "private, no-cache") // the entity tag makes revalidation cheap
	h.Set("ETag", `"`+f.object.SHA256+`"`)
	http.ServeContent(&download{ResponseWriter: w, r: r, stall: s.stallTimeout, fail: fail}, r, "", time.Time{}, f)
	return nil
}

func (s *Store) servePut(w http.ResponseWriter, r *http.Request, key string, complete func(context.Context, string) error,
	expected func(context.Context, string) bool) error {
	query, err := s.verify(http.MethodPut, key, r.URL.RawQuery)
	if err != nil {
		return refuse(err, query)
	}
	o := upload(key, query)
	switch {
	case r.ContentLength < 0:
		return problem.LengthRequired.New("Send the file with a Content-Length of %d, not chunked.", o.Size)
	case r.ContentLength > o.Size:
		return problem.TooLarge.New("The file was declared with %s, but Content-Length is %d. Upload the declared file, or declare this one.",
			problem.Size(o.Size), r.ContentLength)
	case r.ContentLength < o.Size:
		return problem.BadRequest.New("The file was declared with %s, but Content-Length is %d. Upload the declared file, or declare this one.",
			problem.Size(o.Size), r.ContentLength)
	case r.Header.Get("Content-Type") != o.MediaType:
		return problem.BadRequest.New("Send the header `Content-Type: %s`, as the link says.", o.MediaType)
	}
	body := &uploadBody{body: r.Body, control: http.NewResponseController(w), stall: s.stallTimeout}
	again, err := s.receive(r.Context(), o, body, r.Header.Get("If-Match") != "", expected)
	if body.ended {
		w.Header().Set("Connection", "close") // its read deadline has passed
	}
	switch {
	case err == nil:
	case errors.Is(err, errNotStored):
		return err
	case errors.Is(err, blob.ErrMismatch):
		return problem.Invalid.Wrap(err,
			"The bytes are not those of the declared file: their SHA-256 is not %s. Upload the declared file, or declare this one.", o.SHA256)
	case body.err != nil || r.Context().Err() != nil:
		return problem.BadRequest.Wrap(err, "The upload broke off before its end, and nothing was stored. Upload the file again.")
	case diskfull.Problem(err) != nil:
		return diskfull.Problem(err)
	default:
		return problem.Internal.Wrap(err, "The file could not be stored. Try again later. If it stays so, tell those who run this server.")
	}
	ctx := context.WithoutCancel(r.Context())
	err = complete(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		if err := s.Delete(ctx, key); err != nil {
			return problem.Internal.Wrap(err, "Nobody waits for this file any more, and it could not be removed.")
		}
		return problem.NotFound.New("Nobody waits for this file any more: what it belongs to was deleted, or has failed meanwhile.")
	}
	if err != nil {
		return problem.Unavailable.Wrap(err, "The file is stored, but could not be recorded. Upload it again.").After(time.Second)
	}
	if again {
		return problem.PreconditionFailed.New("The file is stored already, and stays as it is. If you sent it before and got no answer, it has " +
			"arrived: go on.")
	}
	w.Header().Set("ETag", `"`+o.SHA256+`"`)
	w.WriteHeader(http.StatusOK)
	return nil
}

var errNotStored = problem.PreconditionFailed.New("The file is not stored yet, so it has no entity tag that `If-Match` could name. Leave " +
	"that header out.")

// receive stores the body of an upload. again reports that the file is already stored.
func (s *Store) receive(ctx context.Context, o blob.Object, body *uploadBody, mustExist bool,
	expected func(context.Context, string) bool) (again bool, err error) {
	end := s.inProgress.begin(o.Key, body)
	defer end()
	stop := body.watch(ctx, s.expectedPollInterval, func() bool { return expected(ctx, o.Key) })
	defer stop()
	_, err = s.Stat(ctx, o.Key)
	switch {
	case err == nil:
		_, err = io.Copy(io.Discard, body) // a client that is still sending would not see the answer
		return true, err
	case errors.Is(err, blob.ErrNotFound) && mustExist:
		err = errNotStored
	case errors.Is(err, blob.ErrNotFound):
		err = s.Put(ctx, o, body)
	}
	return false, err
}

func refuse(err error, query url.Values) error {
	if errors.Is(err, errExpired) {
		return problem.Forbidden.New("This link expired at %s. %s", linkExpiry(query), newLink)
	}
	return problem.Forbidden.New("This link is not valid: it was altered, cut off, or made for another method. Use it exactly as it was " +
		"given.")
}

// extendDeadline sets a deadline of the connection to stall from now. It ignores writers without a connection, such as those of tests.
func extendDeadline(setDeadline func(time.Time) error, stall time.Duration) error {
	if err := setDeadline(time.Now().Add(stall)); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}

// download is the answer to a GET. It extends the deadline for each write by stall, and converts the plain-text errors of
// http.ServeContent to problems.
type download struct {
	http.ResponseWriter
	r      *http.Request
	stall  time.Duration
	fail   func(http.ResponseWriter, *http.Request, error)
	failed bool
}

func (d *download) WriteHeader(status int) {
	if status < 400 {
		d.ResponseWriter.WriteHeader(status)
		return
	}
	d.failed = true
	for _, name := range []string{"Content-Type", "Content-Length", "Content-Disposition", "ETag"} {
		d.Header().Del(name)
	}
	d.Header().Set("Cache-Control", "no-store")
	err := problem.Internal.New(unreadable)
	switch status {
	case http.StatusRequestedRangeNotSatisfiable:
		err = problem.RangeNotSatisfiable.New("The file does not have the bytes that `Range` asks for; `Content-Range` says how many it has.")
	case http.StatusPreconditionFailed:
		err = problem.PreconditionFailed.New("The file is another one than `If-Match` names. Leave that header out to get the present one.")
	}
	d.fail(d.ResponseWriter, d.r, err)
}

func (d *download) Write(p []byte) (int, error) {
	if d.failed {
		return len(p), nil
	}
	if err := extendDeadline(http.NewResponseController(d.ResponseWriter).SetWriteDeadline, d.stall); err != nil {
		return 0, err
	}
	return d.ResponseWriter.Write(p)
}

// errEnded ends an upload whose file is uploaded again or is no longer expected.
var errEnded = errors.New("the file is sent again by another request, or no longer expected")

// uploadBody is the body of an upload. It extends the deadline for each read by stall. It records errors of the connection, to
// distinguish them from errors of the disk.
type uploadBody struct {
	body    io.Reader
	control *http.ResponseController
	stall   time.Duration
	err     error

	mu    sync.Mutex // protects the read deadline and ended
	ended bool
}

func (in *uploadBody) Read(p []byte) (int, error) {
	if in.err = in.extend(); in.err != nil {
		return 0, in.err
	}
	n, err := in.body.Read(p)
	if err != nil && err != io.EOF {
		in.err = err
	}
	return n, err
}

// extend extends the read deadline of the connection, unless the upload was ended.
func (in *uploadBody) extend() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended {
		return errEnded
	}
	return extendDeadline(in.control.SetReadDeadline, in.stall)
}

// end ends the upload, even while it waits for bytes.
func (in *uploadBody) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	_ = extendDeadline(in.control.SetReadDeadline, 0) // if that fails, the next Read fails
}

// watch checks at the interval whether the upload is still expected, and ends the upload if it is not. Calling end stops the checks.
func (in *uploadBody) watch(ctx context.Context, interval time.Duration, expected func() bool) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for wait.Sleep(ctx, interval) {
			if !expected() {
				in.end()
				return
			}
		}
	}()
	return func() {
		cancel()
		<-stopped // afterwards the connection may serve another request
	}
}

// uploadsInProgress holds the upload in progress for each key. There is at most one, so that the holder of a link cannot write the file
// over many connections at once. A new upload ends the previous one, which probably belongs to a client whose connection broke.
type uploadsInProgress struct {
	mu    sync.Mutex
	byKey map[string]*uploadBody
}

// begin registers the upload for its key. end removes it again.
func (a *uploadsInProgress) begin(key string, in *uploadBody) (end func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byKey == nil {
		a.byKey = map[string]*uploadBody{}
	}
	if before := a.byKey[key]; before != nil {
		before.end()
	}
	a.byKey[key] = in
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.byKey[key] == in {
			delete(a.byKey, key)
		}
	}
}

// end ends the upload in progress for a key, if there is one.
func (a *uploadsInProgress) end(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if in := a.byKey[key]; in != nil {
		in.end()
	}
}
