# An image that runs logtool: docker build -t logtool . && docker run --rm -v "$PWD:/logs" logtool replay chat.eventlog
FROM swift:6.1-bookworm AS build
RUN apt-get update -q \
    && apt-get install -y -q --no-install-recommends \
    binutils git liblmdb-dev libsqlite3-dev libssl-dev libyaml-dev libzstd-dev pkg-config zlib1g-dev
COPY . /source
RUN /source/scripts/install --prefix /installed
# The shared libraries of logtool and git that the next stage lacks, below the folder of this architecture. `ingest git`
# reads objects with git's own program; Debian's package brings Perl with it, which no command here needs.
RUN mkdir -p /image/usr/bin /image/logs && cp /usr/bin/git /image/usr/bin/ \
    && for name in liblmdb.so.0 libpcre2-8.so.0 libsqlite3.so.0 libyaml-0.so.2 libz.so.1 libzstd.so.1; do \
    path=$(ldconfig -p | sed -n "s|.*$name .* => ||p" | head -n 1); \
    folder=/image/usr/lib/$(basename "$(dirname "$path")"); \
    mkdir -p "$folder" && cp "$path" "$folder/" || exit 1; \
    done

# Debian 12 with glibc, libgcc, libssl and certificates; no shell and no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /image/usr /usr
COPY --from=build /installed /usr/local
COPY --from=build --chown=nonroot:nonroot /image/logs /logs
WORKDIR /logs
ENTRYPOINT ["/usr/local/bin/logtool"]
CMD ["help"]
