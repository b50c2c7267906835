# Everything here needs Go and make, and Node.js where the DynamoDB-compatible server or the deployment is tested. The
# tools below are built from source, at pinned versions, into .tools the first time that a target asks for them; those
# of Node.js are installed into infra/node_modules and functions/console/node_modules, at the versions of their lock files.

GO            ?= go
PACKAGES      ?= ./...
FUZZTIME      ?= 30s
TESTFLAGS     ?=

# A package may take long on a busy machine: its tests end by progress, and this ends those that hang. The linter has vet's checks.
go_test := $(GO) test -vet=off -timeout 30m

# Tests that need more than Go and Node.js are in files of these build tags. What looks at code looks at those too.
tags := attack,browser,clients,container,emulator,release,s3,snippets,soak

golangci_lint_version := v2.15.0
govulncheck_version   := v1.8.0
oasdiff_version       := v1.18.6
versitygw_version     := v1.8.0
buildah_version       := v1.41.5
cyclonedx_version     := v1.10.0
sam_version           := 1.170.0
sam_digest            := 24ebaf5ecba38dc1758089968cb89ab61e124b84e92a344fc7a2771a47f4d0bf

golangci_lint := .tools/golangci-lint-$(golangci_lint_version)/golangci-lint
govulncheck   := .tools/govulncheck-$(govulncheck_version)/govulncheck
oasdiff       := .tools/oasdiff-$(oasdiff_version)/oasdiff
versitygw     := .tools/versitygw-$(versitygw_version)/versitygw
buildah       := .tools/buildah-$(buildah_version)/buildah
cyclonedx     := .tools/cyclonedx-gomod-$(cyclonedx_version)/cyclonedx-gomod
lambda_rie    := .tools/aws-lambda-rie-$(sam_version)/aws-lambda-rie
node_modules  := infra/node_modules/.package-lock.json functions/console/node_modules/.package-lock.json
issuer        := shared/edge/auth/providertest/testdata/issuer/node_modules/.package-lock.json

# The shell finds the one package that npm has installed, that of this platform.
export BUF    ?= $(CURDIR)/infra/node_modules/@bufbuild/buf-*/bin/buf

biome := functions/console/node_modules/.bin/biome

.DEFAULT_GOAL := help

.PHONY: help
help: ## show this list
	@echo "make TARGET, where TARGET is one of:"
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*## \(.*\)/  \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{ printf "%-21s %s\n", $$1, $$2 }'

.PHONY: run
run: ## serve the whole of Assay on this machine (ARGS="-addr 127.0.0.1:9000" passes flags)
	@echo "Compiling Assay, which takes a minute or two the first time."
	@$(GO) build -buildvcs=false -o bin/run/assay-server ./local && exec bin/run/assay-server $(ARGS)

.PHONY: test
test: $(node_modules) ## run all tests but those of the targets test-*, in minutes (ASSAY_TESTS=nightly runs their long form)
	$(go_test) -p $(packages_at_once) $(TESTFLAGS) $(PACKAGES)

# Tests that wait leave a processor idle, so there is one package more than processors.
packages_at_once = $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

# test_tagged runs the tests of the files with the build tag, or with !race; the others of their packages run without it.
define test_tagged
files=$$(grep -rlx --include='*_test.go' '//go:build $(1)' functions grpc local shared) && \
	$(go_test) $(if $(filter !race,$(1)),,-tags $(1)) -run "^($$(sed -nE 's/^func (Test[A-Za-z0-9_]+)\(t \*testing\.T\).*/\1/p' $$files | sort -u | paste -sd '|' -))$$" \
		$(2) $(TESTFLAGS) $$(dirname $$files | sort -u | sed 's|^|./|')
endef

.PHONY: test-s3
test-s3: $(node_modules) $(versitygw) ## run the tests over S3, and those of the functions as compiled for Lambda
	@$(call test_tagged,s3)

# Linux on x86-64 or ARM, and Python with pip, for AWS's emulator.
.PHONY: test-lambda
test-lambda: $(node_modules) $(versitygw) $(lambda_rie) ## run the functions as compiled for Lambda in AWS's runtime interface emulator
	@export ASSAY_LAMBDA_RIE=$(CURDIR)/$(lambda_rie); $(go_test) -tags s3,emulator -run '^TestEmulator' $(TESTFLAGS) ./functions

