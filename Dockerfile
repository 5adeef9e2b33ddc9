# anteroom in a small image: one program, nobody's root.
#
#   docker build -t anteroom .
#   docker run -p 8080:8080 -v "$PWD/anteroom.toml:/etc/anteroom/anteroom.toml:ro" -v anteroom:/var/lib/anteroom anteroom

FROM rust:1-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends cmake g++ make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Cargo.toml Cargo.lock ./
COPY src src
COPY lua lua
COPY templates templates
# Named in Cargo.toml, and so looked for.
COPY benches benches
COPY tests/main.rs tests/main.rs
RUN cargo build --release --locked --bin anteroom && strip target/release/anteroom

FROM debian:bookworm-slim
# Whom rediss:// and origins with TLS are trusted by.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --home-dir /var/lib/anteroom --no-create-home --shell /usr/sbin/nologin anteroom \
    && install -d -o anteroom -g anteroom -m 0700 /var/lib/anteroom
COPY --from=build /src/target/release/anteroom /usr/local/bin/anteroom
USER anteroom
# The embedded store, where it is used, is a file here.
WORKDIR /var/lib/anteroom
VOLUME /var/lib/anteroom
EXPOSE 8080
# Says 200 while rooms queue and while the store is away: a node that answers is worth having.
HEALTHCHECK --interval=5s --timeout=2s --start-period=5s CMD ["bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/8080 && printf 'GET /.anteroom/health HTTP/1.0\\r\\n\\r\\n' >&3 && head -n 1 <&3 | grep -q ' 200 '"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["anteroom"]
CMD ["serve", "-c", "/etc/anteroom/anteroom.toml"]
