package api

import (
	"mime"
	"strconv"
	"strings"

	"assay/shared/problem"
)

// negotiate chooses the media type of the answer: of those that the caller wants most, the first that is offered.
func (c *Call) negotiate() error {
	offers := c.op.Media
	if c.op.Result != nil {
		offers = append([]string{mediaJSON}, offers...)
	}
	if len(offers) == 0 {
		return nil
	}
	return c.choose(offers)
}

// choose chooses among the offers.
func (c *Call) choose(offers []string) error {
	accept := strings.Join(c.request.Header.Values("Accept"), ",")
	best := 0.0
	c.accepted = ""
	for _, offer := range offers {
		if q := quality(accept, offer); q > best {
			c.accepted, best = offer, q
		}
	}
	if best == 0 {
		return problem.NotAcceptable.New("The answer can be %s. Say so in Accept, or leave Accept out.", strings.Join(offers, " or "))
	}
	return nil
}

// quality is how much an Accept header wants a media type: from 0, not at all, to 1. Of the ranges that the type is in the
// most specific one decides (RFC 9110, section 12.5.1); what is not well-formed says nothing.
func quality(accept, mediaType string) float64 {
	if strings.TrimSpace(accept) == "" {
		return 1
	}
	kind, _, _ := strings.Cut(mediaType, "/")
	wanted, decided := 0.0, 0
	for element := range strings.SplitSeq(accept, ",") {
		name, parameters, err := mime.ParseMediaType(element)
		if err != nil {
			continue
		}
		specific := 0
		switch name {
		case mediaType:
			specific = 3
		case kind + "/*":
			specific = 2
		case "*/*":
			specific = 1
		}
		if specific <= decided {
			continue
		}
		q := 1.0
		if text, ok := parameters["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil || !(q >= 0 && q <= 1) {
				continue
			}
		}
		wanted, decided = q, specific
	}
	return wanted
}