.PHONY: test-webhooks
test-webhooks: ## send 10,000 events to a receiver that fails at random; make test sends fewer
	$(GO) test -count=1 -run '^TestWebhook_EveryEventArrives$$' $(TESTFLAGS) ./functions/notifier -webhook-events 10000

# Podman, as root, with users for containers in /etc/subuid and /etc/subgid. CONTAINERS_CONF names its settings, such as another
# OCI runtime.
.PHONY: test-container
test-container: $(buildah) ## run the tests of workers that need Podman, as root
	@export ASSAY_BUILDAH=$(CURDIR)/$(buildah); $(call test_tagged,container,-timeout 20m)

.PHONY: test-attack
test-attack: ## send every attack once, and check what does not depend on how fast the machine is
	$(go_test) -tags attack -run TestAttack $(TESTFLAGS) ./local/attack

# Chromium, or another browser of its kind, must be on the path. Screens read again every 20 seconds, so tests that wait run side by side.
.PHONY: test-browser
test-browser: $(node_modules) $(issuer) $(versitygw) ## run the tests of pages and of the console in Chromium (ASSAY_SCREENSHOTS=folder keeps screenshots)
	@$(call test_tagged,browser,-parallel 4)
	@if [ "$$ASSAY_TESTS" = nightly ]; then $(go_test) -tags s3,browser -run '^TestDeployed_Console' $(TESTFLAGS) ./functions; fi

.PHONY: test-snippets
test-snippets: ## run every snippet of the catalogue of components, with curl, Python 3 and Go
	@for program in curl python3; do command -v $$program >/dev/null || { echo "Install $$program: snippets are run with it." >&2; exit 1; }; done
	@$(call test_tagged,snippets)

# Python 3 with venv and pip, which must reach its registry: data frames are those of pandas. It compiles everything twice.
.PHONY: test-release
test-release: ## install this build and its wheel, use both, and run the steps of release.yml without publishing
	@$(call test_tagged,release,-count=1 -timeout 30m)

# local/clients/README.md says what must be installed. The registries of Python, npm and Go must be reachable.
.PHONY: clients
clients: ## generate clients in Python, TypeScript and Go from the served document, run the same story with each, and run schemathesis
	@$(call test_tagged,clients,-count=1 -timeout 20m -v)

# DYNAMODB_LOCAL_JAR is the path of Amazon's DynamoDBLocal.jar, which needs Java; DYNAMODB_ENDPOINT the address of any server.
# The units of transactions are left out: DynamoDB Local counts them twice.
.PHONY: test-dynamodb-local
test-dynamodb-local: $(versitygw) ## run the tests over DynamoDB against Amazon's DynamoDB Local (DYNAMODB_LOCAL_JAR=... or DYNAMODB_ENDPOINT=...)
	@if [ -z "$$DYNAMODB_LOCAL_JAR$$DYNAMODB_ENDPOINT" ]; then \
		echo "Say which server: DYNAMODB_LOCAL_JAR=/path/of/DynamoDBLocal.jar or DYNAMODB_ENDPOINT=http://host:port" >&2; exit 1; \
	fi
	$(GO) test -count=1 -skip Capacity $(TESTFLAGS) ./shared/storage/store/dynamo/...
	$(GO) test -count=1 -tags s3 -run KeepsNothingOnTheMachine $(TESTFLAGS) ./local
	$(GO) test -count=1 -run Linearizable $(TESTFLAGS) ./functions ./shared/service/queue ./shared/service/team

# Later builds have to open it: local/testdata/stored/README.md.
.PHONY: stored
stored: $(node_modules) ## write the archive of a release, VERSION=1.2.3, which later builds open
	@if [ -z "$(VERSION)" ] || [ -e "local/testdata/stored/$(VERSION)" ]; then echo "Give a VERSION that is not kept yet." >&2; exit 1; fi
	$(GO) test -count=1 -run TestStored_IsKept ./local -stored testdata/stored/$(VERSION)

