package problem

// The kinds of problems.
var (
	BadRequest          = kind("bad-request", "Bad request", 400)
	InvalidParameter    = kind("invalid-parameter", "Invalid query parameter", 400)
	InvalidCursor       = kind("invalid-cursor", "Invalid cursor", 400)
	Unauthorized        = kind("unauthorized", "Login needed", 401)
	InvalidToken        = kind("invalid-token", "Invalid token", 401)
	Forbidden           = kind("forbidden", "Not allowed", 403)
	InsufficientScope   = kind("insufficient-scope", "Access token not sufficient", 403)
	OutsideWindow       = kind("outside-window", "Not open at this time", 403)
	QuotaExhausted      = kind("quota-exhausted", "Quota exhausted", 403)
	NotFound            = kind("not-found", "Not found", 404)
	MethodNotAllowed    = kind("method-not-allowed", "Method not allowed", 405)
	NotAcceptable       = kind("not-acceptable", "Not acceptable", 406)
	Conflict            = kind("conflict", "Conflict with the present state", 409)
	PatchFailed         = kind("patch-failed", "Patch does not apply", 409)
	UnderWay            = kind("request-under-way", "Same request under way", 409)
	LengthRequired      = kind("length-required", "Content-Length needed", 411)
	StaleLease          = kind("stale-lease", "Lease no longer held", 409)
	TruthChanged        = kind("truth-changed", "Truth has changed", 409)
	PreconditionFailed  = kind("precondition-failed", "Precondition failed", 412)
	TooLarge            = kind("too-large", "Body too large", 413)
	UnsupportedMedia    = kind("unsupported-media-type", "Unsupported media type", 415)
	RangeNotSatisfiable = kind("range-not-satisfiable", "Range not satisfiable", 416)
	Invalid             = kind("invalid", "Invalid input", 422)
	IdempotencyMismatch = kind("idempotency-mismatch", "Idempotency key used for another request", 422)
	QuotaToday          = kind("quota-today", "24-hour quota used up", 429)
	TooManyRequests     = kind("too-many-requests", "Too many requests", 429)
	HeadersTooLarge     = kind("headers-too-large", "Header fields too large", 431)
	Internal            = kind("internal", "Internal error", 500)
	Unavailable         = kind("unavailable", "Temporarily unavailable", 503)
	StorageFull         = kind("storage-full", "No room left to store anything", 507)
)

// Kinds lists all kinds, for documentation and for conversion to other protocols.
var Kinds []*Kind

func kind(slug, title string, status int) *Kind {
	k := &Kind{slug, title, status}
	Kinds = append(Kinds, k)
	return k
}

// TypePrefix begins the URI of every kind.
const TypePrefix = "urn:assay:problem:"

// Type returns the URI of the kind, which is the member `type` of a problem document (RFC 9457).
func (k *Kind) Type() string { return TypePrefix + k.Slug }
