# Two commands do everything: `make run` and `make test`. `make help` lists the others.
#
# Sources are compared with stamps under target/stamps, so that an unchanged tree starts without asking cargo or
# Trunk. A stamp is dated at the start of its build and put in place at the end: an interrupted build leaves none,
# and a file edited meanwhile is newer than it.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
# cargo is parallel in itself, and two of them would wait for each other.
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules

# Each tool is pinned in one place: Trunk in its own file, wasm-bindgen by the library of exactly the same version,
# cargo-fuzz here.
TRUNK_VERSION := $(shell sed -n 's/^trunk-version = "=\(.*\)"/\1/p' Trunk.toml 2>/dev/null)
WASM_BINDGEN_VERSION := $(shell sed -n 's/^wasm-bindgen = "=\(.*\)"/\1/p' Cargo.toml)
TRUNK := .tools/trunk-$(TRUNK_VERSION)
WASM_BINDGEN := .tools/wasm-bindgen-cli-$(WASM_BINDGEN_VERSION)
CARGO_FUZZ_VERSION := 0.13.2
CARGO_FUZZ := .tools/cargo-fuzz-$(CARGO_FUZZ_VERSION)

# ~/.cargo/bin: rustup puts itself on PATH only for the next login.
export PATH := $(CURDIR)/.tools/bin:$(HOME)/.cargo/bin:$(PATH)
CARGO := cargo --locked
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
STAMPS := $(TARGET_DIR)/stamps
SERVER := $(TARGET_DIR)/release/brakecheck
WASM := wasm32-unknown-unknown

# Directories are listed too: they change when a file is removed.
WORKSPACE := Cargo.toml Cargo.lock rust-toolchain.toml
PAGE_SOURCES := $(WORKSPACE) $(shell find Trunk.toml index.html style public \
	$(foreach c,app lab protocol,$c/Cargo.toml $c/src) 2>/dev/null)
SERVER_SOURCES := $(WORKSPACE) $(shell find server/build.rs server/placeholder \
	$(foreach c,server engine power lab protocol,$c/Cargo.toml $c/src) 2>/dev/null)

say = printf '\033[1m== %s\033[0m\n'

.PHONY: help run build page test check e2e kill kiosk screenshots perf planted viewers hostile fuzz simulate test-tools clean FORCE

help: ## list the commands
	@sed -n 's/^\([a-z0-9]*\):.*## /\1 /p' $(MAKEFILE_LIST) | while read -r name what; do printf 'make %-12s %s\n' "$$name" "$$what"; done

run: build ## build what changed, start Brakecheck and open the page; ARGS="--port 8080" passes options on
	@$(say) 'Brakecheck starts; Ctrl-C ends it'
	exec $(SERVER) serve $(if $(DISPLAY)$(WAYLAND_DISPLAY),--open) $(ARGS)

build: $(STAMPS)/server ## build the program with the page inside: target/release/brakecheck

page: $(STAMPS)/page ## build the page only, into app/dist

$(STAMPS)/server: $(STAMPS)/page $(SERVER_SOURCES) $(if $(wildcard $(SERVER)),,FORCE)
	@$(call begin,$@)
	$(rust_ready)
	$(say) 'building the server (release; a few minutes the first time)'
	$(CARGO) build --release -p server
	$(call end,$@)

$(STAMPS)/page: $(PAGE_SOURCES) $(if $(wildcard app/dist/index.html),,FORCE) | $(TRUNK) $(WASM_BINDGEN)
	@$(call begin,$@)
	$(wasm_ready)
	$(say) 'building the page (WebAssembly; a few minutes the first time)'
	# Trunk takes NO_COLOR=1 for a value of its own option and stops.
	env -u NO_COLOR trunk build
	$(call end,$@)

$(TRUNK): ; @$(call install,trunk,$(TRUNK_VERSION))
$(CARGO_FUZZ): ; @$(call install,cargo-fuzz,$(CARGO_FUZZ_VERSION))
$(WASM_BINDGEN): ; @$(call install,wasm-bindgen-cli,$(WASM_BINDGEN_VERSION))

test: test-tools check page ## run all tests: format, lints, units, real filesystems, real browser
	@$(say) 'building the tests'
	$(CARGO) test --workspace --no-run
	$(say) 'running the tests'
	$(CARGO) test --workspace --no-fail-fast
	$(say) 'all tests passed'

test-tools:
	@tests/setup

check: ## format and lints only, natively and for WebAssembly
	@$(wasm_ready)
	$(say) 'checking the format'
	cargo fmt --all --check
	$(say) 'linting'
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(say) 'linting what runs in the browser'
	$(CARGO) clippy -p protocol -p lab -p app --target $(WASM) -- -D warnings

e2e: test-tools page ## run the end-to-end tests only; ARGS="name" picks some
	@$(CARGO) build -p server
	$(CARGO) test -p tests -- $(ARGS)

