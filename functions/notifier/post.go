package notifier

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"assay/shared/domain/record"
	"assay/shared/edge/publicip"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	attemptTime = 10 * time.Second // in which a receiver must answer
	claimTime   = time.Minute      // after which an attempt without a known result is repeated
	maxAnswer   = 16 << 10         // bytes of an answer that are read, so that the connection can be used again
)

// answer is the result of an attempt.
type answer struct {
	status  int
	failure string // empty if the delivery arrived
	gone    bool   // the receiver wants no more
}

// newClient returns a client that connects only to allowed addresses, uses no proxy, and follows no redirects.
func newClient(allowed func(netip.Addr) bool) *http.Client {
	return &http.Client{
		Timeout:       attemptTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: publicip.Dialer(attemptTime/2, allowed).DialContext, TLSHandshakeTimeout: attemptTime / 2, ForceAttemptHTTP2: true,
			MaxIdleConns: 100, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxAnswer,
		},
	}
}

// setClients creates the clients. The client for http reaches only the allowed networks.
func (w *Worker) setClients() {
	inNetworks := publicip.Within(w.WebhookNetworks)
	w.plain = newClient(inNetworks)
	w.secure = newClient(func(a netip.Addr) bool { return inNetworks(a) || publicip.Is(a) })
}

// post sends a delivery to the receiver of the webhook, signed.
func (w *Worker) post(ctx context.Context, h *record.WebhookItem, d *record.DeliveryItem) answer {
	w.clients.Do(w.setClients)
	body, err := d.Payload()
	if err != nil {
		return answer{failure: err.Error()}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return answer{failure: "The address is no URL."}
	}
	now := w.Now()
	var signatures []string
	for _, secret := range h.Secrets(now) {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return answer{failure: err.Error()}
		}
		signature, err := signer.Sign(d.ID, now, body)
		if err != nil {
			return answer{failure: err.Error()}
		}
		signatures = append(signatures, signature)
	}
	request.Header = http.Header{"Content-Type": {"application/json"}, "User-Agent": {"Assay"}}
	request.Header.Set(standardwebhooks.HeaderWebhookID, d.ID)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	client := w.secure
	if request.URL.Scheme == "http" {
		client = w.plain
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{failure: reason(err)}
	}
	_, _ = io.CopyN(io.Discard, response.Body, maxAnswer)
	_ = response.Body.Close()
	a := answer{status: response.StatusCode, gone: response.StatusCode == http.StatusGone}
	if response.StatusCode/100 != 2 {
		a.failure = fmt.Sprintf("The receiver answered %d instead of 2xx.", response.StatusCode)
	}
	return a
}

// unreachable is the failure for names without an address and for addresses that are not allowed. Both get the same text, because otherwise
// organizers would learn which names the name service of the server's network knows.
const unreachable = "The host cannot be reached: it has no public address, or the webhook uses http. The operator of " +
	"the server can allow other networks."

// reason tells organizers why no answer came. It reveals nothing about the network of the server.
func reason(err error) string {
	var timeout interface{ Timeout() bool }
	var certificate *tls.CertificateVerificationError
	var name *net.DNSError
	switch {
	case errors.Is(err, publicip.ErrNotAllowed), errors.As(err, &name):
		return unreachable
	case errors.As(err, &certificate):
		return "The certificate of the receiver is not valid: " + certificate.Err.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("The receiver did not answer within %v.", attemptTime)
	default:
		return "The connection failed."
	}
}
