package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"assay/shared/api"
	"assay/shared/blob"
	"assay/shared/problem"
	"assay/shared/record"
	"assay/shared/webpage"

	"github.com/a-h/templ"
)

const (
	mediaJSON = "application/json"
	mediaSVG  = "image/svg+xml"
	mediaText = "text/plain"
	mediaCSV  = "text/csv"
	mediaTSV  = "text/tab-separated-values"
	utf8      = "; charset=utf-8" // some programs take text for Latin-1 when it does not say
)

// faces are what outputs can be shown as besides JSON.
var faces = []struct {
	mediaType string
	has       func(output any) bool
}{
	{webpage.MediaType, func(o any) bool { _, ok := o.(paged); return ok }},
	{mediaSVG, func(o any) bool { _, ok := o.(charted); return ok }},
	{mediaText, func(o any) bool { _, ok := o.(filed); return ok }},
}

// render is the output as the media type that was negotiated. The address is that of the answer, if it has one.
func render(ctx context.Context, c *api.Call, a about, address string, output any) (api.Computed, error) {
	if f, ok := output.(filed); ok {
		return renderFile(ctx, c, f)
	}
	switch c.Accepted() {
	case webpage.MediaType:
		title, main := output.(paged).page()
		p, err := webpage.Page{Title: title, Here: toolsPath, Charts: true, Main: resultPage(a, address, title, main)}.Render(ctx)
		if err != nil {
			return api.Computed{}, err
		}
		p.Protect(c)
		return api.Computed{MediaType: webpage.MediaType + utf8, Body: p.Bytes()}, nil
	case mediaSVG:
		body, err := rendered(ctx, output.(charted).chart())
		c.SetHeader("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
		return api.Computed{MediaType: mediaSVG, Body: body}, err
	default:
		body, err := json.Marshal(output)
		return api.Computed{MediaType: mediaJSON, Body: body}, err
	}
}

func rendered(ctx context.Context, t templ.Component) ([]byte, error) {
	var b bytes.Buffer
	err := t.Render(ctx, &b)
	return b.Bytes(), err
}

// keepTime is how long the link to a result that was too large for an answer works.
const keepTime = 30 * time.Minute

// renderFile answers with a file: with its bytes, or, when they are too many for an answer, with a link to them.
func renderFile(ctx context.Context, c *api.Call, f filed) (api.Computed, error) {
	s := f.file()
	defer s.close()
	asText := c.Accepted() == mediaText
	if s.size <= record.MaxInlineBytes {
		body, err := s.bytes()
		switch {
		case err != nil:
			return api.Computed{}, err
		case asText:
			return api.Computed{MediaType: mediaText + utf8, Body: body}, nil
		}
		s.described.Content = body
		body, err = json.Marshal(f)
		return api.Computed{MediaType: mediaJSON, Body: body}, err
	}
	if c.Caller.Anonymous() {
		return api.Computed{}, problem.Unauthorized.New("The result has %d bytes. Up to %d are answered to everyone; log in to get a link to more: Authorization: Bearer <token>.", s.size, record.MaxInlineBytes)
	}
	now := c.Now()
	key := record.ObjectKey(record.HolderTools, record.NewID(now), s.described.SHA256)
	content, err := s.reader()
	if err != nil {
		return api.Computed{}, err
	}
	if err := c.Files.Put(ctx, blob.Object{Key: key, Size: s.size, SHA256: s.described.SHA256, MediaType: s.described.MediaType}, content); err != nil {
		return api.Computed{}, problem.Unavailable.Wrap(err, "The result could not be stored. Try again in a few seconds.").After(2 * time.Second)
	}
	mediaType := s.described.MediaType
	if asText {
		mediaType = mediaText + utf8
	}
	link, err := c.Files.SignGet(ctx, key, s.described.Name, mediaType, now.Add(keepTime))
	if err != nil {
		return api.Computed{}, err
	}
	if asText {
		return api.Computed{Location: link.URL}, nil
	}
	s.described.URL, s.described.ExpiresAt = link.URL, new(record.At(link.ExpiresAt))
	body, err := json.Marshal(f)
	return api.Computed{MediaType: mediaJSON, Body: body, Passing: true}, err
}