.PHONY: check
check: static race plain ## all that a change must pass, but for the tests of the targets test-*

.PHONY: static
static: format modules typescript lint generated protocol interface ## what check has without running tests

.PHONY: gate
gate: ## run what a change must pass where it lands, with the time of each part
	.ci/run

# What takes too long for each change, or does not depend on it: the long form of all tests, other platforms, real containers, the
# wheel, the snippets and known vulnerabilities. .github/workflows/nightly.yml runs the targets side by side.
.PHONY: nightly
nightly: export ASSAY_TESTS := nightly
nightly: vet vulnerabilities ## run what is not in the gate: the long form of all tests, and what the gate leaves out (hours)
	$(MAKE) test TESTFLAGS='-count=1 -timeout 60m'
	$(MAKE) race TESTFLAGS='-count=1 -timeout 90m'
	$(MAKE) test-s3 test-lambda test-browser TESTFLAGS='-count=1 -timeout 60m'
	$(MAKE) test-webhooks test-snippets test-release test-container
	$(MAKE) chaos attack soak

.PHONY: format
format: ## fail when a file is not in gofmt's form
	@unformatted=$$(find . -name '*.go' -not -path './.*' -not -path '*/node_modules/*' -exec gofmt -l {} +) || exit 1; \
	if [ -n "$$unformatted" ]; then \
		echo "Not in gofmt's form; run: gofmt -w" $$unformatted >&2; exit 1; \
	fi

# The types of the API are generated from the OpenAPI document that is served.
.PHONY: typescript
typescript: $(node_modules) ## fail when TypeScript has other types than the API, or is not in the form, or breaks a rule, of .biome.jsonc
	@$(biome) check --error-on-warnings || { echo "Run make fix-typescript, and correct by hand what it leaves." >&2; exit 1; }
	@cd functions/console && node node_modules/openapi-typescript/bin/cli.js --default-non-nullable=false <../service/openapi.json >src/api_types.ts
	@cd functions/console && node node_modules/typescript/bin/tsc --noEmit

.PHONY: fix-typescript
fix-typescript: $(node_modules) ## format TypeScript and JavaScript, and fix what Biome can
	$(biome) check --write --error-on-warnings

.PHONY: modules
modules: ## fail when go.mod or go.sum is not tidy
	$(GO) mod tidy -diff

# The linter runs go vet for this platform.
.PHONY: vet
vet: ## report what go vet finds on macOS and on Windows
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet -tags $(tags) ./functions/... ./grpc/... ./local/... ./shared/...
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) vet -tags $(tags) ./grpc/worker/... ./local ./local/cli

.PHONY: lint
lint: $(golangci_lint) ## report what the linters of .golangci.yml find
	$(golangci_lint) run --build-tags $(tags) $(PACKAGES)

# govulncheck needs the Go vulnerability database from the network. Where that cannot be
# reached the check says so and passes: what it cannot know must not stop work offline.
.PHONY: vulnerabilities
vulnerabilities: $(govulncheck) ## report known vulnerabilities that the code reaches
	@report=$$($(govulncheck) $(PACKAGES) 2>&1); status=$$?; \
	printf '%s\n' "$$report"; \
	case "$$status:$$report" in \
		0:*) ;; \
		*"govulncheck: fetching vulnerabilities:"*) \
			echo "NOT CHECKED for known vulnerabilities: the database cannot be reached from here." ;; \
		*) exit 1 ;; \
	esac

# The state of the tree before and after is compared, so that work in progress does not count.
.PHONY: generated
generated: $(node_modules) ## fail when go generate changes a file
	@state() { git diff --full-index HEAD | git hash-object --stdin; \
		git ls-files --others --exclude-standard | git hash-object --stdin-paths; }; \
	before=$$(state); \
	$(GO) generate $(PACKAGES) || exit 1; \
	if [ "$$before" != "$$(state)" ]; then \
		echo "Generated files were stale. They are fresh now; commit them:" >&2; git status --short >&2; exit 1; \
	fi

# The merge driver keeps one side of dist.zip instead of reporting a conflict. The command after each commit makes dist.zip from the sources.
ONTO ?= origin/main

