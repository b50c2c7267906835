package problem

// MediaType is the content type of a Document.
const MediaType = "application/problem+json"

// Document is the problem document of RFC 9457 that callers read.
type Document struct {
	Type      string  `json:"type" format:"uri-reference" doc:"URI of the kind of problem: urn:assay:problem:<slug>" example:"urn:assay:problem:not-found"`
	Title     string  `json:"title" doc:"the kind of problem in words" example:"Not found"`
	Status    int     `json:"status" doc:"HTTP status" example:"404"`
	Detail    string  `json:"detail" doc:"what happened and what to do next"`
	Instance  string  `json:"instance" format:"uri-reference" doc:"path that was asked for" example:"/v1/tasks/01JZ0000000000000000000000"`
	RequestID string  `json:"requestId" doc:"identifies the request in the server's log"`
	Errors    []Field `json:"errors,omitempty" maxItems:"100" doc:"what is wrong with single members of the body; at most 100 faults"`
}

// Document renders the problem for the request with the given path and id.
func (e *Error) Document(instance, requestID string) Document {
	return Document{
		Type: e.Kind.Type(), Title: e.Kind.Title, Status: e.Kind.Status,
		Detail: e.Detail, Instance: instance, RequestID: requestID, Errors: e.Fields,
	}
}
