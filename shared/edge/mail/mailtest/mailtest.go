// Package mailtest is an SMTP server for tests. It keeps the e-mails that it receives.
package mailtest

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
)

// Received is an e-mail that the server received.
type Received struct {
	From, To   string // of the envelope
	Header     mail.Header
	Subject    string
	Text, HTML string
}

// Server is an SMTP server on this machine.
type Server struct {
	URL string

	t     testing.TB
	mu    sync.Mutex
	fails error
	all   []Received
}

// New starts a server that stops when the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "smtp://" + listener.Addr().String(), t: t}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{server: s}, nil }))
	server.Domain = "localhost"
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

// Fail makes the server refuse every further e-mail with the error; nil: accept them.
func (s *Server) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = err
}

// Take returns the e-mails that arrived since the last call.
func (s *Server) Take() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	s.all = nil
	return all
}

// session is one connection.
type session struct {
	server   *Server
	from, to string
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return nil
}

func (s *session) Data(r io.Reader) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.server.mu.Lock()
	defer s.server.mu.Unlock()
	if s.server.fails != nil {
		return s.server.fails
	}
	s.server.all = append(s.server.all, s.server.read(s.from, s.to, content))
	return nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// read parses an e-mail.
func (s *Server) read(from, to string, content []byte) Received {
	m := Received{From: from, To: to}
	msg, err := mail.ReadMessage(bytes.NewReader(content))
	if err != nil {
		s.t.Errorf("not an e-mail: %v\n%s", err, content)
		return m
	}
	m.Header = msg.Header
	m.Subject, _ = new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject"))
	_, parameters, err := mime.ParseMediaType(msg.Header.Get("Content-Type"))
	if err != nil {
		s.t.Errorf("%v\n%s", err, content)
	}
	for parts := multipart.NewReader(msg.Body, parameters["boundary"]); ; {
		part, err := parts.NextRawPart()
		if err != nil {
			return m
		}
		text, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			s.t.Errorf("%v\n%s", err, content)
		}
		switch kind, _, _ := mime.ParseMediaType(part.Header.Get("Content-Type")); kind {
		case "text/plain":
			m.Text = string(text)
		case "text/html":
			m.HTML = string(text)
		}
	}
}
