# An image that serves Shoal on port 8000, with its documentation. Everything that must be kept lies in /data.
#   docker build -t shoal .
#   docker run -p 127.0.0.1:8000:8000 -v shoal:/data shoal serve --host 0.0.0.0 --hosts localhost
FROM python:3.12-slim AS build
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN make wheel PYTHON=python3

FROM python:3.12-slim
COPY --from=build /source/constraints.txt /source/dist/*.whl /tmp/
RUN pip install --no-cache-dir --constraint /tmp/constraints.txt /tmp/*.whl "psycopg[binary]" && rm /tmp/*.whl \
    && useradd --create-home --uid 1000 shoal && install --directory --owner shoal --mode 700 /data
USER 1000
ENV SHOAL_STATE=/data/state SHOAL_CACHE=/data/cache NUMBA_CACHE_DIR=/data/cache/numba
VOLUME /data
EXPOSE 8000
HEALTHCHECK --start-period=5m CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz')"]
ENTRYPOINT ["shoal"]
CMD ["serve", "--host", "0.0.0.0", "--hosts", "localhost"]
