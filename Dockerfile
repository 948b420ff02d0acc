# A small image with the command, the library and the Python module. Its steps are scripts of this repository.
#   docker build -t millrace . && docker run --rm millrace millrace board
FROM debian:12 AS build
COPY . /millrace
RUN apt-get update && /millrace/scripts/deb

FROM debian:12-slim
COPY --from=build /millrace/build/deb/*.deb /packages/
RUN apt-get update && apt-get install -y --no-install-recommends /packages/millrace_*.deb \
      /packages/libmillrace1_*.deb /packages/python3-millrace_*.deb && \
    rm -rf /packages /var/lib/apt/lists/*
CMD ["millrace", "--help"]
