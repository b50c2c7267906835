package blob

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxFilenameBytes is what common file systems allow a name to have.
const maxFilenameBytes = 255

// Disposition returns a Content-Disposition value (RFC 6266) that makes a browser save a download under the
// given name. Names come from users: what could end the header, name a folder or disguise the ending is
// replaced by an underscore. A name beyond plain ASCII is given twice, the second time encoded by RFC 8187.
func Disposition(filename string) string {
	name := safeFilename(filename)
	var plain, encoded strings.Builder
	for _, r := range name {
		if r == '"' || r == '\\' || r == '%' || r > '~' {
			plain.WriteByte('_')
		} else {
			plain.WriteRune(r)
		}
	}
	if plain.String() == name {
		return `attachment; filename="` + name + `"`
	}
	for _, b := range []byte(name) {
		if attrChar(b) {
			encoded.WriteByte(b)
		} else {
			fmt.Fprintf(&encoded, "%%%02X", b)
		}
	}
	return `attachment; filename="` + plain.String() + `"; filename*=UTF-8''` + encoded.String()
}

func safeFilename(filename string) string {
	name := strings.Map(func(r rune) rune {
		// unicode.Cf holds the characters that turn the direction of writing, so that "gpj.exe" shows as "exe.jpg".
		if r == '/' || r == '\\' || r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return '_'
		}
		return r
	}, filename)
	if len(name) > maxFilenameBytes {
		cut := maxFilenameBytes
		for !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut]
	}
	if strings.Trim(name, ". ") == "" {
		return "download"
	}
	return name
}

// attrChar reports whether RFC 8187 lets b stand for itself.
func attrChar(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("!#$&+-.^_`|~", b) >= 0
}
