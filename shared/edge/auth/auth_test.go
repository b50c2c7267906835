package auth_test

import (
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/shared/edge/auth"
	"assay/shared/language/problem"

	"github.com/go-jose/go-jose/v4"
)

func TestVerify_TakesEveryAlgorithm(t *testing.T) {
	for _, algorithm := range []jose.SignatureAlgorithm{
		jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
	} {
		t.Run(string(algorithm), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKey(t, algorithm, "1")
				i := newIssuer(k.public())
				v := i.verifier(t)
				got := accepts(t, v, k.sign(t, i.claims(nil)))
				want := auth.Identity{Issuer: i.url, Subject: "alice", Name: "Alice", Email: "alice@example.org",
					Groups: []string{"admins", "workers"}, Expires: time.Unix(start.Add(time.Hour).Unix(), 0)}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v, want %+v", got, want)
				}
				refuses(t, v, newKey(t, algorithm, "1").sign(t, i.claims(nil)), problem.InvalidToken, "not signed by "+i.url)
			})
		})
	}
}

func TestVerify_ChecksClaims(t *testing.T) {
	at := func(d time.Duration) int64 { return start.Add(d).Unix() }
	for name, test := range map[string]struct {
		changes map[string]any
		says    string // part of the refusal; empty: the token is accepted
	}{
		"expired":                 {map[string]any{"exp": at(-time.Hour)}, "expired at 1999-12-31T23:00:00.000Z"},
		"expired within skew":     {map[string]any{"exp": at(-time.Minute)}, ""},
		"expired beyond skew":     {map[string]any{"exp": at(-time.Minute - time.Second)}, "expired at"},
		"without expiry":          {map[string]any{"exp": nil}, "`exp`"},
		"expiry in words":         {map[string]any{"exp": "tomorrow"}, "can't be read"},
		"not yet valid":           {map[string]any{"nbf": at(time.Hour)}, "not valid before 2000-01-01T01:00:00.000Z"},
		"valid within skew":       {map[string]any{"nbf": at(time.Minute)}, ""},
		"valid beyond skew":       {map[string]any{"nbf": at(time.Minute + time.Second)}, "not valid before"},
		"issued in the future":    {map[string]any{"iat": at(time.Hour)}, "yet to come"},
		"issued within skew":      {map[string]any{"iat": at(time.Minute)}, ""},
		"issued beyond skew":      {map[string]any{"iat": at(time.Minute + time.Second)}, "yet to come"},
		"another audience":        {map[string]any{"aud": "other"}, "another audience than \"assay\""},
		"audience is one of two":  {map[string]any{"aud": []string{"other", audience}}, ""},
		"no audience":             {map[string]any{"aud": nil}, "another audience"},
		"empty audience":          {map[string]any{"aud": []string{}}, "another audience"},
		"client of Cognito":       {map[string]any{"aud": nil, "client_id": audience}, ""},
		"another client":          {map[string]any{"aud": nil, "client_id": "other"}, "another audience"},
		"client's other token":    {map[string]any{"aud": "other", "client_id": audience}, "another audience"},
		"issuer with a slash":     {map[string]any{"iss": newIssuer().url + "/"}, "another issuer"},
		"issuer in capitals":      {map[string]any{"iss": strings.ToUpper(newIssuer().url)}, "another issuer"},
		"no issuer":               {map[string]any{"iss": nil}, "another issuer"},
		"no subject":              {map[string]any{"sub": nil}, "`sub`"},
		"subject of another case": {map[string]any{"sub": nil, "Sub": "alice"}, "`sub`"},
		"subject is no string":    {map[string]any{"sub": 1}, "can't be read"},
		"client is no string":     {map[string]any{"aud": nil, "client_id": []string{audience}}, "another audience"},
		"logout": {
			map[string]any{"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}}, "is about an event"},
	} {
		t.Run(name, func(t *testing.T) {
			withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
				token := k.sign(t, i.claims(test.changes))
				if test.says == "" {
					accepts(t, v, token)
				} else {
					refuses(t, v, token, problem.InvalidToken, test.says)
				}
			})
		})
	}
}

