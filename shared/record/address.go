package record

import (
	"crypto/sha256"
	"net/mail"
	"strings"
	"time"

	"assay/shared/store"

	"github.com/oklog/ulid/v2"
)

// MaxAddressBytes is how long an e-mail address may be (RFC 5321, section 4.5.3.1.3, without its brackets).
const MaxAddressBytes = 254

// NoAddress tells users without a confirmed e-mail address what that means.
const NoAddress = "No confirmed address: no e-mail is sent to you, and organizers are shown no address. Confirm your address where you " +
	"sign in, sign in again, and change something."

// IsAddress reports whether the text is one plain e-mail address (RFC 5322, addr-spec), without a name, quotes or brackets, that can be
// shown on a line.
func IsAddress(s string) bool {
	parsed, err := mail.ParseAddress(s)
	return err == nil && parsed.Address == s && len(s) <= MaxAddressBytes && !strings.ContainsAny(s, "\"[] \t") && len(CheckLine("", s)) == 0
}

// AddressID stands for an e-mail address where a user's id stands for a user.
func AddressID(address string) string {
	sum := sha256.Sum256([]byte("mailto:" + strings.ToLower(address)))
	return ulid.ULID(sum[:16]).String()
}

// LastMail says when an e-mail was last sent to an address, for any user: UpdatedAt. So several users with one address get no more
// e-mails there than one.
type LastMail struct{ Meta } // ID is the AddressID

// NextMail returns the instant from which on the next e-mail may be sent to the address. A nil LastMail allows one at any time.
func (m *LastMail) NextMail() time.Time {
	if m == nil {
		return time.Time{}
	}
	return m.UpdatedAt.Add(MailInterval)
}

// LastMailKey is the key of the LastMail of an address.
func LastMailKey(addressID string) store.Key {
	return store.Key{Partition: "LASTMAIL#" + addressID, Sort: "SENT"}
}

// Key implements Record.
func (m *LastMail) Key() store.Key { return LastMailKey(m.ID) }

// Expiry says when the record goes by itself.
func (m *LastMail) Expiry() time.Time { return m.NextMail() }
