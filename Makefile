# The commands people type. `make` alone explains them.

.DEFAULT_GOAL := help
.PHONY: help run check test build lint simulate count bench faults soak upgrade isolation urgent waiting later pace fuzz sanitize examples brokers images manual install \
        clean swift packages-build packages-run packages-test packages-examples packages-brokers packages-images python

# KEEP=1 leaves the demo's broker, simulator and workers running. DEMO=... passes options to `martlet demo`.
KEEP ?=
DEMO ?=
FUZZ ?=
BENCH ?=
M ?=
F ?=
SEED ?=
SECONDS ?=
MUTANT ?=
SANITIZE ?= address thread
TESTS ?=
EARLIER ?=
BROKERS ?=
JOBS ?= 1000000
MINUTES ?= 30
WAITING ?= 500000
PREFIX ?= /usr/local
DESTDIR ?=
# Such as --static-swift-stdlib, for machines without a toolchain.
SWIFT_FLAGS ?=
IMAGES ?=
export KEEP

help:
	@echo 'make run     build in release mode and watch the demo: a broker, a local APNs, two workers, 20,000 jobs'
	@echo '             (KEEP=1 leaves everything running afterwards)'
	@echo 'make check M=PushModel  build and test one module and what it needs, in seconds once that is built'
	@echo 'make test    run every test, against a private RabbitMQ too'
	@echo 'make build   build .build/release/martlet'
	@echo 'make lint    check format and house rules'
	@echo 'make simulate  run whole systems in memory, under seeds, and see that they keep every promise; SEED=... for one,'
	@echo '             SECONDS=600 for longer; MUTANT=all plants a dozen defects, one by one, and sees that each is found'
	@echo 'make count   count the instructions of a worker per notification, part by part, and fail where they rose'
	@echo 'make bench   measure CPU, throughput, memory and system calls against the same work in C, then lanes, many'
	@echo '             routes, and the memory of busy ones; BENCH="--parts cost --rounds 2" for less of it'
	@echo 'make faults  break the broker, the network and the workers in every way, and see that nothing is lost;'
	@echo '             F=11 or F=4,11 for some; F=random SEED=... SECONDS=600 for what chance chooses'
	@echo 'make soak    an hour under load with a fault a minute: fails where anything grows or ledgers do not balance;'
	@echo '             SECONDS=600 for less of it; slopes are judged from 1800 on'
	@echo 'make isolation  fails where a route loses its latency beside a dead one, or the dead one does not rest'
	@echo 'make urgent  fails where high jobs lose their latency beside 500,000 normal ones of their route; WAITING=20000 for less'
	@echo 'make upgrade EARLIER=path/to/martlet: fails where a fleet loses a job on its way from that version to this one'
	@echo 'make waiting let a million jobs wait for APNs: fails where one does not, or is not accepted once in the end, or RSS'
	@echo '             passes 64 MiB; JOBS=100000 MINUTES=3 for less of it'
	@echo 'make later   fails where a million jobs that are due at one moment do not leave at their rate, or one is early;'
	@echo '             JOBS=100000 for less of it'
	@echo 'make pace    fails where ten workers that are held to a rate together do not send at it, or send faster'
	@echo 'make fuzz    look for input that breaks a parser; FUZZ="600 job" for how long and which'
	@echo 'make sanitize  run every test under the address sanitizer, then under the thread sanitizer; SANITIZE=address'
	@echo '             for one of them, TESTS=... for some tests'
	@echo 'make examples  run the producers and consumers of config/examples, in every language'
	@echo 'make brokers  run the tests that need a broker on the RabbitMQ of this machine and of newer suites of Debian'
	@echo '             (root only); BROKERS="--suites trixie" for one of them'
	@echo 'make images  build the image of docker/ without a daemon, and see that it and the files beside it work (root only)'
	@echo 'make install install martlet with completions, manual pages and the unit of systemd: PREFIX=/usr/local DESTDIR='
	@echo 'make clean   remove what was built'

run: packages-run build
	.build/release/martlet demo $(DEMO)

test: swift packages-test python
	@.ci/test

# In a build folder of its own, so that neither build undoes the other's.
check: swift python
	@test -n "$(M)" || { echo 'Which module? Such as: make check M=PushModel' >&2; exit 64; }
	MARTLET_ONLY="$(M)" swift test --scratch-path .build/check --no-parallel

build: swift packages-build
	swift build -c release --product martlet $(SWIFT_FLAGS)

lint: swift
	.ci/lint