.PHONY: rebase
rebase: $(node_modules) ## rebase this branch onto ONTO (origin/main), and bundle the console again in each commit
	git -c merge.generated.driver=true rebase --exec '$(GO) generate ./functions/console && git commit -q -a --amend --no-edit' $(ONTO)

# What has been released is kept as an image of it, which a release replaces: clients out there must go on working.
released := released.binpb

.PHONY: protocol
protocol: $(node_modules) ## fail when the gRPC protocol is in bad style, or breaks what was released
	cd grpc/proto && $(BUF) lint && $(BUF) breaking --against $(released)

.PHONY: release-protocol
release-protocol: $(node_modules) ## take the gRPC protocol as it is for released
	cd grpc/proto && $(BUF) build --exclude-source-info -o $(released)

# make generated fails unless the OpenAPI document describes the REST API. A release keeps a copy, with which later documents are compared.
document          := functions/service/openapi.json
released_document := functions/released.json

.PHONY: interface
interface: $(oasdiff) ## fail when the REST API breaks what was released
	@if [ ! -e $(released_document) ]; then \
		echo "NOT CHECKED against a released REST API: nothing was released yet. make release-interface takes it as it is."; exit 0; \
	fi; \
	$(oasdiff) breaking --fail-on ERR $(released_document) $(document)

.PHONY: release-interface
release-interface: ## take the REST API as it is for released
	cp $(document) $(released_document)

# shared/testing/architecture/race_test.go derives the list.
race_packages := $(shell cat shared/testing/architecture/testdata/race.golden)

# Outside macOS the race detector needs a C compiler; Go turns cgo off where it finds none. Tests of these packages that only send one
# request after the other are in files of the constraint !race, and run without the detector, which would show nothing more.
.PHONY: race
race: $(node_modules) ## run the tests of packages with concurrent code, with the race detector
	@if [ "$$($(GO) env CGO_ENABLED)$$($(GO) env GOOS)" = 0linux ]; then \
		echo "NOT CHECKED for data races: install a C compiler to have the race detector."; \
		$(go_test) $(TESTFLAGS) $(race_packages); \
	else \
		$(go_test) -race -shuffle=on $(TESTFLAGS) $(race_packages) && { $(call test_tagged,!race); }; \
	fi

.PHONY: plain
plain: $(node_modules) ## run the tests of all other packages, without the race detector
	@$(go_test) -shuffle=on $(TESTFLAGS) $$($(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | \
		grep -vxF "$$(printf 'assay%s\n' $(race_packages:.%=%))")

# make test makes a little chaos over the embedded store; this makes much of it.
.PHONY: chaos
chaos: $(node_modules) ## let workers, server and network fail at random over 500 runs, on each store
	ASSAY_TESTS=nightly ASSAY_CHAOS_RUNS=500 $(GO) test -count=1 -run Chaos -timeout 30m -v ./local

# It takes as long as it is given, on a machine that does nothing else. Linux; a slow disk needs strace.
SOAK ?= 20m

.PHONY: soak
soak: $(versitygw) ## serve a mixed load at 70 % of capacity for SOAK=20m while everything fails, and compare all that was acknowledged
	ASSAY_SOAK=$(SOAK) $(GO) test -tags soak -count=1 -run InASoak -timeout 3h -v ./local

# It floods for minutes, and judges by time too: the full form needs Linux. make test-attack sends every attack once.
.PHONY: attack
attack: ## attack the program under limits of memory and disk for seven minutes, on an idle machine (ASSAY_TEST_SEED=... repeats a run)
	ASSAY_ATTACK=full $(GO) test -tags attack -count=1 -run TestAttack -timeout 15m -v ./local/attack

.PHONY: bench
bench: $(node_modules) ## measure what the table of local/bench has (BENCH=suite or all, ARGS="-json now.json -against before.json -readme local/bench/README.md")
	@$(GO) run ./local/bench $(if $(BENCH),-bench $(BENCH)) $(ARGS)

.PHONY: bench-cold-start
bench-cold-start: $(node_modules) ## measure the time from start to first answer, and the size, of every function
	$(GO) test -run '^$$' -bench ColdStart -benchtime 30x ./functions

# Go would spend up to a minute on making one interesting input smaller, more than FUZZTIME in all.
.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (30s), one after the other
	@grep -rE '^func Fuzz[A-Za-z0-9_]*\(' --include='*_test.go' . \
	| sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9_]*).*|\1 \2|' | sort \
	| while read -r package target; do \
		echo "== $$package $$target for $(FUZZTIME)"; \
		$(GO) test "$$package" -run '^$$' -fuzz "^$$target\$$" -fuzztime '$(FUZZTIME)' -fuzzminimizetime 10x </dev/null || exit 1; \
	done

