package text

import "strings"

// irregular maps words to the stems that NLTK lists.
var irregular = map[string]string{
	"sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "innings": "inning", "inning": "inning",
	"outings": "outing", "outing": "outing", "cannings": "canning", "canning": "canning", "howe": "howe", "proceed": "proceed",
	"exceed": "exceed", "succeed": "succeed",
}

// rule replaces a suffix.
type rule struct{ suffix, replacement string }

// The steps of M. F. Porter, An algorithm for suffix stripping, Program 14, 1980, with the changes of NLTK.
var (
	step1a = rules("sses=ss ies=i ss=ss s=")
	step2  = rules("ational=ate tional=tion enci=ence anci=ance izer=ize bli=ble alli=al entli=ent eli=e ousli=ous ization=ize ation=ate " +
		"ator=ate alism=al iveness=ive fulness=ful ousness=ous aliti=al iviti=ive biliti=ble fulli=ful logi=log")
	step3 = rules("icate=ic ative= alize=al iciti=ic ical=ic ful= ness=")
	step4 = rules("al= ance= ence= er= ic= able= ible= ant= ement= ment= ent= ion= ou= ism= ate= iti= ous= ive= ize=")
)

func rules(text string) (all []rule) {
	for field := range strings.FieldsSeq(text) {
		suffix, replacement, _ := strings.Cut(field, "=")
		all = append(all, rule{suffix, replacement})
	}
	return all
}

// stem returns the stem of a word in lower case by NLTK's variant of Porter's algorithm. It returns words of at most three letters
// unchanged.
func stem(word string) string {
	if known, ok := irregular[word]; ok {
		return known
	}
	if len(word) <= 3 {
		return word
	}
	if len(word) == 4 && strings.HasSuffix(word, "ies") {
		word = word[:3]
	} else {
		word = replace(word, step1a, -1)
	}
	word = replacePast(word)
	if n := len(word) - 1; n > 1 && word[n] == 'y' && isConsonant(word, n-1) {
		word = word[:n] + "i"
	}
	for strings.HasSuffix(word, "alli") && measureOf(word[:len(word)-4]) > 0 {
		word = word[:len(word)-2]
	}
	word = replace(replace(replace(word, step2, 0), step3, 0), step4, 1)
	if before, ok := strings.CutSuffix(word, "e"); ok {
		if m := measureOf(before); m > 1 || m == 1 && !endsShort(before) {
			word = before
		}
	}
	if strings.HasSuffix(word, "ll") && measureOf(word[:len(word)-1]) > 1 {
		word = word[:len(word)-1]
	}
	return word
}

// replace applies the first rule whose suffix the word has, if Porter's measure of the rest is above the bound.
func replace(word string, rules []rule, above int) string {
	for _, r := range rules {
		before, ok := strings.CutSuffix(word, r.suffix)
		if !ok {
			continue
		}
		measured := before
		if r.suffix == "logi" {
			measured = before + "l"
		}
		if measureOf(measured) <= above || r.suffix == "ion" && !strings.ContainsAny(before[len(before)-1:], "st") {
			return word
		}
		return before + r.replacement
	}
	return word
}

// replacePast is step 1b of the algorithm: it removes -ed and -ing.
func replacePast(word string) string {
	if before, ok := strings.CutSuffix(word, "ied"); ok {
		if len(word) == 4 {
			return before + "ie"
		}
		return before + "i"
	}
	if before, ok := strings.CutSuffix(word, "eed"); ok {
		if measureOf(before) > 0 {
			return before + "ee"
		}
		return word
	}
	before, ok := strings.CutSuffix(word, "ed")
	if !ok || !hasVowel(before) {
		if before, ok = strings.CutSuffix(word, "ing"); !ok || !hasVowel(before) {
			return word
		}
	}
	n := len(before) - 1
	switch {
	case strings.HasSuffix(before, "at"), strings.HasSuffix(before, "bl"), strings.HasSuffix(before, "iz"):
		return before + "e"
	case n > 0 && before[n] == before[n-1] && isConsonant(before, n):
		if strings.IndexByte("lsz", before[n]) >= 0 {
			return before
		}
		return before[:n]
	case measureOf(before) == 1 && endsShort(before):
		return before + "e"
	}
	return before
}

func isVowel(c byte) bool { return strings.IndexByte("aeiou", c) >= 0 }

// isConsonant reports whether a letter is a consonant. y is a consonant at the start of a word and after a vowel.
func isConsonant(word string, i int) bool {
	other := i
	for other > 0 && word[other] == 'y' {
		other--
	}
	return !isVowel(word[other]) == ((i-other)%2 == 0)
}

// measureOf returns Porter's measure of a stem: how often a consonant follows a vowel.
func measureOf(stem string) (n int) {
	was := true
	for i := range len(stem) {
		consonant := !isVowel(stem[i]) && (stem[i] != 'y' || i == 0 || !was)
		if consonant && !was {
			n++
		}
		was = consonant
	}
	return n
}

func hasVowel(stem string) bool {
	return measureOf(stem+"b") > 0
}

// endsShort reports whether a stem ends with a consonant, a vowel and a consonant other than w, x and y, or consists of a vowel and a
// consonant.
func endsShort(stem string) bool {
	n := len(stem) - 1
	if n < 1 || isConsonant(stem, n-1) || !isConsonant(stem, n) {
		return false
	}
	return n == 1 || isConsonant(stem, n-2) && strings.IndexByte("wxy", stem[n]) < 0
}
