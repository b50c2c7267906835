package api

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"assay/shared/problem"
)

// negotiate chooses the media type of the answer: of those that the caller wants most, the first that is offered.
func (c *Call) negotiate() error {
	if accepted := c.state.codings; !accepted.gzip && !accepted.identity {
		return problem.NotAcceptable.New("The answer can be coded with %s or not at all. Say so in Accept-Encoding, or leave it out.", codingGzip)
	}
	offers := c.op.Media
	if c.op.Result != nil {
		offers = append([]string{mediaJSON}, offers...)
	}
	if len(offers) == 0 || c.op.computes() { // what each variant offers, it chooses from itself
		return nil
	}
	return c.choose(offers)
}

// choose chooses among the offers. A GET of what is JSON has a page too, and so has what was computed.
func (c *Call) choose(offers []string) error {
	if (c.op.Method == http.MethodGet && c.op.Result != nil || c.op.computes()) && c.Env.RenderHTML != nil &&
		!slices.Contains(offers, mediaHTML) {
		offers = append(slices.Clone(offers), mediaHTML)
	}
	accept := strings.Join(c.request.Header.Values("Accept"), ",")
	best := 0.0
	c.accepted = ""
	for _, offer := range offers {
		if q := mediaQuality(accept, offer); q > best {
			c.accepted, best = offer, q
		}
	}
	if best == 0 {
		return problem.NotAcceptable.New("The answer can be %s. Say so in Accept, or leave Accept out.", strings.Join(offers, " or "))
	}
	return nil
}

// mediaQuality is how much an Accept header wants a media type.
func mediaQuality(accept, mediaType string) float64 {
	if strings.TrimSpace(accept) == "" {
		return 1
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	q, _ := quality(accept, func(name string) int {
		switch name {
		case mediaType:
			return 3
		case kind + "/*":
			return 2
		case "*/*":
			return 1
		default:
			return 0
		}
	})
	return q
}

// quality is how much a list of names with weights wants something: from 0, not at all, to 1. specific is how closely a name
// means it, 0 for not at all; the element that means it most closely decides (RFC 9110, section 12.5.1), and quality returns
// how closely that one does. What is not well-formed says nothing.
func quality(list string, specific func(name string) int) (wanted float64, decided int) {
	for element := range strings.SplitSeq(list, ",") {
		name, parameters, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		closely := specific(name)
		if closely <= decided {
			continue
		}
		q := 1.0
		if text, ok := parameters["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || !(q >= 0 && q <= 1) {
				continue
			}
		}
		wanted, decided = q, closely
	}
	return wanted, decided
}