.PHONY: build
build: ## build the command line, the local server and the worker for this machine into bin
	$(go_build) -o bin/assay ./local/cli
	$(go_build) -o bin/assay-server ./local
	$(go_build) -o bin/assay-worker ./grpc/worker

PREFIX ?= $(HOME)/.local
# Packagers set DESTDIR to collect the files in a folder of their own.
destination := $(DESTDIR)$(PREFIX)/bin

.PHONY: install
install: ## build for this machine and put assay, assay-server and assay-worker into PREFIX/bin (~/.local/bin), with Go and make only
	@echo "Compiling Assay, which takes minutes the first time."
	@$(MAKE) --no-print-directory --silent build
	@mkdir -p "$(destination)" && install -m 755 bin/assay bin/assay-server bin/assay-worker "$(destination)"
	@echo "assay, assay-server and assay-worker are in $(destination)."
	@case ":$$PATH:" in *":$(destination):"*) ;; *) \
		echo "Your shell does not look for programs in that folder. This line tells it to:"; echo "export PATH=\"$(destination):\$$PATH\"";; esac

# The same sources and commit make the same bytes in any folder. Where there is no Git, COMMIT=... says what commit it is; the SBOM, which asks
# Git itself, then lacks it.
COMMIT  ?= $(shell git describe --always --dirty --abbrev=40 --exclude '*' 2>/dev/null)
version  = $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' shared/language/buildinfo/buildinfo.go)
go_build = CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '-s -w -buildid= -X assay/shared/language/buildinfo.commit=$(COMMIT)'

# PLATFORMS="linux/amd64 darwin/arm64" makes a release for these only, of which one must be for Linux, as images are. The tags of a wheel name
# its platform: a static program runs with every C library, from those versions on.
release   := bin/release
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
wheel_tags_linux/amd64   := manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64
wheel_tags_linux/arm64   := manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64
wheel_tags_darwin/amd64  := macosx_12_0_x86_64
wheel_tags_darwin/arm64  := macosx_12_0_arm64
wheel_tags_windows/amd64 := win_amd64
wheel_tags_windows/arm64 := win_arm64

# The processor architectures of images.
architectures := $(patsubst linux/%,%,$(filter linux/%,$(PLATFORMS)))

# make compares, because VERSION is the name of a tag, which a shell must not read.
.PHONY: release-version
release-version:
	@$(if $(filter-out $(version),$(VERSION)),echo "The sources are of version $(version): shared/language/buildinfo/buildinfo.go says so." >&2; exit 1,:)

# The section of CHANGELOG.md that says what the version brings, for the page of the release.
.PHONY: release-notes
release-notes: release-version
	@if ! grep -qE '^## \[$(version)\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$$' CHANGELOG.md; then \
		echo "CHANGELOG.md has no section of $(version) with a date: ## [$(version)] - YYYY-MM-DD" >&2; exit 1; \
	fi
	@awk '/^## / { found = index($$0, "## [$(version)]") == 1; next } found' CHANGELOG.md

