package lines

const (
	// MaxLine is the greatest length of a line in bytes, without its end.
	MaxLine = 64 << 10
	// MaxExpanded is how many bytes a file may have once it is unpacked.
	MaxExpanded = 2 << 30
	// MaxRatio is how many times its packed size a file may have once it is unpacked; files of less than 64 MiB are exempt.
	MaxRatio = 200
)

// Expansion bounds what a packed file may unpack to: Bytes and, beyond RatioFrom bytes, Ratio times its packed size.
type Expansion struct{ Bytes, Ratio, RatioFrom int64 }

// StandardExpansion is that of what evaluators read.
var StandardExpansion = Expansion{Bytes: MaxExpanded, Ratio: MaxRatio, RatioFrom: 64 << 20}

// limits are the bounds of one Reader; tests lower them.
type limits struct {
	Expansion
	line  int64
	chunk int
}

// A chunk of 128 KiB fits the second-level cache of a core and is large enough that handing it over costs nothing.
var standard = limits{Expansion: StandardExpansion, line: MaxLine, chunk: 128 << 10}
