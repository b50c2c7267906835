//go:build !race

package main

import (
	"testing"

	"assay/functions/testing/acceptancetest"
)

func TestAccess(t *testing.T) { acceptancetest.AccessMatrix(t, setup(t)) }

func TestHiddenIsMissing(t *testing.T) { acceptancetest.HiddenIsMissing(t, setup(t)) }