kill: build ## kill each process 500 times while it changes settings, 20 times while it experiments, and see them go back; a quarter of an hour
	@BRAKECHECK_BIN=$(abspath $(SERVER)) BRAKECHECK_KILL_ROUNDS=$(or $(ROUNDS),500) $(CARGO) test -p tests --test kill
	BRAKECHECK_BIN=$(abspath $(SERVER)) BRAKECHECK_KILL_ROUNDS=$(or $(ROUNDS),20) $(CARGO) test -p tests --test experiment kills -- --nocapture

kiosk: test-tools build ## watch a kiosk screen through 10 restarts and 10 cuts of the network, two hours; MINUTES=10 for less
	@BRAKECHECK_BIN=$(abspath $(SERVER)) BRAKECHECK_KIOSK_MINUTES=$(or $(MINUTES),120) $(CARGO) test -p tests --test kiosk long -- --nocapture

screenshots: test-tools build ## take the pictures in docs/ anew
	@BRAKECHECK_BIN=$(abspath $(SERVER)) BRAKECHECK_SCREENSHOTS=$(CURDIR)/docs $(CARGO) test -p tests --test browser

perf: test-tools build ## compare with fio on this machine, about five minutes; ARGS="--short" for one
	@BRAKECHECK_BIN=$(abspath $(SERVER)) $(CARGO) run -q -p tests --bin perf -- $(ARGS)

simulate: ## run the statistics against known truth, about a minute; ARGS="200" for fewer experiments
	@$(rust_ready)
	$(CARGO) run -q --release -p lab --example simulate -- $(ARGS)

hostile: build ## 10,000 hostile requests at both listeners during runs, some minutes; REQUESTS=2000 for less
	@BRAKECHECK_BIN=$(abspath $(SERVER)) BRAKECHECK_HOSTILE=$(or $(REQUESTS),10000) $(CARGO) test -p tests --test hostile -- --nocapture --test-threads 1

fuzz: $(CARGO_FUZZ) ## arbitrary bytes at whatever reads what others wrote, with AddressSanitizer, a minute for each; TIME=600 for more
	@cd fuzz
	# The sanitizer is an option of nightly Rust, and its library comes with the stable one too.
	export RUSTC_BOOTSTRAP=1 LSAN_OPTIONS=suppressions=$$PWD/known-leaks.txt:print_suppressions=0
	for target in targets/*.rs; do name=$$(basename "$$target" .rs); mkdir -p "corpus/$$name"
	cargo fuzz run --fuzz-dir . "$$name" "corpus/$$name" "seeds/$$name" -- -max_total_time=$(or $(TIME),60); done

viewers: build ## measure with 200 viewers and without, and with 1,000 that never read, some minutes; ARGS="--rounds 3" for less
	@BRAKECHECK_BIN=$(abspath $(SERVER)) $(CARGO) run -q -p tests --bin viewers -- $(ARGS)

planted: build ## plant costs of 10 and 5 % on a recorded machine and find them, half an hour; ARGS="--rounds 1 10" for less, ARGS=check for a timed check
	@BRAKECHECK_BIN=$(abspath $(SERVER)) $(CARGO) run -q -p tests --bin planted -- $(ARGS)

vm: build ## try every knob on the kernels of the virtual test bed; ARGS="--machine 6.12 cpu.governor" picks some, ARGS=planted experiments
	@BRAKECHECK_BIN=$(abspath $(SERVER)) $(CARGO) run -q -p tests --bin vm -- $(ARGS)

clean: ## remove everything that was built, except the tools in .tools
	rm -rf $(TARGET_DIR) app/dist

begin = mkdir -p $(dir $1) && touch $1.begun
end = mv $1.begun $1

# What is missing, and how to get it.
define rust_ready
command -v cc >/dev/null || { echo 'No C compiler here. Install one: apt-get install gcc libc6-dev' >&2; exit 1; }
command -v cargo >/dev/null || { echo 'No Rust here. Install it: https://rustup.rs' >&2; exit 1; }
# rustup reads the pinned version from rust-toolchain.toml.
rustc --version >/dev/null 2>&1 || rustup toolchain install
endef

define wasm_ready
$(rust_ready)
if [[ ! -d "$$(rustc --print sysroot)/lib/rustlib/$(WASM)" ]]; then
	command -v rustup >/dev/null || { echo 'This Rust has no $(WASM) target and no rustup to add it. Install rustup: https://rustup.rs' >&2; exit 1; }
	$(say) 'adding the $(WASM) target'
	rustup target add $(WASM)
fi
endef

# Not optimised: they run for a second, and optimising them takes ten minutes. A target directory of their own lets
# an interrupted build go on where it stopped.
define install
$(rust_ready)
$(say) 'building $1 $2 into .tools (a few minutes, once)'
export CARGO_PROFILE_RELEASE_{OPT_LEVEL=0,LTO=off,CODEGEN_UNITS=16,STRIP=true}
cargo install --locked --no-default-features --root .tools --target-dir .tools/build $1 --version $2
rm -rf .tools/build
touch $@
endef
