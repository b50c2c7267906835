package main

// The authorities whose certificates are trusted where the system brings none, as in an image FROM scratch.
import _ "golang.org/x/crypto/x509roots/fallback"