func TestVerify_ReadsNamesAndGroups(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(k.public())
	v := i.verifier(t)
	for _, test := range []struct {
		changes        map[string]any
		name, username string
		groups         []string
	}{
		{map[string]any{"name": nil, "groups": nil}, "", "", nil},
		{map[string]any{"name": nil, "preferred_username": "al", "groups": "admins"}, "al", "", []string{"admins"}},
		{map[string]any{"name": nil, "cognito:username": "al", "groups": nil, "cognito:groups": []string{"b", "a"}}, "al", "",
			[]string{"a", "b"}},
		{map[string]any{"name": nil, "username": "al", "groups": []string{"a", "a"}, "cognito:groups": []string{"a", "b"}}, "", "al",
			[]string{"a", "b"}},
		{map[string]any{"Groups": []string{"admins"}, "groups": []string{}}, "Alice", "", nil},
		{map[string]any{"groups": map[string]any{"admins": true}}, "Alice", "", nil},
		{map[string]any{"groups": json.RawMessage("null")}, "Alice", "", nil},
		{map[string]any{"groups": []any{"admins", 1}, "cognito:groups": []string{"a"}}, "Alice", "", []string{"a"}},
		{map[string]any{"name": []string{"Alice"}, "groups": 1}, "", "", nil},
		{map[string]any{"name": "A\u202el\r\ni\x00ce\u0301" + strings.Repeat("\u0301", 50) + strings.Repeat("w", 500), "groups": nil},
			"Alice" + strings.Repeat("\u0301", 8) + strings.Repeat("w", 187), "", nil},
		{map[string]any{"name": " \u3164\u200b", "preferred_username": "al", "username": "b\u202e", "groups": nil}, "al", "b", nil},
	} {
		id := accepts(t, v, k.sign(t, i.claims(test.changes)))
		if id.Name != test.name || id.Username != test.username || !slices.Equal(id.Groups, test.groups) {
			t.Errorf("%v is %q (%q) in %q, want %q (%q) in %q", test.changes, id.Name, id.Username, id.Groups, test.name, test.username, test.groups)
		}
	}
}

