# What one does with patchwave in a fresh checkout. `make help` lists it.

.DEFAULT_GOAL := help
.PHONY: help demo test lint docs

CARGO ?= cargo

# The adapter that `make test` runs on. Reference images belong to Mesa's lavapipe (which calls its adapter llvmpipe);
# `make test PATCHWAVE_ADAPTER=NAME` runs on another.
TEST_ADAPTER = $(or $(PATCHWAVE_ADAPTER),llvmpipe)

# What is tested beside the default features.
TESTED = --features view

# Mesa's device selection layer asks for a Wayland display and complains on stderr where there is none.
export NODEVICE_SELECT = 1

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST)

demo: ## build the program and render the teapot to out/teapot.png
	@scripts/need-toolchain
	$(CARGO) build --release --locked
	@ALLOW_OPENGL=1 scripts/need-adapter $(CARGO) run --release --locked --quiet --
	$(CARGO) run --release --locked --quiet -- render teapot -o out/teapot.png

test: ## install what the tests need, then run all of them
	@scripts/need-toolchain
	$(CARGO) build --locked $(TESTED)
	@PATCHWAVE_ADAPTER=$(TEST_ADAPTER) scripts/need-adapter $(CARGO) run --locked $(TESTED) --quiet --
	@scripts/need-tint
	@scripts/need-glslang
	@scripts/need-xvfb
	PATCHWAVE_ADAPTER=$(TEST_ADAPTER) $(CARGO) test --locked $(TESTED)

lint: ## formatting and clippy, warnings denied, with and without the program's dependencies
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --all-targets $(TESTED) -- -D warnings
	$(CARGO) clippy --locked -- -D warnings
	$(CARGO) clippy --locked --no-default-features -- -D warnings

docs: ## the documentation, warnings denied, in target/doc
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps --lib