.PHONY: release
release: release-version $(cyclonedx) containers ## build what a release has into bin/release: programs, images, wheels, SBOM and checksums (VERSION=1.2.3 is checked)
	rm -rf $(release) && mkdir -p $(release)/programs $(container)/data && cp LICENSE $(release)
	$(GO) build -o $(release)/programs/release ./local/release
	set -e; for platform in $(foreach p,$(PLATFORMS),$(p)/$(wheel_tags_$(p))); do \
		tags=$${platform##*/}; export GOOS=$${platform%%/*} GOARCH=$$(basename $${platform%/*}); exe=; [ $$GOOS != windows ] || exe=.exe; \
		$(go_build) -o $(release)/assay-$$GOOS-$$GOARCH$$exe ./local/cli; \
		$(go_build) -o $(release)/assay-server-$$GOOS-$$GOARCH$$exe ./local; \
		$(go_build) -o $(release)/assay-worker-$$GOOS-$$GOARCH$$exe ./grpc/worker; \
		$(release)/programs/release wheel py3-none-$$tags $(release)/assay-$$GOOS-$$GOARCH$$exe local/cli/python/assay_tasks.py \
			> $(release)/assay_tasks-$(version)-py3-none-$$tags.whl; \
	done
	$(release)/programs/release image assay-server local/Dockerfile $(architectures) > $(release)/assay-server-image.tar
	$(release)/programs/release image assay-grpc grpc/Dockerfile $(architectures) > $(release)/assay-grpc-image.tar
	GOOS=linux GOARCH=amd64 $(cyclonedx) mod -json -licenses -std -noserial -notimestamp -output $(release)/assay.cdx.json .
	rm -r $(release)/programs
	cd $(release) && $$(command -v sha256sum || echo shasum -a 256) * > SHA256SUMS

# Two clones, whose caches are their own too: nothing of the first build is in the second. It takes as long as compiling all of it 12 times.
.PHONY: release-check
release-check: ## build the release of the last commit twice, in two folders, and fail where a byte differs
	@set -e; folder=$$(mktemp -d); trap 'chmod -R u+w "$$folder"; rm -rf "$$folder"' EXIT; \
	git clone -q . "$$folder/first"; git clone -q "$$folder/first" "$$folder/the/second"; \
	for clone in first the/second; do \
		GOCACHE="$$folder/$$clone/.cache" $(MAKE) -C "$$folder/$$clone" release; \
	done; \
	cat "$$folder/first/$(release)/SHA256SUMS"; \
	diff -r "$$folder/first/$(release)" "$$folder/the/second/$(release)" && echo "Both builds have the same bytes."

functions := $(notdir $(patsubst %/lambda,%,$(wildcard functions/*/lambda)))

.PHONY: lambda
lambda: $(functions:%=bin/lambda/%/bootstrap) ## build the functions for AWS Lambda into bin/lambda

# The servers that functions ask, those of AWS and the issuer, speak HTTP/1.1 too, and HTTP/2 would be 0.3 MB of each function.
# No package has flags of the compiler of its own: what several instantiate of a generic function is linked once, and where it was compiled with and
# without inlining, its closures do not find what they capture.
# Lambda's processors of this architecture, Graviton2 and later, have the atomic instructions that lse names.
lambda_flags := -tags lambda.norpc,nethttpomithttp2

.PHONY: $(functions:%=bin/lambda/%/bootstrap)
$(functions:%=bin/lambda/%/bootstrap): bin/lambda/%/bootstrap:
	GOOS=linux GOARCH=arm64 GOARM64=v8.0,lse CGO_ENABLED=0 $(GO) build -trimpath $(lambda_flags) -ldflags '-s -w -buildid=' -o $@ ./functions/$*/lambda

# Of each processor architecture, the programs as they stand in images.
container := bin/container
programs  := $(foreach arch,$(architectures),$(container)/$(arch)/assay-server $(container)/$(arch)/assay-grpc)

.PHONY: containers
containers: $(programs) ## build the programs for container images into bin/container

.PHONY: $(programs)
$(container)/%/assay-server: main := ./local
$(container)/%/assay-grpc: main := ./grpc
$(programs):
	GOOS=linux GOARCH=$(notdir $(@D)) $(go_build) -o $@ $(main)

ARCH   ?= $(shell $(GO) env GOARCH)
ENGINE ?= $(shell for engine in docker podman buildah; do if $$engine info >/dev/null 2>&1; then echo $$engine; break; fi; done)

# The registry and folder that images are named for. A name without a registry would be one in Docker's library.
IMAGES ?= localhost

# Podman and Buildah leave HEALTHCHECK out, unless they are told to write Docker's format. Docker without BuildKit
# does not say what TARGETARCH is.
build_image = $(ENGINE) build --platform linux/$(ARCH) --build-arg TARGETARCH=$(ARCH) $(if $(filter %podman %buildah,$(ENGINE)),--format docker)

.PHONY: images
images: $(container)/$(ARCH)/assay-server $(container)/$(ARCH)/assay-grpc ## build the images assay-server and assay-grpc with docker, podman or buildah (ARCH=arm64, ENGINE="podman --remote", IMAGES=ghcr.io/lab)
	@if [ -z "$(ENGINE)" ]; then \
		echo "No docker, podman or buildah answers to \"info\": start one of them, or say how to call it with ENGINE=..." >&2; exit 1; \
	fi
	@mkdir -p $(container)/data
	$(build_image) -t $(IMAGES)/assay-server:$(version) -f local/Dockerfile .
	$(build_image) -t $(IMAGES)/assay-grpc:$(version) -f grpc/Dockerfile .

.PHONY: synth
synth: lambda $(node_modules) ## make the CloudFormation template of the deployment (STAGE=prod) in infra/cdk.out
	cd infra && npx cdk synth --quiet -c stage=$(or $(STAGE),dev)

.PHONY: clean
clean: ## remove what make built and installed, never the data of the local server
	rm -rf bin .tools $(node_modules:/.package-lock.json=) $(issuer:/.package-lock.json=) infra/cdk.out

.PHONY: tools
tools: $(golangci_lint) $(oasdiff) $(versitygw) $(node_modules) ## build and install the tools of the gate

# An empty GOFLAGS keeps flags that a caller has set for this module away from the tools.
$(golangci_lint):
	GOFLAGS= GOBIN="$(CURDIR)/$(@D)" $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(golangci_lint_version)

$(govulncheck):
	GOFLAGS= GOBIN="$(CURDIR)/$(@D)" $(GO) install golang.org/x/vuln/cmd/govulncheck@$(govulncheck_version)

# The SBOM names this program by its digest.
$(cyclonedx):
	GOFLAGS= CGO_ENABLED=0 GOBIN="$(CURDIR)/$(@D)" $(GO) install -trimpath github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@$(cyclonedx_version)

$(oasdiff):
	GOFLAGS= GOBIN="$(CURDIR)/$(@D)" $(GO) install github.com/oasdiff/oasdiff@$(oasdiff_version)

$(versitygw):
	GOFLAGS= GOBIN="$(CURDIR)/$(@D)" $(GO) install github.com/versity/versitygw/cmd/versitygw@$(versitygw_version)

# AWS builds its emulator for its SAM CLI, and ships it in the package of that; its Go module has no versions, and is not on every proxy.
$(lambda_rie):
	mkdir -p "$(@D)/package"
	echo "aws-sam-cli==$(sam_version) --hash=sha256:$(sam_digest)" > "$(@D)/package/requirements.txt"
	python3 -m pip --disable-pip-version-check download --quiet --no-deps --require-hashes -r "$(@D)/package/requirements.txt" -d "$(@D)/package"
	python3 -m zipfile -e "$(@D)"/package/*.whl "$(@D)/package"
	install "$(@D)/package/samcli/local/rapid/aws-lambda-rie-$(subst aarch64,arm64,$(shell uname -m))" "$@"
	rm -r "$(@D)/package"

# Buildah's list of versions is not on every proxy, without which go install does not install; so it is built where its source is.
$(buildah):
	mkdir -p "$(@D)/source"
	cp -r "$$(GOFLAGS= $(GO) mod download -json github.com/containers/buildah@$(buildah_version) | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/." "$(@D)/source"
	chmod -R u+w "$(@D)/source"
	rm -rf "$(@D)/source/vendor"
	cd "$(@D)/source" && GOFLAGS=-mod=mod CGO_ENABLED=1 $(GO) build -tags 'exclude_graphdriver_btrfs containers_image_openpgp netgo osusergo' \
		-ldflags '-extldflags "-static" -s -w' -o "$(CURDIR)/$@" ./cmd/buildah
	rm -rf "$(@D)/source"

$(node_modules) $(issuer): %/node_modules/.package-lock.json: %/package-lock.json
	cd $* && npm ci --no-audit --no-fund
	@touch $@
