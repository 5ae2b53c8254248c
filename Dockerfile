# An image that runs logtool: docker build -t logtool . && docker run --rm -v "$PWD:/logs" logtool replay chat.eventlog
FROM swift:6.1-bookworm AS build
RUN apt-get update -q \
    && apt-get install -y -q --no-install-recommends binutils git liblmdb-dev libsqlite3-dev libssl-dev libyaml-dev pkg-config
COPY . /source
RUN /source/scripts/install --prefix /installed

FROM debian:bookworm-slim
RUN apt-get update -q \
    && apt-get install -y -q --no-install-recommends ca-certificates liblmdb0 libpcre2-8-0 libsqlite3-0 libssl3 libyaml-0-2 zlib1g \
    && rm -rf /var/lib/apt/lists/*
# `ingest git` reads objects with git's own program. Debian's package brings Perl with it, which no command here needs.
COPY --from=build /usr/bin/git /usr/bin/git
COPY --from=build /installed /usr/local
RUN useradd --create-home --uid 1000 logtool && mkdir /logs && chown logtool: /logs
USER logtool
WORKDIR /logs
ENTRYPOINT ["logtool"]
CMD ["help"]