# Optimized, and with what its tests may see. In a build folder of its own, as the settings differ.
simulate: swift packages-build
ifneq ($(MUTANT),)
	Tests/Simulate/mutants $(filter-out all,$(MUTANT))
else
	swift build -c release -Xswiftc -enable-testing --scratch-path .build/simulate --product simulate
	.build/simulate/release/simulate $(if $(SEED),--trace $(SEED),--seconds $(or $(SECONDS),60) --kept Tests/Simulate/seeds.txt)
endif

count: packages-test
	Tests/Benchmark/count

bench: packages-test build
	Tests/Benchmark/run $(BENCH)

faults: swift packages-test python
	Tests/FaultTests/run --faults "$(or $(F),all)" --seed "$(SEED)" --seconds "$(SECONDS)"
soak: packages-test build
	Tests/Benchmark/soak --seconds $(or $(SECONDS),3600)

upgrade: packages-test build
	Tests/Benchmark/upgrade --earlier "$(EARLIER)"

isolation: packages-test build
	Tests/Benchmark/isolation

urgent: packages-test build
	Tests/Benchmark/high --waiting $(WAITING)

waiting: packages-test build
	Tests/Benchmark/waiting --jobs $(JOBS) --minutes $(MINUTES)

later: packages-test build
	Tests/Benchmark/later --jobs $(JOBS)

pace: packages-test build
	Tests/Benchmark/pace

fuzz: swift packages-build
	Tests/Fuzz/run $(FUZZ)

sanitize: swift packages-test python
	status=0; for kind in $(SANITIZE); do Tests/Sanitize/run $$kind $(foreach one,$(TESTS),'$(one)') || status=1; done; exit $$status

examples: swift packages-examples
	MARTLET_EXAMPLES=1 .ci/test --filter ExamplesTests

brokers: swift packages-test packages-brokers python
	Tests/Brokers/run $(BROKERS)

images: swift packages-test packages-images build manual
	@.ci/python images
	Tests/Images/run $(IMAGES)

# One page for each command, such as martlet.worker(1). The tool comes with the parser of command lines. It builds all
# targets, and those for fuzzing need modules that are built for tests, as all are in a debug build.
manual: swift packages-build
	swift package --disable-sandbox generate-manual --configuration debug --multi-page \
	    --date "$$(git log -1 --format=%cs 2>/dev/null || date +%F)"

# Nothing is built or made anew by root: `make build manual` first, then `sudo make install`.
install: martlet = .build/release/martlet
install: share = $(DESTDIR)$(PREFIX)/share
install: | $(if $(wildcard .build/release/martlet),,build) $(if $(wildcard .build/plugins/GenerateManual/outputs/martlet/*.1),,manual)
	install -D -m 755 $(martlet) "$(DESTDIR)$(PREFIX)/bin/martlet"
	install -d "$(share)/bash-completion/completions" "$(share)/zsh/site-functions" "$(share)/fish/vendor_completions.d"
	$(martlet) --generate-completion-script bash >"$(share)/bash-completion/completions/martlet"
	$(martlet) --generate-completion-script zsh >"$(share)/zsh/site-functions/_martlet"
	$(martlet) --generate-completion-script fish >"$(share)/fish/vendor_completions.d/martlet.fish"
	install -d "$(share)/man/man1"
	install -m 644 .build/plugins/GenerateManual/outputs/martlet/*.1 "$(share)/man/man1"
	@# The help does not show this command.
	rm "$(share)/man/man1/martlet.bench-sending.1"
	install -D -m 644 -t "$(share)/martlet" config/martlet.yaml
	install -D -m 644 -t "$(share)/martlet/prometheus" config/prometheus/*
	install -D -m 644 -t "$(share)/martlet/grafana" config/grafana/*
	install -D -m 644 -t "$(share)/martlet/scenarios" config/scenarios/*
	install -d "$(DESTDIR)$(PREFIX)/lib/systemd/system"
	sed 's|/usr/local|$(PREFIX)|' 'config/systemd/martlet@.service' >"$(DESTDIR)$(PREFIX)/lib/systemd/system/martlet@.service"

clean: swift
	swift package clean

swift:
	@command -v swift >/dev/null || { \
	    echo 'Martlet needs a Swift 6.2 toolchain or newer: https://www.swift.org/install/linux/' >&2; exit 1; }

packages-build:
	@.ci/packages build

packages-run:
	@.ci/packages build run

packages-test:
	@.ci/packages build run test

packages-examples:
	@.ci/packages build run test examples

packages-brokers:
	@.ci/packages brokers

packages-images:
	@.ci/packages images

# After the Debian packages, which bring Python.
python: packages-test
	@.ci/python