// encode returns the part of a token that encodes the value.
func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// jws signs the claims with Ed25519 under the given header.
func jws(t *testing.T, k key, header, claims map[string]any) string {
	t.Helper()
	input := encode(t, header) + "." + encode(t, claims)
	signature, err := k.private.Sign(nil, []byte(input), crypto.Hash(0))
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// Ed25519 has two names since RFC 9864. Keys and tokens may use either, independently of each other.
func TestVerify_KnowsEd25519ByBothNames(t *testing.T) {
	for _, published := range []string{"EdDSA", "Ed25519", ""} {
		k, other := newKey(t, jose.EdDSA, "1"), newKey(t, jose.EdDSA, "1")
		public := k.public()
		public.Algorithm = published
		i := newIssuer(newKey(t, jose.ES256, "1").public(), public)
		v := i.verifier(t)
		for _, used := range []string{"EdDSA", "Ed25519"} {
			header := map[string]any{"alg": used, "kid": "1"}
			accepts(t, v, jws(t, k, header, i.claims(nil)))
			refuses(t, v, jws(t, other, header, i.claims(nil)), problem.InvalidToken, "not signed by "+i.url)
		}
	}
}

func TestVerify_RefusesTokensOfOtherTypes(t *testing.T) {
	k := newKey(t, jose.EdDSA, "1")
	i := newIssuer(k.public())
	v := i.verifier(t)
	for typ, accepted := range map[any]bool{
		"JWT": true, "jwt": true, "at+jwt": true, "application/at+jwt": true, "application/okta-internal-at+jwt": true,
		"logout+jwt": false, "Logout+JWT": false, "application/logout+jwt": false, "secevent+jwt": false, "dpop+jwt": false, "chat+jwt": false,
		"": false, 1: false,
	} {
		token := jws(t, k, map[string]any{"alg": "EdDSA", "kid": "1", "typ": typ}, i.claims(nil))
		if accepted {
			accepts(t, v, token)
		} else {
			refuses(t, v, token, problem.InvalidToken, "another type")
		}
	}
}

// A careless verifier would accept these tokens.
func TestVerify_RefusesForgeries(t *testing.T) {
	k := newKey(t, jose.RS256, "1")
	plain := k.public()
	plain.Algorithm = "" // many issuers publish keys without it
	i := newIssuer(plain)
	v := i.verifier(t)
	genuine := k.sign(t, i.claims(nil))
	header, rest, _ := strings.Cut(genuine, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	der, err := x509.MarshalPKIXPublicKey(k.private.Public())
	if err != nil {
		t.Fatal(err)
	}
	unpublished := newKey(t, jose.EdDSA, "1")
	asSecret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	mallory := encode(t, i.claims(map[string]any{"sub": "mallory"}))

	for name, token := range map[string]string{
		"alg none":           encode(t, map[string]string{"alg": "none", "kid": "1"}) + "." + mallory + ".",
		"alg empty":          encode(t, map[string]string{"alg": ""}) + "." + mallory + "." + signature,
		"no alg":             encode(t, map[string]string{"kid": "1"}) + "." + mallory + "." + signature,
		"HS256 with the key": sign(t, jose.HS256, jose.JSONWebKey{Key: asSecret, KeyID: "1"}, i.claims(nil)),
		"another payload":    header + "." + mallory + "." + signature,
		"no signature":       header + "." + payload + ".",
		"two parts":          header + "." + payload,
		"four parts":         genuine + "." + signature,
		"an unpublished key": unpublished.sign(t, i.claims(nil)),
		"a key within":       jws(t, unpublished, map[string]any{"alg": "EdDSA", "kid": "1", "jwk": unpublished.public()}, i.claims(nil)),
		"another family":     encode(t, map[string]string{"alg": "ES256", "kid": "1"}) + "." + payload + "." + signature,
		"unknown critical":   encode(t, map[string]any{"alg": "RS256", "crit": []string{"x"}, "x": 1}) + "." + payload + "." + signature,
		"JSON serialization": `{"protected":"` + header + `","payload":"` + payload + `","signature":"` + signature + `"}`,
		"with its scheme":    "Bearer " + genuine,
		"empty":              "",
		"encrypted":          strings.Repeat(header+".", 4) + header,
	} {
		t.Run(name, func(t *testing.T) {
			says := i.url
			if strings.HasPrefix(name, "alg ") || strings.HasPrefix(name, "HS256 ") {
				says = "not a JSON Web Token signed with one of" // refused before a key is tried
			}
			refuses(t, v, token, problem.InvalidToken, says)
		})
	}
	accepts(t, v, genuine)
}

func TestVerify_BoundsTokenLength(t *testing.T) {
	k := newKey(t, jose.ES256, "1")
	i := newIssuer(k.public())
	v := i.verifier(t)
	accepts(t, v, k.sign(t, i.claims(map[string]any{"x": strings.Repeat("x", 11<<10)})))
	refuses(t, v, k.sign(t, i.claims(map[string]any{"x": strings.Repeat("x", 12<<10)})), problem.InvalidToken, "at most 16384")
}

func TestUserID_IsOfIssuerAndSubject(t *testing.T) {
	alice := auth.Identity{Issuer: "https://login.example", Subject: "alice"}
	if got, want := alice.UserID(), "7FRTN6TNYCPB5GDG43QFWGAS7B"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, other := range []auth.Identity{
		{Issuer: "https://login.example", Subject: "bob"}, {Issuer: "https://login.example2", Subject: "alice"},
		{Issuer: "https://login.examplea", Subject: "lice"},
	} {
		if other.UserID() == alice.UserID() {
			t.Errorf("%+v has the id of another", other)
		}
	}
	alice.Name = "A"
	alice.Groups = []string{"admins"}
	alice.Expires = time.Now()
	if got, want := alice.UserID(), "7FRTN6TNYCPB5GDG43QFWGAS7B"; got != want {
		t.Errorf("the id depends on more than issuer and subject: %s, want %s", got, want)
	}
}

func TestNew_ChecksConfig(t *testing.T) {
	for issuer, valid := range map[string]bool{
		"https://login.example": true, "http://127.0.0.1:8080/dev": true, "https://login.example/realms/a/": true,
		"": false, "login.example": false, "ftp://login.example": false, "https://login.example?a": false, "https://login.example#a": false,
	} {
		if _, err := auth.New(auth.Config{Issuer: issuer, Audience: audience}); (err == nil) != valid {
			t.Errorf("issuer %q: %v, want valid %v", issuer, err, valid)
		}
	}
	if _, err := auth.New(auth.Config{Issuer: "https://login.example"}); err == nil {
		t.Error("a verifier without audience")
	}
}

func FuzzVerify(f *testing.F) {
	k := newKey(f, jose.ES256, "1")
	i := newIssuer(k.public())
	v := i.verifier(f)
	genuine := k.sign(f, i.claims(nil))
	header, rest, _ := strings.Cut(genuine, ".")
	payload, signature, _ := strings.Cut(rest, ".")
	f.Add(header, payload, signature)
	f.Add("", "", "")
	f.Add("eyJhbGciOiJub25lIn0", payload, "")
	f.Add("eyJhbGciOiJFUzI1NiJ9", payload, signature)
	f.Fuzz(func(t *testing.T, header, payload, signature string) {
		token := header + "." + payload + "." + signature
		_, err := v.Verify(t.Context(), token)
		if err == nil && bits(token) != bits(genuine) {
			t.Fatalf("%q is accepted", token)
		}
		if err != nil && !problem.InvalidToken.Is(err) {
			t.Fatalf("%q: %v", token, err)
		}
	})
}

// bits decodes a token, because several base64 texts decode to equal bytes.
func bits(token string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(token, ".") {
		decoded, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil {
			return token
		}
		b.Write(decoded)
		b.WriteByte('.')
	}
	return b.String()
}

func BenchmarkVerify(b *testing.B) {
	for _, algorithm := range []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.EdDSA} {
		k := newKey(b, algorithm, "1")
		i := newIssuer(k.public())
		v := i.verifier(b)
		token := k.sign(b, i.claims(nil))
		b.Run(string(algorithm)+"/again", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(string(algorithm)+"/new", func(b *testing.B) {
			// There are more tokens than cache entries, so that no token is found in the cache.
			tokens := make([]string, 5000)
			for n := range tokens {
				tokens[n] = k.sign(b, i.claims(map[string]any{"jti": fmt.Sprint(n)}))
			}
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				if _, err := v.Verify(b.Context(), tokens[n%len(tokens)]); err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}

func TestRecent_TokenExpires(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		token := k.sign(t, i.claims(map[string]any{"exp": start.Add(10 * time.Minute).Unix()}))
		for range 2 {
			accepts(t, v, token)
		}
		time.Sleep(11 * time.Minute)
		accepts(t, v, token) // within the tolerated clock difference
		time.Sleep(time.Second)
		refuses(t, v, token, problem.InvalidToken, "expired at")
	})
}

func TestRecent_GroupsAreEachCallersOwn(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		token := k.sign(t, i.claims(map[string]any{"groups": []string{"users"}}))
		for range 3 {
			id := accepts(t, v, token)
			if id.Groups[0] != "users" {
				t.Fatalf("one caller has changed what another gets: %q", id.Groups)
			}
			id.Groups[0] = "admins"
		}
	})
}

// TestRecent_ForgottenTokenIsVerifiedAgain fills the cache with tokens of one user until those of others are dropped.
func TestRecent_ForgottenTokenIsVerifiedAgain(t *testing.T) {
	withIssuer(t, func(t *testing.T, k key, i *issuer, v *auth.Verifier) {
		token := k.sign(t, i.claims(nil))
		first := accepts(t, v, token)
		for n := range 4096 {
			accepts(t, v, k.sign(t, i.claims(map[string]any{"sub": "mallory", "jti": fmt.Sprint(n)})))
		}
		if again := accepts(t, v, token); !reflect.DeepEqual(again, first) {
			t.Errorf("%+v, want %+v", again, first)
		}
	})
}
